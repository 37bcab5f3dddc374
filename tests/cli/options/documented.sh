# Every option of --help is in the man page, and vice versa.
recsort --help | grep -oE -- '--[a-z0-9]+(-[a-z]+)*' | sort -u >said
sed 's/\\-/-/g' "$SCHEMAS/../tools/recsort/recsort.1" | sed -n '/^\.SH OPTIONS/,/^\.SH OUTPUT/p' |
  grep -oE -- '(^|[^a-z0-9-])--[a-z0-9]+(-[a-z]+)*' | grep -oE -- '--.*' | sort -u >written
test "$(wc -l <said)" -gt 20 || echo "only $(wc -l <said) options"
diff said written && echo "the same"
