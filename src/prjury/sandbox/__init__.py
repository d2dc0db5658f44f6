"""Running programs that are not trusted: environment, launcher, limits, no survivors."""

from prjury.sandbox.contained import ContainedShell
from prjury.sandbox.environment import is_refused
from prjury.sandbox.run import Limits

__all__ = ["ContainedShell", "Limits", "is_refused"]
