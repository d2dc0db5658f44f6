"""`prjury review` over small real projects: each verdict, each exit code, each clear line."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from e2e.conftest import Prjury, started, wait_until
from fakes.history import History

POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <parent>
    <groupId>org.springframework.boot</groupId>
    <artifactId>spring-boot-starter-parent</artifactId>
    <version>{version}</version>
  </parent>
  <groupId>shop</groupId>
  <artifactId>shop</artifactId>
  <version>1</version>
</project>
"""
ENTITY = "package shop;\n\nimport javax.persistence.Entity;\n\n@Entity\nclass Item {\n}\n"
CALC = "def add(a, b):\n    return a + b\n"
TEST = "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"
CONFIGURED = (
    "version: 1\ntiers:\n  - name: build\n    judges: [merge, {build: {command: %s}}]\n"
    "  - {name: version-patterns, judges: [patterns]}\n"
    "  - {name: quality, policy: final_tier, judges: [quality]}\n"
)


def python_project(path: Path) -> History:
    history = History(path)
    history.commit({"calc.py": CALC, "test_calc.py": TEST, "README.md": "# calc\n"}, "start")
    history.switch("change", create=True)
    return history


@pytest.fixture
def project(tmp_path: Path) -> History:
    return python_project(tmp_path / "calc")


def test_a_green_change(project: History, prjury: Prjury) -> None:
    project.commit({"calc.py": CALC + "\n\ndef sub(a, b):\n    return a - b\n"}, "Add sub")
    run = prjury("review", "--repo", project.path, "--format", "json")
    assert run.code == 0, run.err
    assert run.report["verdict"]["status"] == "pass"
    assert run.report["verdict"]["gate"] == "success"
    assert "no model" in run.report["verdict"]["headline"]
    assert run.judgment("build")["status"] == "pass"
    assert run.report["pull"]["title"] == "Add sub"
    assert run.report["coverage"]["added_lines_judged"] == 4


def test_a_change_that_breaks_a_test(project: History, prjury: Prjury) -> None:
    project.commit({"calc.py": CALC.replace("a + b", "a - b")}, "Break it")
    run = prjury("review", "--repo", project.path, "--format", "json")
    assert run.code == 1, run.err
    assert run.report["verdict"]["status"] == "fail"
    assert run.report["verdict"]["decided_by"] == "build"
    failures = run.judgment("build")["metadata"]["failures"]
    assert [(f["path"], f["kind"], f["state"]) for f in failures] == [
        ("test_calc.py", "test", "new")
    ]
    assert [tier["ran"] for tier in run.report["tiers"]] == [True, False, False]


def test_a_conflict(project: History, prjury: Prjury) -> None:
    project.commit({"calc.py": CALC.replace("a + b", "b + a")}, "Turn round")
    project.switch("main")
    project.commit({"calc.py": CALC.replace("a + b", "a + b + 0")}, "Add nothing")
    sides = ("--base", "main", "--head", "change")
    run = prjury("review", "--repo", project.path, *sides, "--format", "json")
    assert run.code == 1
    (conflict,) = [check for check in run.judgment("merge")["checks"] if not check["passed"]]
    assert (conflict["name"], conflict["location"]["path"]) == ("conflict", "calc.py")
    assert "return a + b + 0" in conflict["evidence"]
    assert "return b + a" in conflict["evidence"]
    assert run.report["pull"]["behind"] == 1
    assert run.report["pull"]["merged_tree"] is None


def test_only_docs(project: History, prjury: Prjury) -> None:
    project.commit({"README.md": "# calc\n\nIt adds.\n"}, "Say what it does")
    run = prjury("review", "--repo", project.path, "--format", "json")
    assert run.code == 0
    assert run.judgment("build")["label"] == "not_applicable"
    assert run.report["verdict"]["status"] == "pass"


@pytest.mark.parametrize(("version", "flagged"), [("4.0.1", True), ("2.7.18", False)])
def test_javax_is_judged_by_the_version_of_the_base(
    tmp_path: Path, prjury: Prjury, version: str, *, flagged: bool
) -> None:
    history = History(tmp_path / "shop")
    history.commit({"pom.xml": POM.format(version=version)})
    history.switch("change", create=True)
    history.commit({"src/main/java/shop/Item.java": ENTITY}, "Add Item")
    run = prjury("review", "--repo", history.path, "--no-build", "--format", "json")
    assert run.code == int(flagged), run.err
    found = [
        (check["location"]["path"], check["location"]["line"], check["severity"])
        for check in run.judgment("patterns")["checks"]
        if not check["passed"]
    ]
    assert found == ([("src/main/java/shop/Item.java", 3, "error")] if flagged else [])


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("mvn"), reason="Maven is not installed")
@pytest.mark.nightly
def test_a_broken_maven_build(tmp_path: Path, prjury: Prjury) -> None:
    history = History(tmp_path / "shop")
    plain = "<project><modelVersion>4.0.0</modelVersion><groupId>g</groupId>"
    plain += "<artifactId>shop</artifactId><version>1</version><properties>"
    plain += "<maven.compiler.source>17</maven.compiler.source>"
    plain += "<maven.compiler.target>17</maven.compiler.target></properties></project>\n"
    history.commit({"pom.xml": plain, "src/main/java/Shop.java": "class Shop {\n}\n"})
    history.switch("change", create=True)
    history.commit({"src/main/java/Shop.java": "class Shop {\n\tItem item;\n}\n"}, "Use Item")
    run = prjury("review", "--repo", history.path, "--format", "json")
    assert run.code == 1, run.err
    failure = run.judgment("build")["metadata"]["failures"][0]
    assert (failure["path"], failure["line"]) == ("src/main/java/Shop.java", 2)
    assert "cannot find symbol" in failure["message"]


def test_the_report_satisfies_its_published_schema(project: History, prjury: Prjury) -> None:
    project.commit({"calc.py": CALC + "\n# é\n", b"odd \xff|`.py": "x = 1\n"}, "Odd names")
    run = prjury("review", "--repo", project.path, "--format", "json")
    schema = json.loads(prjury("schema", "--report").out)
    jsonschema.validate(run.report, schema)
    paths = [file["path"] for file in run.report["pull"]["files"]]
    assert "odd \\xff|`.py" in paths


def test_every_format_to_a_file_and_the_same_verdict(
    project: History, prjury: Prjury, tmp_path: Path
) -> None:
    project.commit({"calc.py": CALC.replace("a + b", "a - b")}, "Break it")
    formats = ("markdown", "json", "html", "sarif", "feedback", "terminal")
    outputs = [word for f in formats for word in ("--output", f"{f}={tmp_path / f}")]
    run = prjury("review", "--repo", project.path, *outputs)
    assert run.code == 1
    texts = {name: (tmp_path / name).read_text() for name in formats}
    assert run.out.splitlines()[0].startswith("❌ Do not merge")
    assert texts["markdown"].splitlines()[0].startswith("## ❌ Do not merge")
    assert "<script" not in texts["html"]
    assert "test_calc.py" in texts["feedback"]
    assert json.loads(texts["json"])["verdict"]["status"] == "fail"
    (scan,) = json.loads(texts["sarif"])["runs"]
    assert (scan["tool"]["driver"]["name"], scan["properties"]["verdict"]) == ("PR Jury", "fail")


def test_a_branch_is_judged_by_its_name(project: History, prjury: Prjury) -> None:
    project.commit({"calc.py": CALC + "\n# More.\n"}, "Say more")
    project.switch("main")
    run = prjury("review", "change", "--repo", project.path, "--no-build", "--format", "json")
    assert (run.code, run.report["pull"]["head"]["ref"]) == (0, "change"), run.err


def test_nothing_to_review(project: History, prjury: Prjury) -> None:
    level = prjury("review", "--repo", project.path)
    assert (level.code, level.out.split(":")[0]) == (0, "Nothing to review")
    assert "--base" in level.out
    for_programs = prjury("review", "--repo", project.path, "--format", "json")
    assert (for_programs.code, for_programs.out, for_programs.err) == (0, "", level.out)
    project.switch("ветка", create=True)
    ascii_alone = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    escaped = prjury("review", "--repo", project.path, env=ascii_alone)
    assert (escaped.code, escaped.err) == (0, "")
    project.switch("main")
    assert "default branch" in prjury("review", "--repo", project.path).out


def test_the_policy_of_the_base_is_in_force(project: History, prjury: Prjury) -> None:
    project.commit(
        {".github/prjury.yml": CONFIGURED % "'true'", "calc.py": CALC.replace("a + b", "a - b")},
        "Switch the build off",
    )
    run = prjury("review", "--repo", project.path, "--format", "json")
    assert run.code == 1
    assert run.report["policy"]["source"] == "default"
    text = prjury("review", "--repo", project.path).out
    assert "this change touches .github/prjury.yml" in text


def test_a_build_that_takes_too_long_fails(
    project: History, prjury: Prjury, tmp_path: Path
) -> None:
    own = tmp_path / "own.yml"
    text = (CONFIGURED % "sleep 60").replace("command: sleep 60", "command: sleep 60, timeout: 1s")
    own.write_text(text)
    project.commit({"calc.py": CALC + "\n"}, "Add a line")
    run = prjury("review", "--repo", project.path, "--config", own, "--format", "json")
    assert run.code == 1
    assert "did not finish within " in run.judgment("build")["reasoning"]


CRASHING = """
from prjury.jury.judge import judge

def make(options, doors):
    @judge(name="crashing")
    def crash(context):
        raise RuntimeError("boom")
    return crash
"""


def plugin(package: Path, source: str) -> Path:
    """An installed package that brings a judge called ``crashing``."""
    info = package / "crashing_judge-1.dist-info"
    info.mkdir(parents=True)
    (package / "crashing_judge.py").write_text(source)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: crashing-judge\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[prjury.judges]\ncrashing = crashing_judge:make\n")
    return package


def test_a_judge_that_raises_closes_the_gate(
    project: History, prjury: Prjury, tmp_path: Path
) -> None:
    package = plugin(tmp_path / "plugin", CRASHING)
    own = tmp_path / "own.yml"
    own.write_text("tiers:\n  - {name: all, policy: final_tier, judges: [merge, crashing]}\n")
    project.commit({"calc.py": CALC + "\n"}, "Add a line")
    words = ("--repo", project.path, "--config", own, "--format", "json")
    run = prjury("review", *words, env={"PYTHONPATH": str(package)})
    assert run.code == 3, run.err
    assert run.report["verdict"]["status"] == "error"
    assert "boom" in run.judgment("crashing")["reasoning"]
    assert run.judgment("merge")["status"] == "pass"


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["--repo", "/nonexistent"], 4, "not in a git repository"),
        (["--base", "no-such-branch"], 4, "no-such-branch"),
        (["--head", "no/such"], 4, "no/such"),
        (["--base", "--output=x"], 2, "not the name of a branch"),
        (["--base", "a..b"], 2, "not the name of a branch"),
        (["99"], 4, "pull request 99"),
        (["not-a-number"], 4, "there is no branch, ref or commit"),
        (["--config", "/nonexistent.yml"], 2, "cannot be read"),
        (["--output", "yaml=x"], 2, "FORMAT=FILE"),
        (["--format", "yaml"], 2, "yaml"),
        (["--no-such-option"], 2, "--no-such-option"),
        (["--model", "scripted:/nonexistent.json"], 2, "nonexistent.json"),
    ],
)
def test_wrong_calls_end_in_one_clear_line(
    project: History, prjury: Prjury, args: list[str], code: int, words: str
) -> None:
    project.commit({"calc.py": CALC + "\n"}, "Add a line")
    run = prjury("review", "--offline", *args, cwd=project.path)
    assert run.code == code, run.err
    assert words in run.complaint
    assert run.out == ""


def test_a_config_with_an_unknown_key(project: History, prjury: Prjury) -> None:
    project.switch("main")
    project.commit({".github/prjury.yml": "version: 1\ngate: {coverage_flor: 0.9}\n"})
    project.switch("other", create=True)
    project.commit({"calc.py": CALC + "\n"}, "Add a line")
    run = prjury("review", "--repo", project.path)
    assert run.code == 2
    assert ".github/prjury.yml of main line 2: gate.coverage_flor" in run.complaint
    assert "did you mean coverage_floor?" in run.complaint


def test_a_pull_request_by_number_in_a_bare_repository(tmp_path: Path, prjury: Prjury) -> None:
    source = python_project(tmp_path / "source")
    source.commit({"calc.py": CALC + "\n\nONE = 1\n"}, "Add one")
    source.pull_ref(7)
    bare = tmp_path / "bare.git"
    source.git("clone", "--quiet", "--mirror", str(source.path), str(bare))
    History.git(source, "-C", str(bare), "symbolic-ref", "HEAD", "refs/heads/main")
    run = prjury("review", "7", "--repo", bare, "--no-build", "--format", "json")
    assert run.code == 0, run.err
    assert run.report["pull"]["number"] == 7
    assert run.report["pull"]["head"]["ref"] == "refs/pull/7/head"


@pytest.mark.parametrize(
    ("remote", "code"),
    [
        ("https://github.com/real/owner.git", 0),
        ("git@github.com:Real/Owner.git", 0),
        ("https://github.com/other/repo", 4),
        ("https://elsewhere.example/real/owner.git", 4),
    ],
)
def test_a_url_is_only_answered_by_its_own_repository(
    project: History, prjury: Prjury, remote: str, code: int
) -> None:
    project.commit({"calc.py": CALC + "\n\nONE = 1\n"}, "Add one")
    project.pull_ref(7)
    project.remote(remote, head="main")
    url = "https://github.com/real/owner/pull/7"
    run = prjury("review", url, "--repo", project.path, "--no-build", "--offline")
    assert run.code == code, run.err


@pytest.mark.parametrize(("kind", "reader"), [("terminal", "true"), ("json", "head -n 1")])
def test_a_reader_that_stops_early_changes_nothing(
    project: History, kind: str, reader: str
) -> None:
    project.commit({"calc.py": CALC.replace("a + b", "a - b")}, "Break it")
    review = f"{sys.executable} -m prjury review --repo {project.path} --format {kind}"
    done = subprocess.run(
        ["sh", "-c", f"({review} 2>/dev/null; echo $? >&2) | {reader}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr.strip() == "1"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("kind", ["terminal", "json"])
def test_a_report_that_cannot_be_printed_is_still_in_its_file(
    project: History, tmp_path: Path, kind: str
) -> None:
    project.commit({"calc.py": CALC + "\n\nONE = 1\n"}, "Add one")
    file = tmp_path / "report.json"
    review = f"{sys.executable} -m prjury review --repo {project.path} --no-build"
    line = f"{review} --format {kind} --output json={file} > /dev/full"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    assert done.returncode == 5, done.stderr
    assert "could not be printed" in done.stderr.splitlines()[-1]
    assert json.loads(file.read_text())["verdict"]["status"] == "pass"


@pytest.mark.parametrize("closed", [">&-", ">&- 2>&-"])
def test_closed_streams_change_nothing(project: History, closed: str) -> None:
    project.commit({"calc.py": CALC + "\n\nONE = 1\n"}, "Add one")
    review = f"{sys.executable} -m prjury review --repo {project.path} --no-build {closed}"
    done = subprocess.run(["sh", "-c", review], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr


def test_a_system_without_room_is_told(project: History, prjury: Prjury, tmp_path: Path) -> None:
    project.commit({"calc.py": CALC + "\n"}, "Add a line")
    nowhere = str(tmp_path / "nowhere")
    places = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), nowhere)
    code = f"import tempfile; tempfile._candidate_tempdir_list = lambda: [{nowhere!r}]; "
    code += "from prjury.__main__ import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "review", "--repo", str(project.path)],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": os.environ["PATH"], **places},
    )
    assert done.returncode == 4, done.stderr
    assert "TMPDIR" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_build_cannot_read_the_operators_keys(
    project: History, prjury: Prjury, tmp_path: Path
) -> None:
    own = tmp_path / "own.yml"
    own.write_text(
        CONFIGURED % "cat /proc/*/environ 2>/dev/null | tr '\\\\0' '\\\\n' | grep -c CANARY"
    )
    project.commit({"calc.py": CALC + "\n"}, "Add a line")
    words = ("--repo", project.path, "--config", own, "--no-llm", "--format", "json")
    keys = {"OPENAI_API_KEY": "CANARY-1", "GITHUB_TOKEN": "CANARY-2"}
    run = prjury("review", *words, env=keys)
    assert run.judgment("build")["status"] == "error"
    assert run.judgment("build")["checks"][0]["evidence"] == "0"


def test_an_interrupted_build_leaves_nothing(project: History, tmp_path: Path) -> None:
    own = tmp_path / "own.yml"
    marker = f"sleep 97.{os.getpid()}"  # others may run this test at the same time
    own.write_text(CONFIGURED % f"echo started && {marker}")
    project.commit({"calc.py": CALC + "\n"}, "Add a line")
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    words = ("review", f"--repo={project.path}", f"--config={own}")
    with started(*words, env={"TMPDIR": str(scratch)}) as process:
        wait_until(lambda: running(marker))
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.strip().splitlines()[-1].startswith("prjury: interrupted")
    wait_until(lambda: not running(marker))

    def left() -> list[str]:
        return [path.name for path in scratch.iterdir() if not path.name.startswith("prjury-logs-")]

    wait_until(lambda: not left())  # a program of the system may still be removing a tree


def running(command: str) -> bool:
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    return any(line.strip() == command for line in listed.stdout.splitlines())


def test_an_ascii_terminal_gets_the_same_words(project: History, prjury: Prjury) -> None:
    project.commit({"calc.py": CALC + "\n\nONE = 1\n"}, "Füge eins hinzu")
    ascii_alone = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    run = prjury("review", "--repo", project.path, env=ascii_alone)
    assert run.code == 0, run.err
    assert run.out.isascii()
    assert "Ready to merge" in run.out
