"""``python -m prjury``."""

from prjury.cli import main

main()
