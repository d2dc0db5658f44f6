"""Version-pattern packs, shipped as data."""
