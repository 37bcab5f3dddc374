# Signals that can be caught leave no temporary, named or not, and the old file.
signal-sort
