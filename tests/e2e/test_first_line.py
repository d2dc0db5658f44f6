"""The first line and what was read: what a green gate rests on, over small real repositories."""

from __future__ import annotations

from pathlib import Path

import pytest

from e2e.conftest import Prjury, Run
from fakes.derivation import gate_from_report
from fakes.history import Entry, Files, History, submodule
from prjury.jury.gate import Gate

PROJECT = {
    "pyproject.toml": '[project]\nname = "x"\nrequires-python = ">=3.12"\n',
    "a.py": "x = 1\n",
    "README.md": "# x\n",
}
UNBUILT = ("--no-build", "--no-llm")
GONE = "import imp\n"
UNREAD = "not built; no file read; no model asked"


def reviewed(
    prjury: Prjury, path: Path, after: Files, before: Files | None = None, *args: str
) -> Run:
    """The review, not built and without a model, of a change to a small Python project."""
    history = History(path / "repo")
    history.commit({**PROJECT, **(before or {})}, "start")
    history.switch("change", create=True)
    history.commit(after, "Change it")
    more = args or UNBUILT
    return prjury("review", "--repo", history.path, *more, "--format", "json")


def headline(run: Run) -> str:
    line: str = run.report["verdict"]["headline"]
    return line


@pytest.mark.parametrize(
    ("after", "line"),
    [
        ({}, "✅ Nothing found against it (no file changes; not built; no model asked)"),
        (
            {"README.md": "# y\n"},
            "✅ Nothing found against it (only documentation changes; not built; no model asked)",
        ),
        ({"x.unknown": "y\n"}, f"✅ Nothing found against it ({UNREAD})"),
        ({"a.py": "x = 2\n"}, "✅ Nothing found against it (not built; no model asked)"),
        (
            {"a.py": "x = 2\n", "b.rb": "y\n", "logo.png": b"\0\1"},
            "✅ Nothing found against it (not built; 2 of 3 files not read; no model asked)",
        ),
    ],
)  # fmt: skip
def test_an_unbuilt_change_is_never_called_ready(
    prjury: Prjury, tmp_path: Path, after: Files, line: str
) -> None:
    run = reviewed(prjury, tmp_path, after)
    assert (run.code, headline(run)) == (0, line), run.err
    coverage = run.report["coverage"]
    assert coverage["files_total"] == len(after)
    assert coverage["files_judged"] + len(coverage["not_checked"]) == len(after)


def test_every_form_says_what_was_not_done(prjury: Prjury, tmp_path: Path) -> None:
    history = History(tmp_path / "repo")
    history.commit(PROJECT, "start")
    history.switch("change", create=True)
    history.commit({"README.md": "# y\n"}, "Change it")
    for form in ("terminal", "markdown", "html", "feedback"):
        out = prjury("review", "--repo", history.path, *UNBUILT, "--format", form).out
        assert "Nothing found against it" in out
        assert "not built" in out
        assert "Ready to merge" not in out
        assert "Nothing has to be fixed" not in out
        assert "sandbox" not in out


@pytest.mark.parametrize(
    "path", ["vendor/evil.py", "third_party/evil.py", "node_modules/evil.py", "evil_pb2.py"]
)
def test_a_name_hides_nothing(prjury: Prjury, tmp_path: Path, path: str) -> None:
    run = reviewed(prjury, tmp_path, {path: GONE})
    assert run.code == 1, run.err
    assert run.report["coverage"]["added_lines_total"] == 1
    checks = run.judgment("patterns")["checks"]
    assert [c["location"]["path"] for c in checks if not c["passed"]] == [path]


def test_a_minified_file_counts_until_the_base_exempts_it(prjury: Prjury, tmp_path: Path) -> None:
    large: Files = {"a.py": "x = 2\n", "static/vendor.min.js": "a;" * 20_000 + "\n" + "b;\n" * 50}
    run = reviewed(prjury, tmp_path / "1", large)
    assert run.code == 3
    assert "only 1 of 52 added lines were judged" in headline(run)
    policy = "version: 1\ncoverage: {exempt: ['*.min.js']}\n"
    for number, before in enumerate(
        ({".github/prjury.yml": policy}, {".gitattributes": "static/** linguist-vendored\n"})
    ):
        run = reviewed(prjury, tmp_path / f"exempt{number}", large, before)
        assert run.code == 0, run.err
        assert headline(run) == (
            "✅ Nothing found against it (not built; 1 of 2 files not read; no model asked)"
        )
        assert run.report["coverage"]["not_checked"][0]["path"] == "static/vendor.min.js"


def test_the_heads_own_attributes_and_policy_exempt_nothing(prjury: Prjury, tmp_path: Path) -> None:
    own: Files = {
        ".gitattributes": "* linguist-generated\n",
        ".github/prjury.yml": "version: 1\ncoverage: {exempt: ['**']}\n",
        "lib/a.jar": b"PK\0",
    }
    run = reviewed(prjury, tmp_path, own)
    assert run.code == 3
    assert headline(run) == "⚠️ Needs a human: lib/a.jar changed, and no judge can read such content"


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("gradle/wrapper/gradle-wrapper.jar", b"PK\0"),
        ("native/a.so", b"\x7fELF\0"),
        ("a.wasm", b"\0asm"),
        ("bin/tool", Entry(b"\x7fELF\0", "100755")),
        ("lib", submodule("1" * 40)),
    ],
)
def test_swapped_content_needs_a_human_unless_the_base_exempts_it(
    prjury: Prjury, tmp_path: Path, path: str, content: bytes | Entry
) -> None:
    run = reviewed(prjury, tmp_path / "1", {path: content})
    assert (run.code, run.report["verdict"]["gate"]) == (3, "action_required")
    assert f"{path} changed" in headline(run)
    assert run.report["coverage"]["unread_content"] == [path]
    assert gate_from_report(run.report) is Gate.ACTION_REQUIRED

    policy = f"version: 1\ncoverage: {{exempt: [{path}]}}\n"
    run = reviewed(prjury, tmp_path / "2", {path: content}, {".github/prjury.yml": policy})
    assert run.code == 0, run.err
    assert headline(run).startswith("✅ Nothing found against it (not built; no file read")


def test_a_lock_file_that_is_understood_is_read(prjury: Prjury, tmp_path: Path) -> None:
    lock = 'version = 1\n\n[[package]]\nname = "numpy"\nversion = "2.1"\n'
    run = reviewed(prjury, tmp_path / "1", {"uv.lock": lock})
    assert run.report["coverage"]["not_checked"] == []
    assert run.report["coverage"]["added_lines_judged"] == 5
    run = reviewed(prjury, tmp_path / "2", {"go.sum": "x v1 h1:y\n"})
    assert run.report["coverage"]["not_checked"] == [{"path": "go.sum", "reason": "lock file"}]


@pytest.mark.parametrize(
    ("line", "label"),
    [
        ("import imp  # prjury-ignore[python-stdlib/imp]\n", "prjury-ignore"),
        ("import imp  # noqa\n", "noqa"),
    ],
)
def test_a_change_that_silences_an_error_needs_a_human(
    prjury: Prjury, tmp_path: Path, line: str, label: str
) -> None:
    run = reviewed(prjury, tmp_path, {"a.py": line})
    assert (run.code, run.judgment("patterns")["label"]) == (3, "suppressed_here")
    assert headline(run).startswith(
        f"⚠️ Needs a human: this change silences 1 error by {label}: python-stdlib/"
    )
