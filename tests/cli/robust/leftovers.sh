# The next sort to the same output removes what SIGKILL left, but not the file of an active sort.
leave-names
