# Signals that can be caught leave the old file, and no temporary, with or without a name.
signal-sort
