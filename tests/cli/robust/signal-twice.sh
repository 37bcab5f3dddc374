# A signal that comes again while the temporary is removed for the first.
strace -qq -o /dev/null true 2>/dev/null || { echo "needs strace, and the right to trace"; exit 77; }
signal-twice
