# Only plugins that are needed are loaded; recgen and reccat load none.
strace -f -e trace=none true 2>/dev/null || { echo "strace cannot trace here"; exit 77; }
export ASAN_OPTIONS=detect_leaks=0 # leak detection does not work under a tracer
mkdir plugins
echo 'no library' >plugins/librecsort_planted.so
export RECSORT_PLUGIN_PATH=$PWD/plugins
entities of 1 2 >in
entities make 12287 >few
entities make 12288 >many
loads() {
  strace -f -qq -o trace -e trace=openat "$@" >out 2>err
  echo "$(grep -c librecsort_planted trace) $1 $4 $5"
}
loads recsort -s "$SCHEMAS/entity.yaml" --plugin=cpu many
loads recsort -s "$SCHEMAS/entity.yaml" --plugin=auto few
loads recsort -s "$SCHEMAS/entity.yaml" --plugin=auto <in
loads recsort -s "$SCHEMAS/entity.yaml" --plugin=auto many
cat err # a plugin that cannot be used is not reported unless it was named
loads recsort -s "$SCHEMAS/entity.yaml" --plugin=auto --stats many
sed -n 's/.*\("planted" cannot be used here\).*/\1/p' err
loads recsort -s "$SCHEMAS/entity.yaml" --plugin=planted in
sed -n 's/.*\("planted" cannot be used here\).*/\1/p' err
loads recsort -s "$SCHEMAS/entity.yaml" --check many
loads recsort -s "$SCHEMAS/entity.yaml" --merge many
loads recsort -s "$SCHEMAS/entity.yaml" --explain few
loads recsort -s "$SCHEMAS/entity.yaml" --explain many
loads recsort -s "$SCHEMAS/entity.yaml" --explain
loads recgen -s "$SCHEMAS/entity.yaml" --count=3
loads reccat -s "$SCHEMAS/entity.yaml" --head=1 in
cp plugins/librecsort_planted.so . # the current folder is not searched
RECSORT_PLUGIN_PATH= loads recsort -s "$SCHEMAS/entity.yaml" --plugin=auto many
