# A file far larger than memory is refused in one line, at once, and not by the OOM killer.
truncate -s 1T in 2>/dev/null || { echo "no file of 1 TiB here"; exit 77; }
truncate -s 1099511627760 in
echo old >out
recsort -s "$SCHEMAS/entity.yaml" in -o out 2>stderr
echo "exit $?"
sed 's/[0-9]* MiB/N MiB/g' stderr
recsort -s "$SCHEMAS/entity.yaml" <in 2>stderr
echo "exit $?, $(wc -l <stderr) line"
cat out
