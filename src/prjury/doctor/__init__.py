"""What is wrong with the way PR Jury is set up in a repository, and how it is put right.

`workflow` reads, the checks beside it are pure functions over what was read, `examination` asks
them all. What GitHub says comes through `prjury.github.settings`.
"""
