"""Syntax errors of files, by the parser's own process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import convert, to_builtins

from prjury.code.faults import LARGEST, SourceFile, SyntaxFault
from prjury.code.parser import Job, NotParsed, Parser
from prjury.deadline import Deadline

__all__ = ["LARGEST", "SourceFile", "SyntaxFault", "find_faults_and_unparsed"]


def find_faults_and_unparsed(
    texts: Sequence[SourceFile], deadline: Deadline
) -> tuple[Mapping[str, SyntaxFault], Mapping[str, str]]:
    jobs: list[Job] = [{"syntax": to_builtins(each), "rules": []} for each in texts]
    faults: dict[str, SyntaxFault] = {}
    unparsed: dict[str, str] = {}
    for text, reply in zip(texts, Parser().run(jobs, deadline), strict=True):
        if isinstance(reply, NotParsed):
            unparsed[text.path] = str(reply)
        elif reply["fault"]:
            faults[text.path] = convert(reply["fault"], SyntaxFault)
    return faults, unparsed
