# For a distribution: checks the sums, builds the source and installs it into a folder, and uses that as others would;
# then the Python package from its source distribution.
get gcc g++ libc6-dev cmake make ninja-build pkg-config libyaml-dev libcjson-dev libxxhash-dev python3-venv
(cd /release && sha256sum --quiet -c SHA256SUMS)
tar -xf /release/recsort-$VERSION.tar.gz
cmake -S recsort-$VERSION/ -B build -DCMAKE_INSTALL_PREFIX=/usr -DRECSORT_TESTS=OFF > log
cmake --build build -j "$(nproc)" > log
DESTDIR=$PWD/root cmake --install build > log
[ -z "$(find / -xdev -path /home -prune -o -path /release -prune -o -path /proc -prune -o -name '*recsort*' -print)" ] # nothing is outside
grep '"licenseConcluded": "MIT"' /release/*.spdx.json | head -n 1
cp -r root/usr /
ldconfig
printf '#include <recsort/recsort.h>\n#include <stdio.h>\nint main(void) { return puts(recsort_version()) < 0; }\n' > program.c
# Unquoted: several words.
cc program.c $(pkg-config --cflags --libs recsort) -o program
[ "$(./program)" = "$(pkg-config --modversion recsort)" ]
python3 -m venv env
env/bin/pip install -q --no-index --find-links /release/others /release/python/recsort-*.tar.gz
env/bin/python -c 'import numpy, recsort; assert recsort.argsort(numpy.array([3, 1, 2])).tolist() == [1, 2, 0]'
