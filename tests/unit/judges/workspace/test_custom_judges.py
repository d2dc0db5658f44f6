from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from prjury.errors import UsageError
from prjury.judges.workspace.custom_judges import is_own, make_own_judge
from prjury.jury.context import JudgmentContext
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Judgment, Status
from prjury.jury.jury import Jury
from prjury.jury.voting import Ballot, MajorityVoting

JUDGES = '''
import prjury
from neighbour import WORD
from prjury import Judgment

def plain(context):
    """Looks."""
    return Judgment.passed(f"{WORD} {context.goal}")

async def later(context):
    return Judgment.failed("later")

@prjury.judge(name="decorated-one", type=prjury.JudgeType.AGENT)
def decorated(context):
    return Judgment.passed("decorated")

class Judging:
    name = "by-name"
    def __init__(self, word="none", number=None):
        if number == "many":
            raise ValueError("many is no number")
        if number == "broken":
            raise RuntimeError("broken inside")
        self.word = word
    def judge(self, context):
        return Judgment.passed(f"word {self.word}")

class Nameless:
    def judge(self, context):
        return Judgment.passed("nameless")

class Calling:
    def __call__(self, context):
        return Judgment.passed("called")

instance = Judging("ready")
calling = Calling()

def factory(*, word, number="1"):
    def inner(context):
        return Judgment.passed(f"{word} {number}")
    return inner

def ready():
    return instance

class Group:
    judges = instance

def crash(context):
    raise RuntimeError("it broke")

def wrong(context):
    return True

class Nothing:
    pass

number = 3
smallest = min  # a built-in function that tells no signature
_private = 4
'''


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A directory with a file of judges; what loading it leaves behind is taken away."""
    before, modules = list(sys.path), set(sys.modules)
    package = tmp_path / "own_package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "judges.py").write_text(JUDGES)
    (package / "broken.py").write_text("import no_such_module_anywhere\n")
    (tmp_path / "judges.py").write_text(JUDGES)
    (tmp_path / "neighbour.py").write_text("WORD = 'said'\n")
    (tmp_path / "syntax.py").write_text("def x(:\n")
    (tmp_path / "leaves.py").write_text("import sys\nsys.exit(0)\n")
    yield tmp_path
    sys.path[:] = before
    for name in set(sys.modules) - modules:
        del sys.modules[name]


def asked(place: Path, name: str, **options: str) -> Ballot:
    jury = Jury.of(MajorityVoting(), make_own_judge(name, options, place))
    return jury.vote(JudgmentContext("goal", workspace=place)).ballots[0]


def refusal(place: Path, name: str, **options: str) -> str:
    with pytest.raises(UsageError) as refused:
        make_own_judge(name, options, place)
    return str(refused.value)


@pytest.mark.parametrize("where", ["judges.py", "own_package.judges"])
@pytest.mark.parametrize(
    ("attribute", "options", "name", "said"),
    [
        ("plain", {}, None, Judgment.passed("said goal")),
        ("later", {}, None, Judgment.failed("later")),
        ("decorated", {}, "decorated-one", Judgment.passed("decorated")),
        ("instance", {}, "by-name", Judgment.passed("word ready")),
        ("Judging", {}, "by-name", Judgment.passed("word none")),
        ("Judging", {"word": "x"}, "by-name", Judgment.passed("word x")),
        ("Nameless", {}, None, Judgment.passed("nameless")),
        ("calling", {}, None, Judgment.passed("called")),
        ("factory", {"word": "a"}, None, Judgment.passed("a 1")),
        ("factory", {"word": "a", "number": "2"}, None, Judgment.passed("a 2")),
        ("ready", {}, "by-name", Judgment.passed("word ready")),
        ("Group.judges", {}, "by-name", Judgment.passed("word ready")),
    ],
)
def test_judges_of_all_forms(
    place: Path,
    where: str,
    attribute: str,
    options: dict[str, str],
    name: str | None,
    said: Judgment,
) -> None:
    ballot = asked(place, f"{where}:{attribute}", **options)
    assert ballot.judgment == said
    assert ballot.judge == (name or f"{where}:{attribute}")


def test_a_judge_keeps_its_type(place: Path) -> None:
    assert asked(place, "judges.py:decorated").type is JudgeType.AGENT
    assert asked(place, "judges.py:plain").type is JudgeType.DETERMINISTIC


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("judges.py:crash", "crashed with RuntimeError: it broke"),
        (
            "judges.py:wrong",
            "crashed with TypeError: judges.py:wrong returned a bool instead of a Judgment",
        ),
        (
            "own_package.broken:x",
            "crashed with ModuleNotFoundError: No module named 'no_such_module_anywhere'",
        ),
        ("leaves.py:x", "crashed with SystemExit: 0"),
        (
            "judges.py:smallest",
            "crashed with TypeError: 'JudgmentContext' object is not iterable",
        ),
    ],
)
def test_crashes_are_errors(place: Path, name: str, told: str) -> None:
    ballot = asked(place, name)
    assert (ballot.judge, ballot.judgment.status) == (name, Status.ERROR)
    assert ballot.judgment.reasoning == told
    assert ballot.judgment.metadata == {"reason": "crashed"}


def test_a_factory_that_breaks_is_an_error(place: Path) -> None:
    judgment = asked(place, "judges.py:Judging", number="broken").judgment
    assert judgment.status is Status.ERROR
    assert judgment.reasoning == "crashed with RuntimeError: broken inside"


FORMS = "Name a judge of yours as package.module:function or path/to/file.py:function."


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("judges.py", f"judges.py does not say which function judges. {FORMS}"),
        ("judges.py:", f"judges.py: does not say which function judges. {FORMS}"),
        (":plain", f":plain does not say which function judges. {FORMS}"),
        ("nowhere.py:x", f"there is no module or file nowhere.py. {FORMS}"),
        ("no/where:x", f"there is no module or file no/where. {FORMS}"),
        ("own_package.nothing:x", f"there is no module or file own_package.nothing. {FORMS}"),
        (
            "own_package.judges.plain:x",
            f"there is no module or file own_package.judges.plain. {FORMS}",
        ),
        ("no_such_package.x:y", f"there is no module or file no_such_package.x. {FORMS}"),
        ("not a name:x", f"there is no module or file not a name. {FORMS}"),
        ("a..b:x", f"there is no module or file a..b. {FORMS}"),
        (
            "neighbour.py:nothing",
            "there is no nothing in neighbour.py. It holds WORD. Correct the name.",
        ),
        (
            "judges.py:number",
            (
                "judges.py:number is of type int, which cannot judge. A judge is a function of a "
                "JudgmentContext, or has a method `judge`. Name another one."
            ),
        ),
    ],
)
def test_names_of_nothing(place: Path, name: str, told: str) -> None:
    assert refusal(place, name) == told


@pytest.mark.parametrize(
    ("name", "options", "told"),
    [
        ("judges.py:Judging", {"colour": "red"}, "got an unexpected keyword argument 'colour'"),
        ("judges.py:factory", {"number": "1"}, "missing 1 required keyword-only argument: 'word'"),
        ("judges.py:instance", {"word": "1"}, "object is not callable"),
        (
            "judges.py:Judging",
            {"number": "many"},
            "refuses its options: many is no number. Correct",
        ),
        ("judges.py:Nothing", {}, "judges.py:Nothing is of type Nothing, which cannot judge"),
    ],
)
def test_options_that_do_not_fit(
    place: Path, name: str, options: dict[str, str], told: str
) -> None:
    assert told in refusal(place, name, **options)


def test_a_directory_hides_no_installed_module(place: Path) -> None:
    (place / "json.py").write_text("raise RuntimeError('hidden')\n")
    message = refusal(place, "json:nothing")
    assert message.startswith("there is no nothing in json. It holds ")
    assert sys.path[-1] == str(place)


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("a.b:c", True),
        ("a/b.py:c", True),
        ("a.py", True),
        ("command", False),
        ("file-exists", False),
    ],
)
def test_own_names(name: str, *, own: bool) -> None:
    assert is_own(name) is own
