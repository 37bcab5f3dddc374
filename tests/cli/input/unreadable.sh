# A file without read permission, read by a user without privileges.
entities of 1 2 >in
chmod 000 in
chmod 755 .
user=
if [ "$(id -u)" = 0 ]; then
  user='setpriv --reuid=65534 --regid=65534 --clear-groups'
  $user recsort --version >/dev/null 2>&1 || { echo "needs setpriv, and tools that anyone may run"; exit 77; }
fi
cp "$SCHEMAS/entity.yaml" entity.yaml && chmod 644 entity.yaml
$user recsort -s entity.yaml in
echo "exit $?"
