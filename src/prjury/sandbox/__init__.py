"""Running programs that are not trusted: environment, walls, limits, no survivors."""
