"""Whatever strangers write is read or refused: real documents with pieces cut, doubled or replaced.

`PRJURY_FUZZ=20000 pytest tests/attacks/test_fuzz.py` tries as many for each reader.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.llm import FOUR, answer, quote, reply
from prjury.action.history import parse_command_or_why
from prjury.errors import CannotJudgeError, ConfigError
from prjury.judges.builds.evidence import read_evidence
from prjury.judges.builds.results.junit import parse_reports
from prjury.judges.builds.results.tree import TreeFiles
from prjury.judges.quality.evidence import InvalidReplyError, read_answers
from prjury.manifests.spans import SPANS, read_span
from prjury.policy.load import parse_policy
from prjury.report.sanitise import clean, fence_text, inline_code, log_line, plain, prose
from prjury.snapshot.diff import DiffError, read_patches

#: Pieces that readers stumble over.
PIECES = (
    "\0 \x1b[31m \u202e \ufeff \U000e0041 \ud800 \r\n \u2028 ``` ~~~ <!-- --> ]]> &amp; &#0; <a> "
    "</a> \" ' \\ {{ }} ${{ }} ::error:: ##[error] @@ -1,9 +1,9 @@ +++ --- -0 1e999 NaN null true "
    "[ ] { } [[[[[[[[ << >> *a &a !!x % %s % \\u0000 99999999999999999999 0x1F .5 ~> ^ >=,<"
).split(" ")


@dataclass(frozen=True)
class Reader:
    """What reads, real texts that it reads, and with which errors it refuses others."""

    read: Callable[[str], object]
    texts: tuple[str, ...]
    refuses: tuple[type[Exception], ...] = ()


def _sanitise(text: str) -> None:
    for shown in (
        clean(text),
        inline_code(text),
        prose(text, in_cell=True),
        fence_text(text),
        plain(text),
        prose(text),
    ):
        shown.encode()
        assert "\x1b" not in shown
        assert "\u202e" not in shown
    assert "\n" not in prose(text, in_cell=True)
    assert "##[" not in log_line(text)


def _read_reports(text: str) -> None:
    content = text.encode("utf-8", "surrogatepass")
    results = parse_reports([("TEST-a.xml", content)], [], TreeFiles(frozenset({"a.py"})), str)
    assert results.skipped <= max(results.tests, results.skipped)
    assert all(not (one.path or "").startswith(("/", "../")) for one in results.failures)


def _read_spans(text: str) -> None:
    for ecosystem in SPANS:
        read_span(text, ecosystem)
    for name in ("python", "java", "node", "dotnet"):
        read_span(text, "runtime", name)


POLICY = """version: 1
tiers:
  - {name: build, judges: [merge, {build: {timeout: 20m}}], voting: {strategy: majority}}
  - {name: quality, policy: final_tier, advisory: true, judges: [{quality: {must: [risk]}}]}
models: {default: "openai:x", timeout: 30}
publish: {comment: true, labels: {pass: ok}}
"""
EVIDENCE = json.dumps(
    {"schema": 1, "version": "1", "head": "a" * 40, "base": "b" * 40, "tree": "c" * 40,
     "sandbox": {"level": "L1", "network": True}, "builds": []}
)  # fmt: skip
JUNIT = (
    '<testsuites name="pytest"><testsuite name="s" tests="2" failures="1"><testcase classname="a" '
    'name="one" file="a.py" line="3" time="0.1"/><testcase classname="a" name="two"><failure '
    'message="m">a.py:3: AssertionError</failure><system-out>&#27;[31m</system-out></testcase>'
    "</testsuite></testsuites>"
)
PATCH = (
    "diff --git a/a.py b/a.py\nindex 1..2 100644\n--- a/a.py\n+++ b/a.py\n@@ -1,3 +1,4 @@ def f\n"
    " a\n-b\n+++ c\n+d\n e\n\\ No newline at end of file\n"
)
READERS = {
    "policy": Reader(
        lambda text: parse_policy(text.encode("utf-8", "replace").decode(), "a"),
        (POLICY, "version: 1\nbuild: {command: {test: x}}\n"),
        (ConfigError,),
    ),
    "evidence": Reader(
        lambda text: read_evidence(text.encode("utf-8", "surrogatepass")),
        (EVIDENCE,),
        (CannotJudgeError,),
    ),
    "diff": Reader(
        lambda text: [patch.hunks for patch in read_patches(text.encode("utf-8", "surrogatepass"))],
        (PATCH, PATCH + PATCH),
        (DiffError,),
    ),
    "report": Reader(_read_reports, (JUNIT,)),
    "sanitiser": Reader(_sanitise, (PATCH, JUNIT, "| a | b |\n<!-- prjury -->\n# x @octo #1")),
    "command": Reader(
        parse_command_or_why,
        ("/prjury override it is fine", "/prjury dismiss 3 no", "> /prjury review"),
    ),
    "reply": Reader(
        lambda text: read_answers(text, FOUR),
        (reply(tests=answer("fail", [quote()])),),
        (InvalidReplyError,),
    ),
    "range": Reader(
        _read_spans, ("^1.2.3 || >=2 <3", "[1.0,2.0)", "~> 1.2", ">=1.2,!=1.5,<2", "1.x - 2")
    ),
}


@st.composite
def broken(draw: st.DrawFn, texts: tuple[str, ...]) -> str:
    text = draw(st.sampled_from(texts))
    for _ in range(draw(st.integers(0, 6))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 40)))
        piece = draw(st.sampled_from(PIECES) | st.just(text[start:end] * 3) | st.text(max_size=8))
        text = text[:start] + piece + text[end:]
    return text


@pytest.mark.parametrize("name", READERS)
def test_what_strangers_write_is_read_or_refused(name: str) -> None:
    reader = READERS[name]

    @settings(max_examples=int(os.environ.get("PRJURY_FUZZ", "50")))
    @given(broken(reader.texts))
    def attempt(text: str) -> None:
        with contextlib.suppress(*reader.refuses):
            reader.read(text)

    attempt()
