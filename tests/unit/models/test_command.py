from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from prjury.deadline import Deadline
from prjury.models.choose import ModelChoice
from prjury.models.command import OUTPUT_LIMIT, CommandModel
from prjury.models.wrappers import REPLY_LIMIT
from prjury.ports.messages import ModelError, ModelReason, Prompt, Reply

pytestmark = pytest.mark.slow

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}
PROMPT = Prompt("be fair", '{"n": "ü"}', SCHEMA, "quality/1", run="the word is 17")
SECRET = "sk-what-the-program-says"


@pytest.fixture
def bin_(tmp_path: Path) -> Path:
    place = tmp_path / "bin"
    place.mkdir()
    return place


def program(bin_: Path, text: str, name: str = "model") -> str:
    """Writes a program in Python."""
    path = bin_ / name
    path.write_text(f"#!{sys.executable}\nimport json, os, subprocess, sys, time\n{text}\n")
    path.chmod(0o755)
    return str(path)


def model(
    *command: str,
    answer: str | None = None,
    environ: Mapping[str, str] | None = None,
    timeout: float = 60.0,
) -> CommandModel:
    choice = ModelChoice(
        "command", "test", command=command, answer=answer, timeout=timeout, room=5000
    )
    return CommandModel(choice, os.environ if environ is None else environ)


def asked(*command: str, seconds: float = 60, **more: Any) -> Reply:
    return model(*command, **more).ask(PROMPT, Deadline.after(seconds))


def failure(*command: str, seconds: float = 60, **more: Any) -> ModelError:
    """What the model raises; nothing that the program says is in it."""
    with pytest.raises(ModelError) as error:
        asked(*command, seconds=seconds, **more)
    told = f"{error.value} {error.value!r} {error.getrepr(style='native')}"
    assert SECRET not in told
    assert error.value.spent is None
    return error.value


@pytest.mark.parametrize(
    ("printed", "answer", "text"),
    [
        ("  {}\n", None, "{}"),
        ({"type": "result", "result": '{"a": 1}'}, "result", '{"a": 1}'),
        ([{"content": [{"text": "x"}]}], "0.content.0.text", "x"),
        ([{"text": "first"}, {"text": "last"}], "-1.text", "last"),
        ({"structured_output": {"a": "ü"}}, "structured_output", '{"a": "ü"}'),
        ({"0": "key"}, "0", "key"),
    ],
)
def test_the_answer_is_where_the_operator_says(
    bin_: Path, printed: object, answer: str | None, text: str
) -> None:
    output = printed if isinstance(printed, str) else json.dumps(printed)
    assert asked(program(bin_, f"print({output!r})"), answer=answer).text == text


@pytest.mark.parametrize(
    ("text", "answer", "reason", "words"),
    [
        ("print()", None, "refused", "empty"),
        ("pass", None, "refused", "empty"),
        ("pass", "result", "refused", "empty"),
        ("print(json.dumps({'result': ' '}))", "result", "refused", "empty"),
        (f"print({SECRET!r})", "result", "provider_error", "does not print JSON"),
        ("print('[' * 100_000)", "result", "provider_error", "does not print JSON"),
        ("print('{\"other\": 1}')", "result", "provider_error", "without `result`"),
        ("print('[]')", "0.text", "provider_error", "without `0.text`"),
        ("print('[1]')", "text", "provider_error", "without `text`"),
        ("print('7')", "text", "provider_error", "without `text`"),
        ('print(\'{"result": "x"}\')', "result.text", "provider_error", "without `result.text`"),
        ("print('{\"result\": null}')", "result", "provider_error", "no text"),
        ("print('{\"result\": true}')", "result", "provider_error", "no text"),
        ("sys.stdout.buffer.write(b'\\xff\\xfe')", None, "provider_error", "UTF-8"),
        (f"print('x' * {REPLY_LIMIT + 1})", None, "reply_too_large", "too large"),
        (f"print('x' * {OUTPUT_LIMIT + 1})", None, "reply_too_large", "too large"),
        ("while True: print('x' * 4096)", None, "reply_too_large", "too large"),
        (f"print({SECRET!r}); sys.exit({SECRET!r})", None, "provider_error", "exit code 1."),
        ("sys.exit(7)", None, "provider_error", "exit code 7."),
        ("os.kill(os.getpid(), 9)", None, "provider_error", "signal 9."),
    ],
)
def test_every_failure_has_its_word(
    bin_: Path, text: str, answer: str | None, reason: ModelReason, words: str
) -> None:
    error = failure(program(bin_, text), answer=answer)
    assert error.reason == reason
    assert words in str(error)


@pytest.mark.parametrize("path", ["", ".", "bin", ":"])
def test_nothing_is_started_from_the_current_directory(
    bin_: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    program(bin_, "print('{}')")
    program(tmp_path, "print('{}')")
    monkeypatch.chdir(tmp_path)
    assert failure("model", environ={"PATH": path}).reason == "not_installed"
    for name in ("./model", "bin/model"):
        assert failure(name).reason == "not_installed"
    assert asked("model", environ={"PATH": f"{path}:{bin_}"}).text == "{}"


def test_a_file_that_is_no_program_cannot_be_started(bin_: Path) -> None:
    broken = bin_ / "broken"
    broken.write_bytes(b"\0\0\0")
    broken.chmod(0o755)
    error = failure(str(broken))
    assert error.reason == "provider_error"
    assert "cannot be started: Exec format error" in str(error)
    assert "arguments are not valid" in str(failure("cat", "\0"))


def test_it_works_in_a_directory_that_is_empty_and_goes_away(bin_: Path) -> None:
    text = """
place = os.getcwd()
found = [place, os.listdir(), os.environ["TMPDIR"], os.environ["PWD"]]
os.makedirs("left/behind")
print(json.dumps(found))
"""
    place, entries, *named = json.loads(asked(program(bin_, text)).text)
    assert entries == []
    assert named == [place, place]
    assert not Path(place).exists()


def test_the_program_gets_the_operators_environment_but_for_what_opens_the_repository(
    bin_: Path,
) -> None:
    kept = ("HOME", "USER", "ANTHROPIC_API_KEY", "CLAUDE_CONFIG_DIR", "GITHUB_REPOSITORY", "CI")
    dropped = (
        "GITHUB_TOKEN GH_TOKEN GH_ENTERPRISE_TOKEN GITHUB_PAT github_token GITHUB_ENV GITHUB_OUTPUT"
        " GITHUB_PATH GITHUB_STEP_SUMMARY GITHUB_STATE ACTIONS_RUNTIME_TOKEN INPUT_GITHUB-TOKEN"
        " ACTIONS_ID_TOKEN_REQUEST_TOKEN INPUT_KEY CI_JOB_TOKEN CI_JOB_JWT_V2 SYSTEM_ACCESSTOKEN"
        " CI_REGISTRY_PASSWORD SSH_AUTH_SOCK OLDPWD"
    ).split()
    environ = dict.fromkeys((*kept, *dropped), "x") | {"PATH": os.environ["PATH"]}
    seen = json.loads(
        asked(program(bin_, "print(json.dumps(sorted(os.environ)))"), environ=environ).text
    )
    assert set(seen) - {"LC_CTYPE"} == {*kept, "PATH", "TMPDIR", "PWD"}


def test_it_has_no_terminal_and_a_session_of_its_own(bin_: Path) -> None:
    text = """
try:
    open("/dev/tty")
    terminal = True
except OSError:
    terminal = False
print(json.dumps([os.getsid(0) == os.getpgrp() == os.getpid(), terminal, sys.stdin.isatty()]))
"""
    assert json.loads(asked(program(bin_, text)).text) == [True, False, False]


def test_without_time_nothing_is_started(bin_: Path, tmp_path: Path) -> None:
    text = f"open({str(tmp_path / 'started')!r}, 'w')"
    assert failure(program(bin_, text), seconds=0).reason == "timeout"
    assert not (tmp_path / "started").exists()


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in {"Z", "X"}


def gone(*pids: int) -> bool:
    """Whether the processes end; a killed one may take a moment on a busy machine."""
    for _ in range(500):
        if not any(map(is_alive, pids)):
            return True
        time.sleep(0.02)
    return False


#: Starts one process in its own session and one that has left it, tells all three, and goes on.
FAMILY = """
sleep = [sys.executable, "-c", "import time; time.sleep(600)"]
near = subprocess.Popen(sleep)
far = subprocess.Popen(sleep, start_new_session=True)
with open({told!r} + ".part", "w") as file:
    json.dump([os.getpid(), near.pid, far.pid], file)
os.rename({told!r} + ".part", {told!r})
{end}
"""
HANGS = "time.sleep(600)"
CLOSES = "sys.stdout.close(); os.close(1); time.sleep(600)"
DRIPS = "while True: print(end='x', flush=True); time.sleep(0.05)"
STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"


def family(bin_: Path, end: str) -> tuple[str, Path]:
    told = bin_ / "told.json"
    return program(bin_, FAMILY.format(told=str(told), end=end)), told


needs_proc = pytest.mark.skipif(not Path("/proc/self").exists(), reason="there is no /proc")


@needs_proc
@pytest.mark.parametrize(
    ("end", "seconds", "timeout"),
    [(HANGS, 3, 60), (HANGS, 60, 3), (CLOSES, 3, 60), (DRIPS, 3, 60), (STUBBORN, 3, 60)],
)
def test_at_the_deadline_it_is_killed_with_all_that_it_started(
    bin_: Path, end: str, seconds: float, timeout: float
) -> None:
    command, told = family(bin_, end)
    assert failure(command, seconds=seconds, timeout=timeout).reason == "timeout"
    assert gone(*json.loads(told.read_text()))


@needs_proc
@pytest.mark.parametrize("end", ["print('{}')", "sys.exit(3)", "while True: print('x' * 4096)"])
def test_what_it_leaves_behind_is_killed_when_it_ends(bin_: Path, end: str) -> None:
    command, told = family(bin_, end)
    with contextlib.suppress(ModelError):
        assert asked(command).text == "{}"
    assert gone(*json.loads(told.read_text()))


def test_many_programs_run_side_by_side(bin_: Path) -> None:
    shared = model(program(bin_, "print(os.getcwd())"))
    with ThreadPoolExecutor(8) as pool:
        replies = pool.map(lambda _: shared.ask(PROMPT, Deadline.after(60)), range(8))
        assert len({reply.text for reply in replies}) == 8


# The end of the process that asks.

IN_MAIN = """
model.ask(prompt, Deadline.after(600))
"""
IN_DAEMON = """
threading.Thread(target=lambda: model.ask(prompt, Deadline.after(600)), daemon=True).start()
threading.Event().wait()
"""
ASKER = """
import atexit, os, sys, threading
from prjury.deadline import Deadline
from prjury.ports.messages import Prompt
from prjury.models.choose import ModelChoice
from prjury.models.command import CommandModel

model = CommandModel(ModelChoice("command", "x", command=(sys.argv[1],)), os.environ)
prompt = Prompt("be fair", "", {{}}, "quality/1")
try:
    {way}
except KeyboardInterrupt:
    {end}
"""
#: As Python ends, and as the command line ends, which does not wait for daemons.
ENDS = {"exit": "sys.exit(130)", "at once": "atexit._run_exitfuncs(); os._exit(130)"}


@contextlib.contextmanager
def asking(way: str, end: str, command: str, told: Path) -> Iterator[subprocess.Popen[bytes]]:
    text = ASKER.format(way=way.strip().replace("\n", "\n    "), end=end)
    with subprocess.Popen(
        [sys.executable, "-c", text, command], env={**os.environ, "TMPDIR": str(told.parent)}
    ) as asker:
        try:
            for _ in range(1500):
                if told.exists():
                    break
                time.sleep(0.02)
            assert told.exists()
            yield asker
        finally:
            asker.kill()


@pytest.mark.slow
@needs_proc
@pytest.mark.parametrize("way", [IN_MAIN, IN_DAEMON], ids=["main thread", "daemon"])
@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_ctrl_c_leaves_no_process_and_no_directory(bin_: Path, way: str, end: str) -> None:
    command, told = family(bin_, HANGS)
    with asking(way, end, command, told) as asker:
        asker.send_signal(signal.SIGINT)
        assert asker.wait(60) == 130
    assert gone(*json.loads(told.read_text()))
    assert list(bin_.glob("prjury-model-*")) == []
