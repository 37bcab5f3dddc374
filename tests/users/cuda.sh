# With CUDA, where the GPU is elsewhere: asks for the plugin, and compiles the program of the manual that uses it.
get /release/debian/librecsort1_*.deb /release/debian/recsort_*.deb /release/debian/librecsort-dev_*.deb gcc libc6-dev pkg-config
recgen -s entity -n 1000 -o records.bin
refused() { if recsort -s entity --plugin cuda records.bin -o sorted.bin 2> log; then exit 1; else [ $? = 2 ]; fi; [ "$(wc -l < log)" = 1 ]; }
refused
grep 'install the Debian package or the wheel recsort-cuda' log
if [ -e /release/debian/recsort-cuda_*.deb ]; then
  get /release/debian/recsort-cuda_*.deb
  recsort --list-plugins | grep '^cuda '
  [ -e /dev/nvidiactl ] || refused # for the want of a driver
  if grep recsort-cuda log; then exit 1; fi
fi
recsort -s entity records.bin -o sorted.bin # the CPU does it
recsort -s entity --check sorted.bin
