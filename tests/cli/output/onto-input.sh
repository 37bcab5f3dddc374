# An output that is written to directly is no input: it would be overwritten before it has been read. Nothing is lost.
cat >s.yaml <<'END'
record: R
skip: 3
trailer: 3
fields: [{name: x, type: char}]
keys: [x]
END
printf HDRcabTRL >unsorted
printf HDRaccTRL >sorted
printf hdrbddtrl >other
fresh() {
  cp unsorted a
  cp sorted b
  ln -f b hard
  ln -sf b soft
}
fresh
recsort() { command recsort -s s.yaml --keep-trailer "$@"; }
show() { # FILE COMMAND...
  fresh
  kept=$1
  shift
  eval "$*"
  echo "exit $?, $(cat a) $(cat b), $kept: $*"
}
show kept 'recsort -m b other 1<>b'
show kept 'recsort -m other b -o /dev/fd/3 3<>b'
show kept 'recsort -m b other -o /proc/self/fd/3 3<>b'
show kept 'recsort -m b other -o /proc/$$/fd/3 3<>b'
show kept 'recsort -m hard other 1<>b'
show kept 'recsort -m soft other 1<>b'
show kept 'recsort -m - other <b 1<>b'
show kept 'recsort -m <b 1<>b'
show kept 'recsort -m b other >>b'
show kept 'recsort a other 1<>a'
show kept 'recsort other a 1<>a'
show kept 'cat other | recsort - a 1<>a'
show kept 'recsort -u a 1<>a'
show kept 'recsort --head 1 a 1<>a'
show kept 'recsort --index=32 a 1<>a'
show kept '(head -c 2 >/dev/null; recsort a -o /dev/fd/3) 3<>a <&3'
show kept 'recsort a >>a'
# By its name it is replaced, once it has been read.
show replaced 'recsort -m b other -o b'
show replaced 'recsort -m hard other -o b && cat hard && echo'
show replaced 'recsort -m b other -o soft'
show replaced 'recsort -m - other <b -o b'
show replaced 'recsort a other -o a'
show 'another file' 'recsort -m b other 1<>a'
recsort -m sorted sorted 3<>sorted | cat && echo
