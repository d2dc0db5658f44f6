"""What a model is told besides the diff: what programs found, and lines that the change leaves."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest
from msgspec import structs

from fakes.llm import (
    SMALL,
    Notebook,
    Talker,
    always,
    answer,
    changed,
    context,
    judge,
    material,
    quote,
    reply,
)
from fakes.repository import HEAD, FakeRepository, Files
from prjury.errors import SourceError
from prjury.judges.context import CallSite
from prjury.judges.quality.reading import MOST_CHARACTERS, find_facts
from prjury.judges.quality.surroundings import find_altered_names, find_call_sites
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Check, Judgment, Location, Status
from prjury.jury.voting import Ballot
from prjury.ports.types import WordPlaces
from prjury.report.judge_facts import BuildFacts, TestFacts
from prjury.report.sanitise import Redactor
from prjury.snapshot.model import FileChange, MergeTrial


@dataclass
class Searched(FakeRepository):
    def with_words(self, tree: str, words: Sequence[str]) -> WordPlaces:
        places: dict[str, list[tuple[str, int]]] = {}
        for path, content in self.commits[tree].items():
            for number, line in enumerate(str(content).split("\n"), 1):
                for word in words:
                    if word in line:
                        places.setdefault(word, []).append((path, number))
        return WordPlaces({word: tuple(found) for word, found in places.items()})


def sites(files: Files, *changes: FileChange) -> list[str]:
    case = context(*changes)
    pull = structs.replace(case.pull, merge=MergeTrial(HEAD))
    found = find_call_sites(pull, changes, Searched({HEAD: files}))
    return [f"{site.name} {site.path}:{site.line}: {site.text}" for site in found]


TAX = changed(
    "tax.py", "-def tax(amount, percent):", "+def tax(amount, *, percent):", "     return 1"
)
INVOICE = (
    "from tax import tax\n\n\n"
    "def total(amount):\n    # tax is added\n    return tax(amount, 0.19)\n"
)


def test_an_unchanged_caller_of_a_changed_signature_is_listed() -> None:
    files = {"tax.py": "def tax(amount, *, percent):\n    return 1\n", "invoice.py": INVOICE}
    assert sites(files, TAX) == ["tax invoice.py:6: return tax(amount, 0.19)"]


def test_the_definition_of_what_an_added_line_calls_is_listed() -> None:
    files = {
        "tax.py": "def tax(amount, *, percent):\n    return 1\n",
        "dist/tax.py": "def tax(x):\n    return 1\n",
        "invoice.py": "def total(a):\n    return tax(a, 0.19)\n",
    }
    change = changed("invoice.py", " def total(a):", "+    return tax(a, 0.19)")
    assert sites(files, change) == ["tax tax.py:1: def tax(amount, *, percent):"]


def test_files_with_common_names_leave_room_for_callers() -> None:
    common = {f"shop/part{number}.py": f"fetch({number})\n" for number in range(400)}
    files = {"tax.py": "def tax(amount, *, percent):\n    return 1\n", **common}
    files |= {f"invoice{number}.py": f"{INVOICE}# {number}\n" for number in range(5)}
    calling = changed("cart.py", " def cart():", "+    return fetch(1)")
    assert len(sites(files, TAX, calling)) == 5


def test_callers_are_found_where_the_search_for_calls_takes_too_long() -> None:
    class Slow(Searched):
        def with_words(self, tree: str, words: Sequence[str]) -> WordPlaces:
            if "fetch" in words:
                raise SourceError("git grep took too long")
            return super().with_words(tree, words)

    changes = TAX, changed("cart.py", " def cart():", "+    return fetch(1)")
    pull = structs.replace(context(*changes).pull, merge=MergeTrial(HEAD))
    repository = Slow({HEAD: {"invoice.py": INVOICE}})
    assert [site.name for site in find_call_sites(pull, changes, repository)] == ["tax"]


def test_other_definitions_of_an_altered_method_are_listed_and_what_tools_wrote_comes_last() -> (
    None
):
    files = {
        "base.py": "class Base:\n    def poll(self, cycle):\n        return 1\n",
        "dist/out.py": "base.poll(0)\n",
        "own.py": "class Own(Base):\n    def poll(self):\n        return 1\n",
        "use.py": "base.poll(1)\n",
    }
    rows = [
        " class Base:",
        "-    def poll(self):",
        "+    def poll(self, cycle):",
        "         return 1",
    ]
    assert sites(files, changed("base.py", *rows)) == [
        "poll use.py:1: base.poll(1)",
        "poll dist/out.py:1: base.poll(0)",
        "poll own.py:2: def poll(self):",
    ]


def test_a_long_path_leaves_room_for_the_arguments() -> None:
    path = f"{'long/' * 30}Factory.java"
    code = f"return {'wrapped(' * 12}new TreeAdapter(serializer, type, null, nullSafe));"
    (fact,) = find_facts([], [CallSite("TreeAdapter", path, 70, code)], str)
    assert "long/Factory.java:70: …" in fact.text
    assert "TreeAdapter(serializer, type, null, nullSafe));" in fact.text


@pytest.mark.parametrize(
    ("path", "rows", "names"),
    [
        ("a.py", ["-LIMIT = 3", "+LIMIT = 4"], {"LIMIT": 1}),
        (
            "a.py",
            ["-def gone():", "-    pass", "+def other():", "+    pass"],
            {"gone": 0, "other": 1},
        ),
        ("a.py", [" def outer():", "-    value = 1", "+    value = 2"], {"outer": 2}),
        ("a.py", [" class Cart:", "-    size: int", "+    length: int"], {"size": 0, "length": 1}),
        (
            "a.py",
            [
                " class Cart:",
                "-    def __init__(self):",
                "+    def __init__(self, x):",
                "         y",
            ],
            {"Cart": 1},
        ),
        ("a.go", ["-func (r *R) Get(a string) int {", "+func (r *R) Get(a int) int {"], {"Get": 1}),
        ("A.java", ["-  public int size(int a) {", "+  public int size(long a) {"], {"size": 1}),
        ("a.js", ["-exports.join = (a) => a", "+exports.join = (a, b) => b"], {"join": 1}),
        ("a.rs", ["-pub fn join(a: u8) {", "+pub fn join(a: u16) {"], {"join": 1}),
        ("a.ts", ["-export const join = (a) => a", "+export const join = (b) => b"], {"join": 1}),
        ("a.md", ["-# join", "+# split"], {}),
    ],
)
def test_names_are_altered_by_their_definition_or_body(
    path: str, rows: list[str], names: dict[str, int]
) -> None:
    found = find_altered_names([changed(path, *rows)])
    assert {name: way for (_, name), way in found.items()} == names


def ballot(name: str, judgment: Judgment, kind: JudgeType = JudgeType.DETERMINISTIC) -> Ballot:
    return Ballot(name, judgment, 1.0, kind)


def test_programs_are_quoted_in_a_few_lines_and_models_not_at_all() -> None:
    result = BuildFacts(tests=TestFacts(120, failed=1, vanished=2), failures={})
    broken = Check.bad("build", "test_sum: 3 != 4", Location("tests/test_a.py", 7))
    build = Judgment(Status.FAIL, "It fails", checks=(broken,), metadata=result.to_metadata())
    opinion = ballot("other", Judgment(Status.FAIL, "I do not like it"), JudgeType.LLM_POWERED)
    coverage = ballot("coverage", Judgment.passed("9 of 12 added lines are covered"))
    aside = ballot("patterns", Judgment.abstained("no pack fits", "not_applicable"))
    ballots = [ballot("build", build), coverage, aside, opinion]
    facts = find_facts(ballots, [], str)
    assert find_facts(ballots[::-1], [], str) == facts
    assert [fact.text for fact in facts] == [
        "build: fail, 120 tests run, 1 failed, 2 no longer run",
        "tests/test_a.py:7: test_sum: 3 != 4",
        "coverage: pass, 9 of 12 added lines are covered",
    ]


def test_facts_never_take_more_than_their_room_and_hold_no_secret() -> None:
    secret = "s3cret-token-of-somebody"
    checks = tuple(Check.bad("x", f"{secret} {'y' * 500}") for _ in range(50))
    ballots = [
        ballot(f"judge-{n}", Judgment(Status.FAIL, "z" * 900, checks=checks)) for n in range(20)
    ]
    calls = [CallSite("name", f"{n}.py", n, f"name({secret})" + "w" * 90) for n in range(200)]
    facts = find_facts(ballots, calls, Redactor((secret,)))
    assert sum(len(json.dumps(fact.text)) for fact in facts) <= MOST_CHARACTERS
    assert any(fact.name for fact in facts)
    assert secret not in str(facts)


CALL = CallSite("add", "src/use.py", 9, "add('1', 2)")


def ask(model: Talker, site: CallSite, memory: Notebook, **panel: bool) -> Judgment:
    asked = judge(model, memory=memory, **panel)
    return asked.judge(replace(context(SMALL), find_call_sites=lambda: (site,)))


def test_the_question_holds_the_facts_and_its_answer_survives_their_numbers() -> None:
    model, memory = always(reply()), Notebook()
    ask(model, CALL, memory)
    assert material(model.asked[0])["facts"] == ["uses add: src/use.py:9: add('1', 2)"]
    ask(model, replace(CALL, line=10), memory)
    assert len(model.asked) == 1
    ask(model, replace(CALL, text="add(None, 2)"), memory)
    assert len(model.asked) == 2


def test_facts_cannot_be_quoted() -> None:
    broken = answer("fail", [quote("src/use.py", 9, "add('1', 2)")])
    judgment = ask(always(reply(correctness=broken)), CALL, Notebook())
    assert judgment.failed_checks == ()
    assert judgment.metadata["review"]["dropped"]["no_quote"] == 1


@pytest.mark.parametrize(("claim", "facts"), [("add('1', 2) fails now.", 1), ("It overflows.", 0)])
def test_a_second_question_holds_the_facts_about_the_names_of_its_claim(
    claim: str, facts: int
) -> None:
    error = reply(correctness=answer("fail", [quote(claim=claim)]))
    holds = reply(["holds"], holds=answer("pass"))
    model = always(lambda prompt: holds if prompt.name.startswith("confirm/") else error)
    ask(model, CALL, Notebook(), confirm=True)
    second = next(prompt for prompt in model.asked if prompt.name.startswith("confirm/"))
    assert len(material(second).get("facts", [])) == facts
