"""The version-pattern judge: rules about code that a declared version no longer has.

    packs (YAML) ─ load ─> rules ─┐
    build files ─ project ─> modules ─ gate ─> which rules hold where, and how severely
    added lines ─ prefilter ─> files to read ─ parser ─> matches ─ judge ─> findings

`make` builds the judge. `load_pack`, `shipped_pack` and `run_cases` serve those who write packs.
"""

from __future__ import annotations

from prjury.judges.patterns.judge import PatternsJudge, make
from prjury.judges.patterns.pack_tests import CaseFailure, run_cases
from prjury.rulepacks.load import load_pack, shipped_heads, shipped_pack

__all__ = [
    "CaseFailure",
    "PatternsJudge",
    "load_pack",
    "make",
    "run_cases",
    "shipped_heads",
    "shipped_pack",
]
