# zsh completes recsort's options and their values, in a terminal of its own.
command -v zsh >where || { echo 'there is no zsh'; exit 77; }
touch data.bin
mkdir functions
recsort --completion zsh >functions/_recsort
cat >try <<'END'
zmodload zsh/zpty
zpty shell 'TERM=dumb zsh -f -i'
zpty -w shell 'PS1=; fpath=($PWD/functions $fpath); autoload -Uz compinit; compinit -u -D; bindkey "^I" complete-word; unsetopt zle_bracketed_paste; PATH=/nowhere'
zpty -w shell 'recsort() { printf "\\x3c%s\\x3e\\n" "$*" }'
try() { # LINE: what it becomes by completion
  zpty -w -n shell "$1"$'\t\n'
  local text
  zpty -r -m shell text '*<*>*'
  print -r -- "$1: ${${text##*<}%%>*}"
}
try 'recsort --plugin-o'
try 'recsort --stats=j'
try 'recsort --verify=f'
try 'recsort -s da'
try 'recsort --reverse da'
zpty -d shell
END
timeout 600 zsh -f try
