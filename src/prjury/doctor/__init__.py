"""What is wrong with the way PR Jury is set up in a repository, and how to fix it.

`setup` finds our action in the workflows, the modules beside it are pure functions over that, one
subject each, and `run_checks` lists every check. What GitHub says comes through
`prjury.github.settings`.
"""
