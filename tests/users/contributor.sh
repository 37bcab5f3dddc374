# With the source: the first command of the README, a change that is wrong, and the test that finds it.
tar -xf /release/recsort-$VERSION.tar.gz
cd recsort-$VERSION
tools/quickstart.sh > log 2>&1 || { tail -n 30 log; exit 1; }
tail -n 12 log
get libcmocka-dev
try() {
  cmake --build build/mine --target tests/unit/test_permute > log || { tail -n 30 log; exit 1; }
  ctest --test-dir build/mine -R '^unit[.]test_permute$' > log
}
cmake -S . -B build/mine -G Ninja -DRECSORT_TESTS=ON > log
try
sed -i 's/if (at >= count) return false;/if (at > count) return false;/' core/permute/permute.c
if try; then echo 'no test finds it'; exit 1; fi
