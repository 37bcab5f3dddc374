# A folder or a file without write permission is refused, and the old file stays.
user=
if [ "$(id -u)" = 0 ]; then
  user='setpriv --reuid=65534 --regid=65534 --clear-groups'
  $user recsort --version >/dev/null 2>&1 || { echo "needs setpriv, and tools that anyone may run"; exit 77; }
fi
cp "$SCHEMAS/entity.yaml" entity.yaml && chmod 644 entity.yaml
entities of 1 2 >in
mkdir closed open
echo old >closed/out
echo old >open/out
[ -z "$user" ] || chown 65534 closed closed/out open open/out
chmod 444 open/out
chmod 555 closed
$user recsort -s entity.yaml in -o closed/out
echo "exit $?"
$user recsort -s entity.yaml in -o closed/new
echo "exit $?"
$user recsort -s entity.yaml in -o open/out
echo "exit $?"
cat closed/out open/out
ls -A closed open
chmod 755 closed
