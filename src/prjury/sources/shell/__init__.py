"""Running programs that are not trusted: environment, launcher, limits, no survivors."""

from prjury.sources.shell.contained import ContainedShell
from prjury.sources.shell.environment import is_refused
from prjury.sources.shell.watch import Limits

__all__ = ["ContainedShell", "Limits", "is_refused"]
