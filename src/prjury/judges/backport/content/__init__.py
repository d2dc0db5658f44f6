"""What the change holds, beside what the branch has: names, versions, lines, files."""
