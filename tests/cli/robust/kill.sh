# T6: SIGKILL at random instants of a sort that replaces its input.
kill-sort 300
