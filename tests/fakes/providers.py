"""The whole program over real servers: a small project, an operator's surroundings, what comes out.

    shop = Shop(tmp_path)
    shop.at(openai=server.openai, anthropic=server.anthropic)
    said = shop.review(policy(advisory=False), "--model", "openai:local")

Each key is a canary: it may reach the server that it belongs to, and nothing else. `Shop.review`
and `Shop.judge` run the command line in this process; `Shop.command` is the same for a process of
its own. Either way `Said` holds everything that the run has put out.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from fakes.chat_server import SERVER_SECRET, Behaviour, Handler
from fakes.history import History
from prjury.cli import make_app
from prjury.cli.output import Terminal
from prjury.errors import PrJuryError

OPENAI_KEY = "canary-of-the-key-for-openai-71c5"
ANTHROPIC_KEY = "canary-of-the-key-for-anthropic-b0e2"

#: What nobody may ever read: the keys, and what a server said of its failure.
UNSPEAKABLE = (OPENAI_KEY, ANTHROPIC_KEY, SERVER_SECRET)

#: The formats of a report, besides the JSON on standard output.
FORMATS = ("markdown", "html", "feedback", "terminal")

_BODY = "".join(f"STEP_{number} = {number}\n" for number in range(1, 21))
_WRONG = "\n\ndef add(a, b):\n    return a - b\n"
_RIGHT = "\n\ndef add(a, b):\n    return a + b\n"
_TEST = "from app import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"

#: Where the change stands in the head, and what it says there.
PATH, LINE, TEXT = "src/app.py", 24, "    return a + b"

_CHECKS = {"name": "checks", "policy": "reject_on_any_fail", "judges": ["merge", "patterns"]}

Policy: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Said:
    """Everything that a run has put out.

    Attributes:
        files: the report in the other formats.
    """

    code: int
    out: str
    err: str
    files: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        texts = {"stdout": self.out, "stderr": self.err, **self.files}
        for name, text in texts.items():
            leaked = [word for word in (*UNSPEAKABLE, "Traceback") if word in text]
            assert not leaked, f"{leaked} in {name}"

    @property
    def report(self) -> dict[str, Any]:
        """The JSON on standard output."""
        loaded: dict[str, Any] = json.loads(self.out)
        return loaded

    @property
    def judgment(self) -> dict[str, Any]:
        """That of the judge who asks models; the only one of the last tier."""
        (found,) = self.report["tiers"][-1]["judgments"]
        judgment: dict[str, Any] = found
        return judgment

    @property
    def reason(self) -> str:
        """The machine-readable reason of the judgment."""
        reason: str = self.judgment["metadata"]["reason"]
        return reason

    @property
    def status(self) -> str:
        """That of the verdict."""
        status: str = self.report["verdict"]["status"]
        return status

    @property
    def cost(self) -> dict[str, Any]:
        """The report's sum of what models took."""
        cost: dict[str, Any] = self.report["cost"]
        return cost

    @property
    def first_line(self) -> str:
        """Of the Markdown."""
        return self.files["markdown"].splitlines()[0]


def policy(*, advisory: bool | str = True, judge: Any = "quality", **sections: Any) -> Policy:
    """Programs first, then one judge that asks models; sections of the policy by their names.

    Each answer counts as it is: nobody is asked a second question.
    """
    last = {"name": "opinion", "policy": "final_tier", "judges": [judge], "advisory": advisory}
    return {"version": 1, "tiers": [_CHECKS, last], "review": {"confirm": False}, **sections}


class Shop:
    """A repository with a change, a home and a cache of its own, and keys.

    Args:
        place: an empty directory for all of it.
    """

    def __init__(self, place: Path) -> None:
        self.place = place
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(_made(place / "home")),
            "XDG_CACHE_HOME": str(_made(place / "cache")),
            "OPENAI_API_KEY": OPENAI_KEY,
            "ANTHROPIC_API_KEY": ANTHROPIC_KEY,
        }
        self.history = History(place / "shop")
        files = {
            PATH: _BODY + _WRONG,
            "tests/test_app.py": "def test_nothing():\n    assert True\n",
        }
        self.history.commit(files, "start")
        self.history.switch("change", create=True)
        self.history.commit({PATH: _BODY + _RIGHT, "tests/test_app.py": _TEST}, "Add for real")

    def at(self, *, openai: str | None = None, anthropic: str | None = None) -> Shop:
        """Names the servers, by the variables that the providers' own clients have for it."""
        addresses = {"OPENAI_BASE_URL": openai, "ANTHROPIC_BASE_URL": anthropic}
        self.environ |= {name: url for name, url in addresses.items() if url is not None}
        return self

    def without_keys(self) -> Shop:
        """Takes both keys away, and what would make up for them."""
        for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_BASE_URL"):
            self.environ.pop(name, None)
        return self

    def rebased(self) -> None:
        """Moves the change onto a main that has three more lines at the top of the file."""
        more = "FIRST = 1\nSECOND = 2\nTHIRD = 3\n"
        self.history.switch("main")
        self.history.commit({PATH: more + _BODY + _WRONG}, "Grow at the top")
        self.history.branch("change")
        self.history.switch("change")
        files = {PATH: more + _BODY + _RIGHT, "tests/test_app.py": _TEST}
        self.history.commit(files, "Add for real")

    def command(self, policy: Policy, *more: str) -> list[str]:
        """The arguments of ``prjury`` for a review in every format."""
        own = self.place / "policy.yml"
        own.write_text(json.dumps(policy))
        sides = ["--base", "main", "--head", "change"]
        outputs = [word for name in FORMATS for word in ("--output", f"{name}={self._file(name)}")]
        dry = "--dry-run" in more
        where = ["review", "--repo", str(self.history.path), *sides, "--config", str(own)]
        return [*where, "--format", "json", *([] if dry else outputs), *more]

    def files(self) -> dict[str, str]:
        """The reports that the last run has written."""
        return {name: self._file(name).read_text() for name in FORMATS if self._file(name).exists()}

    def review(self, policy: Policy, *more: str) -> Said:
        """``prjury review``, in this process."""
        for name in FORMATS:
            self._file(name).unlink(missing_ok=True)
        code, out, err = typed(self.command(policy, *more), self.environ)
        return Said(code, out, err, self.files())

    def judge(self, name: str, workspace: Path, *options: str) -> Said:
        """``prjury judge``, in this process."""
        words = [word for option in options for word in ("--option", option)]
        aim = ["judge", name, "--workspace", str(workspace), "--goal", "Make it add."]
        return Said(*typed([*aim, "--format", "json", *words], self.environ))

    def _file(self, name: str) -> Path:
        return self.place / f"report.{name}"


def typed(args: Sequence[str], environ: Mapping[str, str]) -> tuple[int, str, str]:
    """The command line in this process: exit code, standard output, standard error."""
    with _stream() as out, _stream() as err:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = int(
                    make_app()(list(args), standalone_mode=False, obj=Terminal(environ)) or 0
                )
            except PrJuryError as error:
                code = int(error.exit_code)
                err.write(f"{error}\n")
        return code, _text(out), _text(err)


@contextlib.contextmanager
def _stream() -> Iterator[io.TextIOWrapper]:
    """A stream with a file descriptor, which some of the program's output goes to directly."""
    with tempfile.TemporaryFile() as file, io.TextIOWrapper(file, "utf-8") as stream:
        yield stream


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    stream.seek(0)
    return stream.read()


def _made(place: Path) -> Path:
    place.mkdir()
    return place


def canary_of(handler: Handler) -> str:
    """The word that marks the instructions of the request that is being answered."""
    text = json.dumps(handler.server.requests[-1].body)
    return text.partition("The word ")[2].partition(" ")[0]


def answers(make: Callable[[str], Behaviour]) -> Behaviour:
    """A behaviour that knows the canary of its question."""
    return lambda handler: make(canary_of(handler))(handler)
