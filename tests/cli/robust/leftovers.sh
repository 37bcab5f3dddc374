# What SIGKILL leaves is removed by the next sort to the same output; what another one holds is not.
leave-names
