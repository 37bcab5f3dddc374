# With raised privileges RECSORT_PLUGIN_PATH is ignored: no library of the caller's is loaded.
[ "$(id -u)" = 0 ] || { echo "needs root"; exit 77; }
if grep -q __asan_init "$(command -v recsort)"; then
  echo "the address sanitizer does not start with raised privileges"
  exit 77
fi
if grep -q __gcov_ "$(command -v recsort)"; then
  echo "another user cannot write what counts branches"
  exit 77
fi
user='setpriv --reuid=65534 --regid=65534 --clear-groups'
mkdir plugins
echo 'no library' >plugins/librecsort_planted.so
cp "$(command -v recsort)" raised
chown 65533 raised
chmod 755 . plugins raised
export RECSORT_PLUGIN_PATH=$PWD/plugins
$user ./raised --version >/dev/null 2>&1 || { echo "needs setpriv, and tools that anyone may run"; exit 77; }
$user ./raised --list-plugins | grep -c '^planted'
cp "$(command -v id)" who
chown 65533 who
chmod u+s raised who
[ "$($user ./who -u)" = 65533 ] || { echo "no set-user-ID programs here"; exit 77; }
$user ./raised --list-plugins | grep -c '^planted'
$user ./raised --list-plugins | grep -c '^cpu .*(linked in)'
