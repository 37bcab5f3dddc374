# A second signal that arrives while the handler of the first removes the temporary.
strace -qq -o /dev/null true 2>/dev/null || { echo "needs strace, and the right to trace"; exit 77; }
signal-twice
