"""Workers that are forked from a process which was started beforehand."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

SCRIPT = """
import os, signal, sys
from concurrent.futures import ThreadPoolExecutor
from prjury.code.languages import LANGUAGES
from prjury.code.parser import NotParsed, Parsed, Parser, begin_standby, job
from prjury.deadline import Deadline

JAVA = LANGUAGES["java"]
CLASS = {"rule": {"kind": "class_declaration"}}
SOON = Deadline.after(60)


def java(text, *rules):
    return job(text, JAVA, rules or (CLASS,))


def slow(length):
    rule = {"rule": {"kind": "scoped_identifier", "regex": "z$"}}
    return java("import " + "a." * length + "b;", rule, rule, rule)


begin_standby().wait()
begin_standby().wait()
"""
CASES = {
    "many at once": """
with ThreadPoolExecutor(8) as pool:
    for number, [one] in enumerate(pool.map(lambda n: Parser().parse(
        [java("class A {} " * n)], SOON), range(40))):
        assert len(one.matches) == number
""",
    "one takes too long": """
jobs = [java("class A {}"), slow(400_000), java("")]
first, second, third = Parser(seconds=3).parse(jobs, SOON)
assert isinstance(first, Parsed) and isinstance(third, Parsed)
assert (second.reason, second.crashed) == ("parser_timeout", False), second
""",
    "one takes too much memory": """
bomb = java("class A { int x = " + "a<" * 50_000)
first, second = Parser().parse([bomb, java("class A {}")], SOON)
assert first.reason == "parser_memory" and isinstance(second, Parsed), first
""",
    "the time of all is over": """
replies = Parser().parse([slow(400_000), java("class A {}")], Deadline.after(0.5))
assert [reply.reason for reply in replies] == ["parser_timeout"] * 2
""",
    "somebody kills the process": """
os.kill(begin_standby().process.pid, signal.SIGKILL)
[reply] = Parser().parse([java("class A {}")], SOON)
assert (reply.reason, reply.crashed) == ("parser_died", True), reply
""",
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_it_answers_as_a_worker_of_its_own_does(case: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT + case], capture_output=True, check=False, timeout=120
    )
    assert (done.returncode, done.stderr.decode()) == (0, "")
