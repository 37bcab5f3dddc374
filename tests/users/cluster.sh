# On a cluster's node: installs the packages, sorts with three ranks, and compiles a program in C and one in Fortran.
get /release/debian/librecsort1_*.deb /release/debian/librecsort-dev_*.deb /release/debian/recsort_*.deb \
  /release/debian/librecsort-mpi1_*.deb /release/debian/librecsort-mpi-dev_*.deb /release/debian/recsort-mpi_*.deb openmpi-bin libopenmpi-dev gcc gfortran pkg-config libc6-dev
ranks() { OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n 3 "$@"; }
recgen -s entity -n 100000 -o records.bin
ranks recsort-mpi -s entity --stats records.bin -o sorted.bin 2> stats
grep 'most / mean' stats
recsort -s entity records.bin | cmp - sorted.bin
tar -xf /release/recsort-$VERSION.tar.gz -C /home
sed -n '/^## In a program/,/^## How it works/{/^```c$/,/^```$/{/^```/!p}}' /home/recsort-$VERSION/docs/scale.md > program.c
# Unquoted: several words.
mpicc program.c $(pkg-config --cflags --libs recsort-mpi)
[ "$(OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n 2 ./a.out)" = '9 7 5 5 3 1' ]
mpifort /usr/share/recsort/fortran/recsort.f90 /home/recsort-$VERSION/tests/mpi/fortran.f90 $(pkg-config --libs recsort-mpi) -o fortran
ranks ./fortran
