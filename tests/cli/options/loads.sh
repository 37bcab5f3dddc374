# Who loads plugins: whatever makes a sorter, also for another one's sake; recgen and reccat do not.
strace -f -e trace=none true 2>/dev/null || { echo "strace cannot trace here"; exit 77; }
export ASAN_OPTIONS=detect_leaks=0 # the search for leaks cannot work under a tracer
mkdir plugins
echo 'no library' >plugins/librecsort_planted.so
export RECSORT_PLUGIN_PATH=$PWD/plugins
entities of 1 2 >in
loads() {
  strace -f -qq -o trace -e trace=openat "$@" >out 2>err
  echo "$(grep -c librecsort_planted trace) $1 $4"
}
loads recsort -s "$SCHEMAS/entity.yaml" --plugin=cpu in
loads recsort -s "$SCHEMAS/entity.yaml" --check in
loads recgen -s "$SCHEMAS/entity.yaml" --count=3
loads reccat -s "$SCHEMAS/entity.yaml" --head=1 in
cp plugins/librecsort_planted.so . # the current folder is not searched
RECSORT_PLUGIN_PATH= loads recsort -s "$SCHEMAS/entity.yaml" --plugin=auto in
