"""Comments and annotations in the code that silence findings: ours, and those of the ecosystems.

Only what the pull request's own tree says counts. Whatever is silenced stays a failed check, a
warning at most, and is counted and named with what silenced it.
"""
