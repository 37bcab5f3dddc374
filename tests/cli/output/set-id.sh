# Set-user-ID bits are kept with the owner, although the kernel clears them when data is written.
user=
if [ "$(id -u)" = 0 ]; then
  user='setpriv --reuid=65534 --regid=65534 --clear-groups'
  $user recsort --version >/dev/null 2>&1 || { echo "needs setpriv, and tools that anyone may run"; exit 77; }
  chown 65534:65534 .
fi
cp "$SCHEMAS/entity.yaml" entity.yaml && chmod 644 entity.yaml
entities of 1 2 >new
cp new in
[ -z "$user" ] || chown 65534:65534 in
for command in '' without-tmpfile; do
  for mode in 6755 4700 2710 1644; do
    chmod $mode in
    $user $command recsort -s entity.yaml in -o in
    stat -c %a in
  done
done
# A file of another owner, which only root can give to the new file.
[ -n "$user" ] || exit 0
echo "another owner"
for mode in 6777 2776 0666; do
  cp new in
  chown 1234:2345 in
  chmod $mode in
  $user recsort -s entity.yaml in -o in
  stat -c '%u %g %a' in
  rm in
done
