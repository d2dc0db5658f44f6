"""The pictures in the docs: what their script does without a browser, and where they stand."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pictures import (
    DRAWN,
    LARGEST,
    PICTURES,
    SCALE,
    WANTED,
    Runs,
    coloured,
    height_in,
    layout,
    main,
    measurable,
    on_a_screen,
    rendered,
    size_of,
    templates_digest,
    without_places,
)
from prjury.demo.repository import make_repository

ROOT = Path(__file__).resolve().parents[2]
PAGES = (ROOT / "README.md", ROOT / ".github" / "docs" / "github" / "setup.md")
IMAGE = re.compile(r'<(?:img|source)[^>]* (?:src|srcset)="([^"]+\.png)"')


def embedded() -> Iterator[Path]:
    for page in PAGES:
        yield from ((page.parent / name).resolve() for name in IMAGE.findall(page.read_text()))


def test_every_picture_is_shown_somewhere_and_none_is_missing() -> None:
    assert {path.stem for path in embedded()} == {one.name for one in WANTED}
    assert set(embedded()) == set(PICTURES.glob("*.png"))


def test_the_pictures_show_the_templates_of_today() -> None:
    assert DRAWN.read_text().strip() == templates_digest(), "uv run python tests/pictures.py"


def test_whoever_does_not_see_a_picture_reads_what_is_on_it() -> None:
    for page in PAGES:
        for tag in re.findall(r"<img[^>]*>", page.read_text()):
            alt = re.search(r' alt="([^"]*)"', tag)
            assert alt
            assert len(alt[1]) > 80


def test_a_picture_is_as_wide_as_drawn_and_not_too_large() -> None:
    for one in WANTED:
        png = (PICTURES / f"{one.name}.png").read_bytes()
        assert size_of(png)[0] == one.width * SCALE
        assert len(png) < LARGEST


def test_without_a_browser_it_says_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([], which=lambda _: None) == 1
    said = capsys.readouterr().err
    assert "no Chromium" in said
    assert "apt-get install chromium" in said


def test_a_picture_that_nobody_knows_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["nonsense"], which=lambda _: None)
    assert ended.value.code == 2
    assert "no such picture: nonsense" in capsys.readouterr().err


def test_what_is_no_png_has_no_size() -> None:
    with pytest.raises(ValueError, match="no PNG"):
        size_of(b"GIF89a")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("full log: /tmp/prjury-logs-1/01-sh.log", "full log: …/01-sh.log"),
        ("<code>/home/me/a b.txt</code>", "<code>…/a b.txt</code>"),
        ("https://example.org/tmp/x and src/tmp/x", "https://example.org/tmp/x and src/tmp/x"),
        ("build / build", "build / build"),
    ],
)
def test_directories_of_this_machine_are_not_shown(text: str, shown: str) -> None:
    assert without_places(text) == shown


def test_markdown_becomes_what_a_forge_shows() -> None:
    html = rendered("| a |\n|---|\n| b |\n\n<details><summary>c</summary>\n\nd\n\n</details>\n")
    assert "<td>b</td>" in html
    assert "<details><summary>c</summary>" in html


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_page_has_its_theme_and_escapes_words(theme: str) -> None:
    page = layout("comment.html", body="<b>", theme=theme)
    assert f'data-theme="{theme}"' in page
    assert "&lt;b&gt;" in page


def test_a_page_that_forbids_scripts_can_be_measured() -> None:
    page = '<meta http-equiv="Content-Security-Policy" content="default-src"><body></body>'
    assert "Content-Security-Policy" not in measurable(page)
    assert "offsetHeight</script></body>" in measurable(page)
    assert height_in('<html lang="en" id="h1234">') == 1234
    with pytest.raises(ValueError, match="how high"):
        height_in("<html>")


def test_a_command_is_run_on_a_screen_and_keeps_its_colours(tmp_path: Path) -> None:
    program = "import sys; print('\\x1b[1;31m<no>\\x1b[0m', sys.stdout.isatty())"
    printed = on_a_screen([sys.executable, "-c", program], tmp_path)
    assert printed == "\x1b[1;31m<no>\x1b[0m True\n"
    assert re.search(
        r'<span style="[^"]*color: #ff7b72[^"]*">&lt;no&gt;</span> True', coloured(printed)
    )


def test_the_runs_are_real(tmp_path: Path) -> None:
    make_repository(tmp_path / "shelf.git")
    runs = Runs(tmp_path / "shelf.git")
    conflict = runs.report(4)
    assert conflict is runs.report(4)
    assert conflict.headline == "❌ Do not merge: merge conflicts in 1 file"
    assert conflict.pull.url == "https://github.com/acme/shelf/pull/4"
    assert runs.lines(conflict, "shelf/price.py", -1, 2)[0][0] == 1
