"""What history tells: what is on the branch already, and what became of earlier changes."""
