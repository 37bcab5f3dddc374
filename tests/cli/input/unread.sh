# Wrong options are reported without waiting for a pipe to end.
mkfifo fifo
exec 3<>fifo
refused() {
  timeout 600 "$@" --schema "$SCHEMAS/entity.yaml"
  echo "exit $?"
}
refused recsort --key nothing <&3
refused recsort --key nothing fifo
# Also if the error is found late; the rest of the input is then not read.
strace -f -e trace=none true 2>/dev/null || { echo "strace cannot trace here"; exit 77; }
export ASAN_OPTIONS=detect_leaks=0 # leak detection does not work under a tracer
export RECSORT_PLUGIN_PATH="$PWD"
entities make 1000 >in
refused strace -qq -f -o trace -e trace=getdents64 -e inject=getdents64:delay_enter=300000 \
  recsort --plugin nothing fifo 2>&1 | cut -c 1-26
refused strace -qq -f -o trace -e trace=openat,clone3 -e inject=clone3:error=EAGAIN \
  recsort --key nothing --threads 1 in
grep '"in"' trace || echo "not read"
