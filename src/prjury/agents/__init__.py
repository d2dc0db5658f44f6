"""Agents: as programs, as judges that change nothing, and as repairers that may change little."""
