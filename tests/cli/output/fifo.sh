# A FIFO and standard output are written to directly, and stay what they are.
entities make 4000 >in
entities sort desc <in >expected
mkfifo fifo
cmp fifo expected &
recsort -s "$SCHEMAS/entity.yaml" in -o fifo
wait $! && [ -p fifo ] && echo "a fifo"
recsort -s "$SCHEMAS/entity.yaml" in -o /dev/stdout | cmp - expected
echo before >appended
recsort -s "$SCHEMAS/entity.yaml" in -o /dev/stdout >>appended
head -n 1 appended
tail -c +8 appended | cmp - expected
recsort -s "$SCHEMAS/entity.yaml" in -o /dev/null && [ -c /dev/null ] && echo "a device"
ls -A
