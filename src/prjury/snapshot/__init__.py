"""The photograph: one pull request as frozen values. Pure; taking it is the sources' business."""
