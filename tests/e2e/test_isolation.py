"""A build runs as the same user: nothing of ours is loaded from the disk once one has begun."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.conftest import Run
from fakes import llm
from fakes.chat_server import says, serving
from fakes.github import pull_payload, running, side_payload
from fakes.history import History

ROOT = Path(__file__).resolve().parents[2]
WATCHED = ROOT / "tests" / "fakes" / "watched.py"
FORMATS = ("json", "html", "sarif", "markdown", "feedback")
PYPROJECT = '[project]\nname = "x"\nversion = "1"\nrequires-python = ">=3.12"\n'
#: Everything that could be loaded: code ends the process well, rules and templates say nothing.
TAMPER = """
import pathlib, sys
for file in map(pathlib.Path, sys.argv[1:]):
    for each in file.rglob("*"):
        if each.suffix == ".py":
            each.write_text(each.read_text() + "\\nimport os\\nos._exit(0)\\n")
        elif each.suffix in {".yml", ".j2", ".css", ".json"}:
            each.write_text("")
"""
LAUNCH = "import sys; sys.path.insert(0, {!r}); from prjury.__main__ import main; main()"


def environ(**more: str) -> dict[str, str]:
    keys = ("_API_KEY", "_TOKEN", "OPENAI_BASE_URL", "GIT_", "GITHUB_")
    return {k: v for k, v in os.environ.items() if not any(w in k for w in keys)} | more


def policy(file: Path, command: str, *, backports_built: bool = False) -> Path:
    """A build by this command, after which everything else is asked."""
    file.write_text(
        json.dumps(
            {
                "version": 1,
                "tiers": [
                    {"name": "build", "judges": ["merge", {"build": {"command": command}}]},
                    {"name": "patterns", "judges": ["patterns"], "continue_on_reject": True},
                    {"name": "quality", "policy": "final_tier", "judges": ["quality"]},
                ],
                "backport": {"build": backports_built},
                "sandbox": {"level": "L1"},  # at L2 nothing of ours can be written
            }
        )
    )
    return file


@pytest.fixture
def history(tmp_path: Path) -> History:
    """A change that adds a module which the declared Python no longer has."""
    history = History(tmp_path / "repo")
    history.commit({"pyproject.toml": PYPROJECT, "a.py": "x = 1\n"})
    history.branch("release")
    history.switch("change", create=True)
    history.commit({"a.py": "import imp\nx = 1\n"}, "Import imp")
    return history


def run(command: list[str], cwd: Path, **more: str) -> Run:
    done = subprocess.run(
        command, cwd=cwd, env=environ(**more), capture_output=True, check=False, timeout=300
    )
    return Run(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.mark.parametrize(
    "printed",
    ["terminal", "json", *(pytest.param(name, marks=pytest.mark.nightly) for name in FORMATS[1:])],
)
def test_f1_a_build_that_rewrites_us_changes_nothing(
    history: History, tmp_path: Path, printed: str
) -> None:
    copy = tmp_path / "installed"
    shutil.copytree(ROOT / "src" / "prjury", copy / "src" / "prjury")
    shutil.copytree(ROOT / "templates", copy / "templates")
    (tmp_path / "tamper.py").write_text(TAMPER)
    tamper = f"{sys.executable} {tmp_path}/tamper.py {copy}"
    arguments = ["review", "--repo", str(history.path), "--base", "main", "--head", "change"]
    arguments += ["--format", printed, "--onto", "release", "--offline", "--config"]
    program = [sys.executable, "-c", LAUNCH.format(str(copy / "src")), *arguments]
    honest = run([*program, str(policy(tmp_path / "honest.yml", "true"))], tmp_path)
    tampered = run([*program, str(policy(tmp_path / "tampered.yml", tamper))], tmp_path)

    assert "os._exit(0)" in (copy / "src" / "prjury" / "report" / "codec.py").read_text()
    assert (honest.code, tampered.code) == (1, 1), tampered.err
    assert "imp" in tampered.out
    assert len(tampered.out) > 0.9 * len(honest.out)


@pytest.mark.parametrize("built", [False, True], ids=["patterns alone", "backports built"])
def test_f1_nothing_is_loaded_after_a_build_has_begun(
    history: History, tmp_path: Path, built: bool
) -> None:
    listed, own = tmp_path / "listed", policy(tmp_path / "own.yml", "true", backports_built=built)
    outputs = [f"--output={name}={tmp_path}/report.{name}" for name in FORMATS]
    arguments = ["review", "--repo", str(history.path), "--base", "main", "--head", "change"]
    arguments += ["--config", str(own), "--onto", "release", "--model", "openai:gpt-test", *outputs]
    with serving(says(llm.reply())) as server:
        more = {"OPENAI_API_KEY": "sk-test-1234567890", "OPENAI_BASE_URL": server.url}
        more["XDG_CACHE_HOME"] = str(tmp_path / "cache")
        program = [sys.executable, "-P", str(WATCHED), str(listed), "prjury", *arguments]
        done = run(program, tmp_path, **more)
        asked = len(server.requests)

    assert done.code == 1, done.err
    assert asked > 0
    assert listed.read_text() == "begun \n"


def test_f1_nothing_is_loaded_after_a_build_in_the_action(tmp_path: Path, history: History) -> None:
    listed = tmp_path / "listed"
    own = json.loads(policy(tmp_path / "own.yml", "true").read_text())
    history.switch("main")
    history.commit({".github/prjury.yml": json.dumps(own)})
    with running() as fake:
        payload = pull_payload(fake.url, "octo/shop", 7)
        payload["base"]["sha"], payload["head"]["sha"] = history.sha("main"), history.sha("change")
        history.git("update-ref", "refs/pull/7/head", "change")
        side = side_payload(fake.url, "octo/shop", "change", history.sha("change"))
        fake.add_pull("octo/shop", 7, head=side)
        (tmp_path / "event.json").write_text(
            json.dumps({"action": "synchronize", "pull_request": payload})
        )
        done = run(
            [sys.executable, "-P", str(WATCHED), str(listed), "action"],
            tmp_path,
            SERVER_REPOSITORY=history.url,
            GITHUB_EVENT_NAME="pull_request",
            GITHUB_EVENT_PATH=str(tmp_path / "event.json"),
            GITHUB_REPOSITORY="octo/shop",
            GITHUB_API_URL=fake.url,
            GITHUB_SERVER_URL="https://github.com",
            GITHUB_RUN_ID="12",
            GITHUB_RUN_ATTEMPT="1",
            GITHUB_OUTPUT=str(tmp_path / "output"),
            GITHUB_STEP_SUMMARY=str(tmp_path / "summary"),
            RUNNER_TEMP=str(tmp_path),
            PRJURY_INPUT_GITHUB_TOKEN="ghs_actions",
        )
        bodies = fake.bodies

    assert done.code == 1, done.err
    assert len(bodies) == 1
    assert listed.read_text() == "begun \n"


def test_without_a_build_nothing_is_loaded_beforehand(history: History, tmp_path: Path) -> None:
    """The price is paid by those who build."""
    script = (
        "import atexit, sys; from prjury.__main__ import main\n"
        "atexit.register(lambda: print('loaded', 'prjury.loading' in sys.modules and "
        "'prjury.action.publishing' in sys.modules, file=sys.stderr)); main()"
    )
    arguments = ["review", "--repo", str(history.path), "--base", "main", "--head", "change"]
    done = run([sys.executable, "-c", script, *arguments, "--no-build", "--no-llm"], tmp_path)

    assert "loaded False" in done.err
