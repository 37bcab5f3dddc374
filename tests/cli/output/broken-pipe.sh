# A reader that closes its pipe ends the tool silently; with SIGPIPE ignored it is an error.
entities make 100000 >in
(recsort -s "$SCHEMAS/entity.yaml" in; echo "exit $?" >status) | head -c 20 | wc -c
cat status
(trap '' PIPE; recsort -s "$SCHEMAS/entity.yaml" in; echo "exit $?" >status) | head -c 20 | wc -c
cat status
