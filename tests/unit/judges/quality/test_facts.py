"""What a model is told besides the diff: what programs found, and lines that the change leaves."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from msgspec import structs

from fakes.history import History
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
from fakes.repository import BASE, HEAD, FakeRepository, Files, blob_of
from prjury.code.parser import Parser
from prjury.deadline import Deadline
from prjury.errors import SourceError
from prjury.git.operator import open_repository
from prjury.git.store import open_store
from prjury.git.take_snapshot import take_snapshot
from prjury.judges.context import CallSite
from prjury.judges.quality.reading import MOST_CHARACTERS, list_facts
from prjury.judges.quality.surroundings import (
    find_altered_names,
    find_call_sites_and_definitions,
    widen_hunks,
)
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Check, Judgment, Location, Status
from prjury.jury.voting import Ballot
from prjury.ports.types import WordPlaces
from prjury.report.judge_facts import BuildFacts, TestFacts
from prjury.report.sanitise import Redactor
from prjury.snapshot.kinds import kind_of
from prjury.snapshot.model import FileChange, FileStatus, Hunk, Line, MergeTrial


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
    found = find_call_sites_and_definitions(pull, changes, Searched({HEAD: files}))
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
    assert [site.name for site in find_call_sites_and_definitions(pull, changes, repository)] == [
        "tax"
    ]


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
    (fact,) = list_facts([], [CallSite("TreeAdapter", path, 70, code)], str)
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


def test_the_altered_names_of_a_long_new_file_are_found_in_time() -> None:
    rows = [f"+def f_{number}():\n+    pass" for number in range(10_000)]
    started = time.monotonic()
    assert len(find_altered_names([changed("a.py", *"\n".join(rows).splitlines())])) == 10_000
    assert time.monotonic() - started < 10


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
    facts = list_facts(ballots, [], str)
    assert list_facts(ballots[::-1], [], str) == facts
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
    facts = list_facts(ballots, calls, Redactor((secret,)))
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


SOON = Deadline.after(3_600)  # counted from the import: the whole suite may run before

BODY = "".join(f"        step({number})\n" for number in range(1, 9))
CODE = f"class A:\n    x = 1\n\n    def f(self):\n{BODY}\n    def g(self):\n        pass\n"


def edited(path: str, content: str | bytes = CODE, number: int = 9) -> FileChange:
    """A file whose line ``number`` is new, in a hunk without context."""
    hunk = Hunk(number - 1, 0, number, 1, "", (Line("+", None, number, "        step(5)"),))
    return FileChange(
        path, FileStatus.MODIFIED, kind_of(path), 1, new_blob=blob_of(content), hunks=(hunk,)
    )


def repository(*contents: str | bytes) -> FakeRepository:
    return FakeRepository({HEAD: {str(place): content for place, content in enumerate(contents)}})


def lines(file: FileChange) -> list[list[int]]:
    """The head's lines that each hunk shows."""
    return [[line.new for line in hunk.lines if line.new] for hunk in file.hunks]


def test_a_real_pull_request_is_widened_on_both_sides(tmp_path: Path) -> None:
    java = "class A {{\r\n\r\n\tvoid f() {{\r\n{}\t}}\r\n}}\r\n"
    steps = [f"\t\tstep({number});\r\n" for number in range(1, 13)]
    history = History(tmp_path / "repo", bare=True)
    history.commit({"A.java": java.format("".join(steps)), "a.py": CODE, "README.md": "a\n"})
    history.switch("change", create=True)
    changed = [*steps[:5], "\t\tmore();\r\n", *steps[5:]]
    moved = CODE.replace("x = 1", "x = 1\n    y = 2").replace("        step(8)\n", "")
    new = {"A.java": java.format("".join(changed)), "new.py": "z = 1\n", "README.md": "b\n"}
    history.commit({**new, "a.py": None, "b.py": moved})
    operator = open_repository(history.path)
    with open_store(operator) as store:
        pull = take_snapshot(store, operator.resolve("main"), operator.resolve("change"))
        result = widen_hunks(pull.files, store, Parser(), SOON)
        assert [file.path for file in result] == ["A.java", "README.md", "b.py", "new.py"]
        assert [file is same for file, same in zip(result, pull.files, strict=True)] == [
            False,
            True,
            False,
            True,
        ]
        assert lines(result[0]) == [[1], list(range(3, 18))]
        assert lines(result[2]) == [list(range(1, 16))]
        for file, before in zip(result, pull.files, strict=True):
            contents = store.read([blob for blob in (file.old_blob, file.new_blob) if blob])
            check_side(file, "old", contents[file.old_blob] if file.old_blob else b"")
            check_side(file, "new", contents[file.new_blob] if file.new_blob else b"")
            assert changes(file) == changes(before)


def changes(file: FileChange) -> list[Line]:
    return [line for hunk in file.hunks for line in hunk.lines if line.sign != " "]


def check_side(file: FileChange, side: str, content: bytes | None) -> None:
    """Every line of the side is the file's line of that number."""
    texts = (content or b"").decode().splitlines(keepends=True)
    for hunk in file.hunks:
        numbered = [(getattr(line, side), line.text + line.end) for line in hunk.lines]
        told = [(number, text) for number, text in numbered if number]
        assert [text for _, text in told] == [texts[number - 1] for number, _ in told]
        begin = getattr(hunk, f"{side}_start")
        assert [number for number, _ in told] == list(range(begin, begin + len(told)))


HUGE = CODE + "# filler\n" * 120_000
LATIN = CODE.encode() + b"# \xe9\n"


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("a.rb", CODE),
        ("a.json", "{}\n" * 20),
        ("docs/a.md", CODE),
        ("vendor/a.py", CODE),
        ("a.py", HUGE),
        ("a.py", LATIN),
        ("a.py", b"# coding: shift_jis\n" + CODE.encode()),
        ("a.py", "x = 1\n" * 20),
    ],
    ids=["unknown", "data", "prose", "vendored", "huge", "latin-1", "encoded", "plain"],
)
def test_a_file_without_surroundings_stays_as_it_is(path: str, content: str | bytes) -> None:
    file = edited(path, content)
    assert widen_hunks([file], repository(content), Parser(), SOON) == (file,)


def test_a_parser_that_dies_leaves_the_files() -> None:
    dying = Parser(run_worker_with_exit_code=lambda *_: (b"", 3))
    file = edited("a.py")
    assert widen_hunks([file], repository(CODE), dying, SOON) == (file,)


def test_a_hostile_text_leaves_its_own_file() -> None:
    bomb = "class A {\n" * 8 + "int x = " + "a<" * 9_000 + "\n" + ("a<" * 9_000 + "\n") * 5
    files = [edited("A.java", bomb), edited("a.py")]
    first, second = widen_hunks(files, repository(bomb, CODE), Parser(), SOON)
    assert first is files[0]
    assert lines(second)[0] == [1]


def test_of_more_text_than_is_looked_at_the_smaller_files_come_first() -> None:
    large = CODE + f'y = "{"x" * 900}"\n' * 1_150
    small = edited("z.py")
    files = [*(edited(f"{number}.py", large) for number in range(9)), small]
    result = widen_hunks(files, repository(large, CODE), Parser(), SOON)
    assert [len(file.hunks) for file in result] == [*[2] * 8, 1, 2]


@dataclass
class DamagedRepository(FakeRepository):
    def read(self, blobs: Sequence[str]) -> Mapping[str, bytes | None]:
        raise SourceError("an object is damaged", remedy="git fsck")


def test_a_repository_that_cannot_be_read_leaves_the_files() -> None:
    files: Files = {"a.py": CODE}
    file = edited("a.py")
    damaged = DamagedRepository({BASE: files, HEAD: files})
    assert widen_hunks([file], damaged, Parser(), SOON) == (file,)
