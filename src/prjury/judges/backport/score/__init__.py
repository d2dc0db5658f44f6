"""How likely a change is to be brought to a branch: a calibrated additive score with reasons."""
