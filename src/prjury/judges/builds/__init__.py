"""The build judge: runs the merged tree's own build and tests, and reads why they fail."""

from prjury.judges.builds.judge import make

__all__ = ["make"]
