"""What a module uses already, it may go on using: such a finding is a warning, never an error.

An old library may come with another dependency (Jackson 2 comes with many SDKs), which no build
file in the tree tells. The module's code at the base does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import re2

from prjury.code.languages import language_of
from prjury.judges.patterns.findings import PatternFinding
from prjury.manifests.project import Project
from prjury.ports import Repository
from prjury.snapshot.model import printable

_COMMENTS = (b"//", b"*", b"/*", b"#")
_BATCH = 100
_MAX_FILES = 3_000


@dataclass(frozen=True)
class ExistingUsage:
    """Looks into the code of modules, only where there is a finding that it could soften."""

    project: Project
    repository: Repository

    def soften(self, findings: Sequence[PatternFinding]) -> list[PatternFinding]:
        """The findings, with errors made warnings where the module does the same already."""
        asked = {self._question(f) for f in findings if f.severity == "error"}
        habits = {
            (module, regex) for module, regex in sorted(asked) if regex and self._has(module, regex)
        }
        return [
            replace(f, severity="warning", established=True)
            if f.severity == "error" and self._question(f) in habits
            else f
            for f in findings
        ]

    def _question(self, finding: PatternFinding) -> tuple[str, str]:
        sides = self.project.of_file[finding.path]
        return sides.base.path or sides.head.path, finding.active.established

    def _has(self, module: str, regex: str) -> bool:
        pattern = re2.compile(regex.encode())
        files = self.project.files_of(module)
        blobs = sorted({blob for path, blob in files if _is_code(path)})[:_MAX_FILES]
        for start in range(0, len(blobs), _BATCH):
            contents = self.repository.read(blobs[start : start + _BATCH]).values()
            if any(content and _uses(pattern, content) for content in contents):
                return True
        return False


def _uses(pattern: re2._Regexp, content: bytes) -> bool:
    """Whether a line that is no comment line fits."""
    return any(
        not content[content.rfind(b"\n", 0, start) + 1 : start].lstrip().startswith(_COMMENTS)
        for start in (match.start() for match in pattern.finditer(content))
    )


def _is_code(path: str) -> bool:
    language = language_of(printable(path))
    return language is not None and language.parser is not None
