"""Declared versions as spans, one module for each way to write them."""

from prjury.manifests.spans.declared import SPANS, declared_span, surely_within
from prjury.manifests.spans.span import Numbers, VersionSpan, after, exact, numbers

__all__ = [
    "SPANS",
    "Numbers",
    "VersionSpan",
    "after",
    "declared_span",
    "exact",
    "numbers",
    "surely_within",
]
