"""The checks of a backport, one file each; `check_list` lists them and says how to add one."""
