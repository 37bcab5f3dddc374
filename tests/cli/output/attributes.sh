# Extended attributes are kept, and those that cannot be are reported. Those that the kernel derives
# from the contents are not kept.
cat >attributes.py <<'END'
import os, sys
command, path = sys.argv[1:3]
if command == "set":
    name, value = sys.argv[3:]
    os.setxattr(path, name, b"x" * int(value) if value.isdigit() else value.encode())
else:
    for name in sorted(os.listxattr(path)):
        value = os.getxattr(path, name)
        print(name, value.decode() if len(value) < 100 else f"{len(value)} bytes")
END
entities of 1 2 >in
cp in out
python3 attributes.py set out user.colour red 2>/dev/null ||
  { echo "no extended attributes on $(stat -f -c %T .)"; exit 77; }
python3 attributes.py set out user.empty ''
python3 attributes.py set out user.long 1000
for command in '' without-tmpfile; do
  $command recsort -s "$SCHEMAS/entity.yaml" --head 1 in -o out
  echo "exit $?, $(stat -c %s out) bytes"
  python3 attributes.py show out | grep -v '^security.selinux '
done
if python3 attributes.py set out security.label 1 2>/dev/null &&
  python3 attributes.py set out security.ima old; then
  recsort -s "$SCHEMAS/entity.yaml" in -o out
  python3 attributes.py show out | grep -E '^security.(label|ima)'
else
  echo "security.label x"
fi

strace -qq -o /dev/null true 2>/dev/null || exit 0
export ASAN_OPTIONS=detect_leaks=0 # leak detection does not work under a tracer
rm out
cp in out
python3 attributes.py set out user.colour red
python3 attributes.py set out user.taste sour
for fault in fsetxattr:error=EPERM:when=1 listxattr:error=EIO getxattr:error=EIO:when=2; do
  cp --preserve=xattr out copy
  strace -qq -o /dev/null -e inject=$fault recsort -s "$SCHEMAS/entity.yaml" in -o copy
  echo "$fault: exit $?"
  python3 attributes.py show copy | grep -v '^security.selinux ' | wc -l
done 2>&1 | sed 's/user.\(colour\|taste\) is/user.COLOUR or user.TASTE is/'
