# fish completes recsort's options and their values.
command -v fish >where || { echo 'there is no fish'; exit 77; }
touch data.bin
HOME=$PWD
export HOME
recsort --completion fish >script
for line in 'recsort --pl' 'recsort --stats=' 'recsort --verify ' 'recsort -s da' 'recsort --files0-from da' 'recsort da'; do
  echo "$line: $(fish --no-config -c "source script; complete -C '$line'" | cut -f 1 | tr '\n' ' ')"
done
