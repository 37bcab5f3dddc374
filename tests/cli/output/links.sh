# A symbolic link stays and leads to the new file; another hard link keeps the old one.
mkdir folder
entities make 100 >folder/in
cp folder/in old
entities sort desc <old >expected
ln -s folder/in link
ln -s link link-to-link
recsort -s "$SCHEMAS/entity.yaml" link-to-link -o link-to-link
readlink link-to-link link && cmp folder/in expected
ln -s new folder/dangling
recsort -s "$SCHEMAS/entity.yaml" old -o folder/dangling
readlink folder/dangling && cmp folder/new expected
ln -s loop loop
recsort -s "$SCHEMAS/entity.yaml" old -o loop
echo "exit $?"
cp old hard
ln hard other
recsort -s "$SCHEMAS/entity.yaml" hard -o hard
cmp hard expected && cmp other old
ls -A . folder
