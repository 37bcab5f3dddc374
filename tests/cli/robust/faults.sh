# T2: every system call of a sort that replaces its input fails in turn.
strace -qq -o /dev/null true 2>/dev/null || { echo "needs strace, and the right to trace"; exit 77; }
fail-calls
