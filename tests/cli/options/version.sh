# --version and --help need nothing else.
recsort --version | grep -cE '^recsort [0-9]+\.[0-9]+\.[0-9]+(-rc)?$'
recsort --help >help && recsort -h | cmp - help
[ "$(wc -l <help)" -le 24 ] && [ "$(wc -L <help)" -le 80 ] && echo "fits a screen"
recsort --help >/dev/full
echo "exit $?"
recsort --version >/dev/full
echo "exit $?"
