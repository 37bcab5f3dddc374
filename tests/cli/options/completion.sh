# --completion: every option of --help is in each script, and bash completes by it. For the other
# shells see completion-fish.sh and completion-zsh.sh.
recsort --help | grep -oE -- '--[a-z0-9]+(-[a-z]+)*' | sort -u >said
for shell in bash zsh fish; do
  recsort --completion $shell >$shell
  sed 's/ -l / --/g' $shell | grep -oE -- '--[a-z0-9]+(-[a-z]+)*' >offered
  for option in $(cat said); do
    grep -qx -- "$option" offered || echo "$shell lacks $option"
  done
done
cat >try <<'END'
source ./bash
try() { # WORD... as bash divides them; the last one is completed
  COMP_WORDS=(recsort "$@")
  COMP_CWORD=$#
  _recsort
  echo "$*: ${COMPREPLY[*]}"
}
try --pl
try --stats = j
try --progress =
try --index = ''
try --stats x j
try in
try -o out --che
complete -p recsort
END
bash try
recsort --completion tcsh
echo "exit $?"
recsort --completion bash --merge
echo "exit $?"
