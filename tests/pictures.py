"""Makes the pictures of the README and the docs, from real runs on the demo's repository.

    uv run python tests/pictures.py [NAME ...]

Needs Chromium (`apt-get install chromium fonts-noto-color-emoji`), and uses pngquant for smaller
files where it is there. The pull requests are merged, built and judged; what is drawn is what the
report's own renderers say of them, with the frame of a page like GitHub's around it. Times are
those of the run.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup
from rich.console import Console
from rich.text import Text

from fakes.github import running
from fakes.writing import connected
from prjury.app.request import ReviewRequest, RunEnvironment
from prjury.app.review import run
from prjury.demo.repository import PULLS, make_repository
from prjury.git.open_snapshot import SnapshotRequest
from prjury.github.repo_client import RepoClient
from prjury.publishers.check_run import NAME, CheckRunReport
from prjury.report.annotations import Annotation
from prjury.report.model import Report
from prjury.report.render import Renderer

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / ".github" / "docs" / "pictures"
#: The digest of the templates when the pictures were drawn.
DRAWN = PICTURES / "templates.sha256"
LAYOUTS = Path(__file__).resolve().with_suffix("")
#: Bytes of one picture; a README is also read on a train.
LARGEST = 250_000
SCALE = 2
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
COLUMNS = 100
#: The environment of the command that is drawn: no keys, no tokens, English.
_PLAIN = {"LANG": "C.UTF-8", "TERM": "xterm-256color", "COLUMNS": str(COLUMNS), "LINES": "50"}
_PNG = b"\x89PNG\r\n\x1a\n"
#: Directories of this machine; the last part of a path says enough.
_ABSOLUTE = re.compile(r"(?<![\w/.:])/(?:tmp|var|home|root|work|private)/[^\s<>\"'`]*/")
_MEASURE = (
    "<script>document.documentElement.id = 'h' + document.documentElement.offsetHeight</script>"
)


class MissingToolError(Exception):
    """A program that the pictures cannot be made without."""


@dataclass(frozen=True)
class Picture:
    """One picture: what is on it and how wide it is, in CSS pixels."""

    name: str
    width: int
    draw: Callable[[Runs], str]


@dataclass
class Runs:
    """The demo's repository, and the reports on its pull requests, each judged once."""

    repository: Path
    _reports: dict[int, Report] = field(default_factory=dict)

    def report(self, number: int) -> Report:
        """The report on a pull request, as a run for GitHub would give it."""
        if number not in self._reports:
            facts = {
                "repo": "acme/shelf",
                "url": f"https://github.com/acme/shelf/pull/{number}",
                "title": next(pull.title for pull in PULLS if pull.number == number),
                "author": "mia",
            }
            wanted = SnapshotRequest(self.repository, number, facts=facts)
            found = run(ReviewRequest(wanted), RunEnvironment(_environment()))
            self._reports[number] = found
        return self._reports[number]

    def lines(self, report: Report, path: str, first: int, last: int) -> list[tuple[int, str]]:
        """Some lines of a file at the head, with their numbers."""
        shown = ["git", "-C", str(self.repository), "show", f"{report.pull.head.sha}:{path}"]
        every = subprocess.run(shown, check=True, capture_output=True, text=True).stdout.split("\n")
        first = max(1, first)
        return list(enumerate(every[first - 1 : last], first))


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return kept | _PLAIN


def rendered(markdown: str) -> Markup:
    """Markdown as GitHub shows it: tables, folds, no line that is hidden."""
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    return Markup(parser.render(markdown))  # noqa: S704 - our own reports on our own sample


def without_places(text: str) -> str:
    """A text without the directories of the machine that the pictures are made on."""
    return _ABSOLUTE.sub("…/", text)


def layout(name: str, **values: Any) -> str:
    """A page of `tests/pictures`, filled in."""
    environment = Environment(
        loader=FileSystemLoader(LAYOUTS), undefined=StrictUndefined, autoescape=True
    )
    style = Markup((LAYOUTS / "page.css").read_text())  # noqa: S704 - ours
    return without_places(environment.get_template(name).render(style=style, **values))


def comment(number: int, theme: str) -> Callable[[Runs], str]:
    """The sticky comment on a pull request."""

    def draw(runs: Runs) -> str:
        body = rendered(Renderer().comment(runs.report(number)))
        return layout("comment.html", body=body, theme=theme)

    return draw


def check(number: int, theme: str) -> Callable[[Runs], str]:
    """The check run's page: its annotations at their lines, then its text."""

    def draw(runs: Runs) -> str:
        report = runs.report(number)
        head = report.pull.head.sha
        with running() as fake, connected(fake) as hub:
            fake.add_pull("acme/shelf", number)["head"]["sha"] = head
            CheckRunReport(RepoClient(hub, "acme/shelf"), number, Renderer().check).publish(report)
            (shown,), annotations = fake.checks(head), fake.annotations_of(NAME, head)
        places = [
            _Place(one, runs.lines(report, one["path"], *_around(one))) for one in annotations
        ]
        return layout(
            "check.html",
            theme=theme,
            check=NAME,
            said={"conclusion": shown["conclusion"], **shown["output"]},
            summary=rendered(shown["output"]["summary"]),
            text=rendered(shown["output"]["text"]),
            places=places,
        )

    return draw


@dataclass(frozen=True)
class _Place:
    annotation: Annotation
    lines: Sequence[tuple[int, str]]


def _around(annotation: Annotation) -> tuple[int, int]:
    return annotation["start_line"] - 2, annotation["end_line"]


def terminal(number: int) -> Callable[[Runs], str]:
    """What ``prjury review NUMBER`` prints on a screen."""

    def draw(runs: Runs) -> str:
        command = f"prjury review {number}"
        printed = on_a_screen([sys.executable, "-m", *command.split()], runs.repository)
        body = Markup(coloured(printed))  # noqa: S704 - escaped by rich
        return layout("terminal.html", command=command, body=body)

    return draw


def on_a_screen(command: Sequence[str], directory: Path) -> str:
    """What a command prints to a terminal; what it says of its progress is left out."""
    ours, theirs = pty.openpty()
    try:
        process = subprocess.Popen(
            command,
            cwd=directory,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs)
        printed = b"".join(_chunks(ours))
        process.wait()
    finally:
        os.close(ours)
    return printed.decode().replace("\r\n", "\n")


def _chunks(descriptor: int) -> Iterator[bytes]:
    while True:
        try:
            chunk = os.read(descriptor, 65_536)
        except OSError:  # Linux reports the end of a pseudo-terminal as an error
            return
        if not chunk:
            return
        yield chunk


def coloured(printed: str) -> str:
    """The text of a terminal, with its colours, as HTML."""
    console = Console(
        file=io.StringIO(), record=True, width=COLUMNS, force_terminal=True, legacy_windows=False
    )
    console.print(Text.from_ansi(printed.rstrip("\n")), soft_wrap=True)
    return console.export_html(inline_styles=True, code_format="{code}", theme=_theme())


def _theme() -> Any:
    from rich.terminal_theme import TerminalTheme  # noqa: PLC0415 - for this picture alone

    normal = [(1, 4, 9), (255, 123, 114), (86, 211, 100), (227, 179, 65)]
    normal += [(121, 192, 255), (210, 168, 255), (86, 212, 221), (230, 237, 243)]
    return TerminalTheme((13, 17, 23), (230, 237, 243), normal, [(139, 148, 158), *normal[1:]])


def page(number: int) -> Callable[[Runs], str]:
    """The report as a page."""
    return lambda runs: without_places(Renderer().html(runs.report(number)))


WANTED = (
    *(Picture(f"comment-fail-{theme}", 760, comment(2, theme)) for theme in ("light", "dark")),
    *(Picture(f"comment-pass-{theme}", 760, comment(1, theme)) for theme in ("light", "dark")),
    *(Picture(f"check-{theme}", 860, check(3, theme)) for theme in ("light", "dark")),
    Picture("terminal", 900, terminal(3)),
    Picture("report", 1100, page(2)),
)


@dataclass(frozen=True)
class Browser:
    """Chromium without a window.

    Raises:
        MissingToolError: where there is none.
    """

    program: str

    @classmethod
    def found(cls, which: Callable[[str], str | None] = shutil.which) -> Browser:
        """The first one on the path."""
        program = next(filter(None, map(which, BROWSERS)), None)
        if program is None:
            raise MissingToolError(
                f"no Chromium: none of {', '.join(BROWSERS)} is on the PATH; "
                "install it, on Debian with: apt-get install chromium fonts-noto-color-emoji"
            )
        return cls(program)

    def take_snapshot(self, source: str, width: int, target: Path) -> None:
        """Writes the whole page as a PNG, however high it is."""
        with tempfile.TemporaryDirectory(prefix="prjury-pictures-") as place:
            measured = Path(place) / "measured.html"
            measured.write_text(measurable(source), "utf-8")
            dumped = self._run(place, "--dump-dom", f"--window-size={width},800", measured)
            plain = Path(place) / "page.html"
            plain.write_text(source, "utf-8")
            size = f"--window-size={width},{height_in(dumped)}"
            self._run(place, f"--screenshot={target}", size, plain)

    def _run(self, place: str, what: str, size: str, file: Path) -> str:
        command = [
            self.program,
            *("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"),
            *("--hide-scrollbars", f"--force-device-scale-factor={SCALE}", size),
            *(f"--user-data-dir={place}/profile", what, file.as_uri()),
        ]
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
        return done.stdout


def measurable(source: str) -> str:
    """A page that tells its height, whatever it forbids to scripts."""
    allowed = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", source)
    return allowed.replace("</body>", f"{_MEASURE}</body>")


def height_in(dumped: str) -> int:
    """The height that such a page tells, in CSS pixels."""
    match = re.search(r'<html[^>]* id="h(\d+)"', dumped)
    if not match:
        raise ValueError("the browser did not tell how high the page is")
    return int(match[1])


def size_of(png: bytes) -> tuple[int, int]:
    """The width and the height of a PNG, in its own pixels."""
    if not png.startswith(_PNG):
        raise ValueError("this is no PNG")
    width, height = struct.unpack(">II", png[16:24])
    return width, height


def smaller(file: Path, which: Callable[[str], str | None] = shutil.which) -> None:
    """Fewer colours, where there is a tool that can do it."""
    if program := which("pngquant"):
        command = [program, "--force", "--skip-if-larger", "--strip", "--output", str(file)]
        subprocess.run([*command, "64", str(file)], check=False)


@contextmanager
def _judged() -> Iterator[Runs]:
    with tempfile.TemporaryDirectory(prefix="prjury-pictures-") as place:
        repository = Path(place) / "shelf.git"
        make_repository(repository)
        yield Runs(repository)


def main(arguments: Sequence[str], which: Callable[[str], str | None] = shutil.which) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    every = {one.name: one for one in WANTED}
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(every))
    names = parser.parse_args(arguments).names
    if unknown := set(names) - set(every):
        parser.error(f"no such picture: {', '.join(sorted(unknown))}")
    try:
        browser = Browser.found(which)
    except MissingToolError as error:
        sys.stderr.write(f"pictures: {error}\n")
        return 1
    PICTURES.mkdir(parents=True, exist_ok=True)
    with _judged() as runs:
        sizes = [_made(every[name], runs, browser) for name in names or every]
    if not names:
        DRAWN.write_text(f"{templates_digest()}\n")
    return 0 if max(sizes) < LARGEST else 1


def templates_digest() -> str:
    """Digest of the templates that the pictures show."""
    files = [file for place in (ROOT / "templates", LAYOUTS) for file in place.glob("*.*")]
    shown = sorted(file for file in files if file.suffix in {".j2", ".css", ".html"})
    return hashlib.sha256(b"".join(map(Path.read_bytes, shown))).hexdigest()


def _made(picture: Picture, runs: Runs, browser: Browser) -> int:
    target = PICTURES / f"{picture.name}.png"
    browser.take_snapshot(picture.draw(runs), picture.width, target)
    smaller(target)
    png = target.read_bytes()
    width, height = size_of(png)
    note = "" if len(png) < LARGEST else f", more than {LARGEST:,}"
    sys.stdout.write(f"{target.name}: {width} × {height}, {len(png):,} bytes{note}\n")
    return len(png)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
