# What a file says about its records stays true when their number changes: counts, lengths, offsets
# of what follows, padding. Python writes each format as its own programs do, with the rows that
# the output should have. Rows have ties, and tags that tell them apart.
names=$(file-formats make)
same() { file-formats same "$@"; }
quietly() { # COMMAND...: without the line that says that trailers are dropped
  "$@" 2>errors
  status=$?
  grep -v 'are dropped: the output gets those of the first input$' errors
  return $status
}
mkfifo fifo
for n in $names; do
  s="-s $n.yaml"
  recsort $s $n.1 -o out && same $n 9999 no out 1
  cat $n.1 | recsort $s | cat >out && same $n 9999 no out 1
  recsort $s <$n.1 | cat >out && same $n 9999 no out 1
  (head -c 7 $n.1; sleep 0.01; tail -c +8 $n.1) | recsort $s --head 5 -o out && same $n 5 no out 1
  recsort $s $n.1 --head 5 | cat >out && same $n 5 no out 1
  recsort $s $n.1 --head 0 -o out && same $n 0 no out 1
  recsort $s $n.2 --unique -o out && same $n 9999 yes out 2
  cat $n.2 | recsort $s --unique --head 40 >out && same $n 40 yes out 2
  recsort $s --threads 4 $n.2 --head 1000 -o out && same $n 1000 no out 2
  cp $n.2 copy && recsort $s copy -o copy && same $n 9999 no copy 2
  [ $n != fits ] || continue # its heaps: see below
  quietly recsort $s $n.1 $n.2 $n.3 -o out && same $n 9999 no out 1 2 3
  none=0 # of an empty file, these cannot tell which places are used, or what is behind no records
  case $n in las | wav | footer) none=3 ;; esac
  quietly recsort $s $n.$none $n.2 | cat >out && same $n 9999 no out $none 2
  cat $n.1 | quietly recsort $s $n.3 - -o out && same $n 9999 no out 3 1
  recsort $s $n.1 -o s1 && recsort $s $n.2 -o s2 && recsort $s $n.$none -o s0
  recsort $s --check s1 && cat s2 | recsort $s --check || echo "exit $?"
  quietly recsort $s --merge s1 s2 s0 -o out && same $n 9999 no out 1 2 $none
  quietly recsort $s --merge s0 s2 s1 | cat >out && same $n 9999 no out $none 2 1
  quietly recsort $s --merge --head 50 s2 s1 >out && same $n 50 no out 2 1
  [ $n = footer ] && continue # of a pipe, its count comes last
  cat s1 | quietly recsort $s --merge - s2 -o out && same $n 9999 no out 1 2
  timeout 5 sh -c 'cat s1 >fifo' &
  cat s2 | quietly recsort $s --merge - fifo --head 100 >out && same $n 100 no out 2 1
  wait
done
echo "sorted and merged"
for n in $names; do
  recsort -s $n.yaml --index=32 $n.2 | wc -c | tr '\n' ' '
  cat $n.2 | reccat -s $n.yaml -f csv | wc -l
  recgen -s $n.yaml -n 300 -o made && recsort -s $n.yaml made -o made && recsort -s $n.yaml --check made &&
    [ "$(reccat -s $n.yaml -f csv made | wc -l)" = 301 ] || echo "$n: recgen"
done
# What records may refer to is not dropped.
echo old >out
recsort -s fits.yaml fits.1 fits.3 -o out || cat out
recsort -s fits.yaml fits.1 -o s1 && recsort -s fits.yaml fits.2 -o s2
recsort -s fits.yaml --merge s1 s2 >out || wc -c <out
cat s1 | recsort -s fits.yaml --merge - s2 >out || wc -c <out
quietly recsort -s fits.yaml fits.1 fits.2 --keep-trailer -o out && same fits 9999 no out 1 2
# A trailer that is dropped is said.
recsort -s las.yaml las.1 las.2 -o out && same las 9999 no out 1 2
cat las.2 | recsort -s las.yaml las.1 - -o out && same las 9999 no out 1 2
recsort -s las.yaml las.1 las.2 las.3 las.1 -o out
recsort -s las.yaml --merge las.0 las.0 las.0 >out && cmp out las.0
# Where the places are.
for n in las fits shx pcd dat footer; do recsort -s $n.yaml --explain --plugin cpu --threads 1 | grep -E '^(file|record)'; done
recsort -s las.yaml --explain --plugin cpu --threads 1 las.1 las.2 | grep -E '^record|  las'
recsort -s fits.yaml --explain --plugin cpu --threads 1 fits.1 | grep '  fits'
