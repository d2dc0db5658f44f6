"""The shell against programs that misbehave."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.shell import SilentProgress
from fakes.waiting import eventually
from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError
from prjury.ports.types import Completed, ShellCommand
from prjury.sandbox.contained import ContainedShell
from prjury.sandbox.environment import is_refused, limit_java, make_allowed_environment
from prjury.sandbox.reach import Powers
from prjury.sandbox.run import Limits, Usage, advice
from prjury.scratch import remove_directory, remove_in_background

pytestmark = pytest.mark.slow

ENVIRON = {"PATH": os.environ["PATH"], "HOME": "/dev/null/operator"}

CANARIES = {
    name: f"canary-{name}"
    for name in (
        "GITHUB_TOKEN GITHUB_ENV GITHUB_OUTPUT GITHUB_PATH GITHUB_STEP_SUMMARY GITHUB_STATE "
        "ANTHROPIC_API_KEY OPENAI_API_KEY AWS_ACCESS_KEY_ID AWS_SESSION_TOKEN AWS_PROFILE "
        "ACTIONS_RUNTIME_TOKEN ACTIONS_ID_TOKEN_REQUEST_URL SSH_AUTH_SOCK NPM_TOKEN MY_SECRET "
        "DB_PASSWORD"
    ).split()
}


@dataclass
class Bench:
    """A shell, a place to run in, and the one call that tests need."""

    directory: Path
    environ: Mapping[str, str] = field(default_factory=lambda: dict(ENVIRON))
    limits: Limits = field(default_factory=lambda: Limits(grace=0.5))
    network: bool = True
    level: str = "auto"

    def __post_init__(self) -> None:
        self.shell = ContainedShell(
            {"XDG_STATE_HOME": str(self.directory / "state"), **self.environ},
            limits=self.limits,
            network=self.network,
            level=self.level,
        )

    def sh(self, script: str, *, timeout: float = 20, limit: int = 1 << 20) -> Completed:
        return self.run(textwrap.dedent(script), timeout=timeout, limit=limit)

    def run(
        self, argv: tuple[str, ...] | str, *, timeout: float = 20, limit: int = 1 << 20
    ) -> Completed:
        command = ShellCommand(argv, self.directory, self.shell.environment(), limit)
        return self.shell.run(command, Deadline.after(timeout), SilentProgress())


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def processes_with(marker: str) -> list[int]:
    """The living processes whose command line holds the marker."""
    found = []
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            with contextlib.suppress(OSError):
                if marker.encode() in (path / "cmdline").read_bytes():
                    found.append(int(path.name))
    return found


@pytest.fixture
def marker() -> Iterator[str]:
    """A number of seconds that no other process sleeps; nobody sleeps it after the test."""
    name = str(uuid4().int % 10**9 + 10**9)
    yield name
    left = processes_with(name)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert left == []


def test_an_exit_code_and_what_was_printed(bench: Bench) -> None:
    done = bench.sh("echo out; echo err >&2; exit 3")
    assert (done.exit_code, done.stopped) == (3, None)
    assert done.tail() == "out\nerr"
    assert 0 < done.seconds < 60


def test_a_list_is_not_a_shell_line(bench: Bench) -> None:
    assert bench.run(("echo", "$HOME;", "a b")).tail() == "$HOME; a b"


def test_a_signal_is_told_by_its_number(bench: Bench) -> None:
    assert bench.sh("kill -SEGV $$").exit_code == -signal.SIGSEGV


def test_standard_input_is_at_its_end(bench: Bench) -> None:
    assert bench.sh("cat; echo done").tail() == "done"


def test_there_is_no_terminal(bench: Bench) -> None:
    assert bench.sh("echo x > /dev/tty").exit_code != 0


def test_there_is_no_memory_dump(bench: Bench) -> None:
    assert bench.sh("ulimit -c").tail() == "0"


def test_rights_cannot_be_gained(bench: Bench) -> None:
    assert "NoNewPrivs:\t1" in bench.sh("cat /proc/self/status").tail(100)


def test_default_signals(bench: Bench) -> None:
    """Python ignores SIGPIPE; a program that inherited that would print errors in pipelines."""
    status = bench.sh("cat /proc/self/status").tail(100)
    ignored = next(line for line in status.splitlines() if line.startswith("SigIgn"))
    assert int(ignored.split()[1], 16) == 0


def test_a_program_that_signals_its_whole_group_ends_only_itself(bench: Bench) -> None:
    assert bench.sh("echo before; kill -TERM 0; sleep 5").exit_code == -signal.SIGTERM


def test_the_deadline(bench: Bench, marker: str) -> None:
    done = bench.sh(f"echo started; sleep {marker}", timeout=2)
    assert (done.stopped, done.exit_code) == ("timeout", -signal.SIGTERM)
    assert done.tail() == "started"
    assert done.seconds < 60


def test_the_deadline_of_a_program_that_ignores_term(bench: Bench, marker: str) -> None:
    started = time.monotonic()
    done = bench.sh(f"trap '' TERM; echo deaf; sleep {marker}; sleep {marker}", timeout=2)
    assert (done.stopped, done.exit_code) == ("timeout", -signal.SIGKILL)
    assert time.monotonic() - started < 60


def test_a_deadline_that_is_over_already(bench: Bench, marker: str) -> None:
    assert bench.sh(f"sleep {marker}", timeout=0).stopped == "timeout"


def test_the_time_to_end_can_be_used(bench: Bench) -> None:
    done = bench.sh("trap 'echo cleaned; exit 0' TERM; while :; do sleep 0.05; done", timeout=2)
    assert (done.stopped, done.exit_code) == ("timeout", 0)
    assert done.tail().endswith("cleaned")


@pytest.mark.needs("setsid")
def test_a_program_in_a_session_of_its_own_does_not_survive(bench: Bench, marker: str) -> None:
    done = bench.sh(f"setsid sleep {marker} & sleep 0.2; exit 0")
    assert done.exit_code == 0
    assert processes_with(marker) == []


@pytest.mark.needs("setsid")
def test_a_daemon_that_holds_the_output_does_not_make_us_wait(bench: Bench, marker: str) -> None:
    daemon = f"""
        import os, time
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.execvp("sleep", ["sleep", "{marker}"])
            os._exit(0)
        os.wait()
        print("parent done", flush=True)
    """
    done = bench.run((sys.executable, "-c", textwrap.dedent(daemon)))
    assert (done.exit_code, done.tail()) == (0, "parent done")
    assert done.seconds < 60
    assert processes_with(marker) == []


@pytest.mark.needs("setsid")
def test_a_tree_that_is_killed_at_the_deadline(bench: Bench, marker: str) -> None:
    script = f"for i in 1 2 3; do (setsid sh -c 'sleep {marker} & sleep {marker}' &) ; done; wait"
    bench.sh(f"{script}; sleep {marker}", timeout=2)
    assert processes_with(marker) == []


def test_half_a_gigabyte_without_a_line_end_is_stopped_at_the_cap(bench: Bench) -> None:
    done = bench.sh("head -c 500000000 /dev/zero; echo; sleep 60", limit=3_000_000)
    assert done.stopped == "output_limit"
    assert done.log.stat().st_size == 3_000_000
    assert done.seconds < 50  # it would go on for 60 s


def test_exactly_as_much_as_allowed_is_not_too_much(bench: Bench) -> None:
    done = bench.sh("head -c 100000 /dev/zero; sleep 0.2; exit 0", limit=100_000)
    assert (done.stopped, done.exit_code, done.log.stat().st_size) == (None, 0, 100_000)


def test_one_byte_more_is(bench: Bench) -> None:
    assert bench.sh("head -c 100001 /dev/zero", limit=100_000).stopped == "output_limit"


def test_binary_output_is_decoded(bench: Bench) -> None:
    done = bench.sh(r"printf '\377\376\0bin\n\303\050\n'")
    assert "bin" in done.tail()
    assert done.log.read_bytes() == b"\xff\xfe\x00bin\n\xc3\x28\n"


def test_each_run_has_a_log_in_a_directory_of_its_own(bench: Bench) -> None:
    one, other = bench.sh("echo one").log, bench.sh("echo other").log
    assert one.parent != other.parent
    assert other.read_text() == "other\n"


def test_too_many_processes(tmp_path: Path, marker: str) -> None:
    bench = Bench(tmp_path, limits=Limits(grace=0.5, processes=40))
    done = bench.sh(f"i=0; while [ $i -lt 400 ]; do sleep {marker} & i=$((i+1)); done; wait")
    assert done.stopped == "process_limit"


def test_too_much_memory(tmp_path: Path) -> None:
    bench = Bench(tmp_path, limits=Limits(grace=0.5, memory=150 * 1024**2))
    code = "import time; hog = b'x' * 300_000_000; time.sleep(30)"
    done = bench.run((sys.executable, "-c", code))
    assert (done.stopped, done.exit_code) == ("memory_limit", -signal.SIGKILL)


@pytest.mark.parametrize(
    ("limits", "script", "stopped"),
    [
        (Limits(disk=50 << 20), "head -c 80000000 /dev/zero > $TMPDIR/a; sleep 90", "disk_limit"),
        (Limits(disk=50 << 20), "head -c 80000000 /dev/zero > $HOME/a; sleep 90", "disk_limit"),
        (Limits(files=500), "cd $HOME; seq 900 | xargs touch; sleep 90", "file_limit"),
    ],
)
def test_too_much_on_the_disk(tmp_path: Path, limits: Limits, script: str, stopped: str) -> None:
    assert Bench(tmp_path, limits=limits).sh(script, timeout=80).stopped == stopped


def test_a_disk_that_fills_quickly_is_measured_at_once(tmp_path: Path) -> None:
    usage = Usage(os.getpid(), [tmp_path], Limits(disk=8 << 20), 0.0)
    assert usage.find_excess_when_due() is None
    with (tmp_path / "a").open("wb") as file:
        file.write(b"x" * (40 << 20))
        os.fsync(file.fileno())
    time.sleep(0.6)  # by the clock alone, the disk is measured after a second
    assert usage.find_excess_when_due() == "disk_limit"


@pytest.mark.skipif(os.statvfs("/tmp").f_ffree == 0, reason="this file system counts no inodes")
def test_many_files_made_quickly_are_counted_at_once(tmp_path: Path) -> None:
    usage = Usage(os.getpid(), [tmp_path], Limits(files=200), 0.0)
    assert usage.find_excess_when_due() is None
    for number in range(1000):
        (tmp_path / str(number)).touch()
    time.sleep(0.6)
    assert usage.find_excess_when_due() == "file_limit"


def test_logs_go_on_after_a_program_has_removed_their_directory(bench: Bench) -> None:
    logs = bench.sh("echo one").log.parent.parent
    shutil.rmtree(logs)
    assert bench.sh("echo two").log.read_text() == "two\n"


@pytest.mark.needs("setsid")
def test_a_program_that_kills_the_launcher(tmp_path: Path, marker: str) -> None:
    bench = Bench(tmp_path, level="L1")
    done = bench.sh(f"setsid sleep {marker} & sleep 0.2; kill -KILL $PPID; sleep {marker}")
    assert done.exit_code == -signal.SIGKILL
    assert processes_with(marker) == []


def test_no_canary_reaches_a_program(tmp_path: Path) -> None:
    environ = {**ENVIRON, **CANARIES, "HARMLESS": "1", "JAVA_HOME": "/jdk"}
    shell = ContainedShell(environ, extra_env=[*CANARIES, "HARMLESS"])
    command = ShellCommand("env", tmp_path, shell.environment())
    done = shell.run(command, Deadline.after(20), SilentProgress())
    text = done.log.read_text()
    assert "canary-" not in text
    names = {line.partition("=")[0] for line in text.splitlines()}
    of_sh, of_ours = {"PWD", "OLDPWD", "SHLVL", "_"}, {"MAVEN_OPTS", "TAR_OPTIONS"}
    given = {"CI", "HARMLESS", "HOME", "JAVA_HOME", "LANG", "PATH", "TMPDIR"}
    assert names - of_sh - of_ours == given
    assert not Path(ENVIRON["HOME"]).exists()


def test_the_way_to_registries_is_handed_on_without_credentials(tmp_path: Path) -> None:
    plain = {
        "SSL_CERT_FILE": "/etc/ca.pem",
        "NODE_EXTRA_CA_CERTS": "/etc/ca.pem",
        "https_proxy": "http://proxy:3128",
        "NO_PROXY": "localhost,.example",
        "PIP_INDEX_URL": "https://pypi.example/simple",
        "NPM_CONFIG_REGISTRY": "https://npm.example",
        "GOPROXY": "https://go.example,direct",
        "CARGO_REGISTRIES_OURS_INDEX": "sparse+https://crates.example/",
    }
    secret = {
        "HTTPS_PROXY": "http://me:canary@proxy:3128",
        "HTTP_PROXY": "me:canary@proxy:3128",
        "PIP_EXTRA_INDEX_URL": "https://a.example https://canary@b.example/simple",
        "UV_DEFAULT_INDEX": "https://pypi.example/simple?key=canary",
        "CARGO_REGISTRIES_OURS_TOKEN": "canary",
    }
    steering = {"MAVEN_OPTS": "-Dpassword=canary", "GOFLAGS": "-toolexec=canary"}
    environ = {**ENVIRON, **plain, **secret, **steering}

    env = ContainedShell(environ).environment()
    assert env.keys() & {*plain, *secret, "GOFLAGS"} == plain.keys()
    assert "canary" not in str(env)

    shell = ContainedShell(environ, extra_env=["HTTPS_PROXY", "MAVEN_OPTS"])
    assert shell.environment()["HTTPS_PROXY"] == secret["HTTPS_PROXY"]
    assert shell.environment()["MAVEN_OPTS"] == steering["MAVEN_OPTS"]
    assert list(shell.withheld) == ["HTTP_PROXY", "PIP_EXTRA_INDEX_URL", "UV_DEFAULT_INDEX"]


def test_home_is_fresh_and_goes_away(bench: Bench) -> None:
    done = bench.sh('echo "$HOME"; ls -A "$HOME" | wc -l; mkdir -p "$HOME/a/b"; chmod 0 "$HOME/a"')
    home, entries = done.tail().splitlines()
    assert entries == "0"
    assert home != ENVIRON["HOME"]
    assert not Path(home).exists()


def test_what_programs_leave_behind_is_removed_beside_what_comes_next(tmp_path: Path) -> None:
    code = f"""if True:
        import os
        from pathlib import Path
        from prjury.sandbox.contained import ContainedShell
        with ContainedShell(os.environ).scratch() as place:
            for number in range(2_000):
                (place / str(number)).mkdir()
                (place / str(number) / "file").touch()
            (place / "7").chmod(0)
        Path({str(tmp_path / "place")!r}).write_text(str(place))
    """
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path, timeout=60)
    place = Path((tmp_path / "place").read_text())
    assert eventually(lambda: not place.exists())


def test_a_home_that_the_caller_made_is_kept(bench: Bench, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    env = {**bench.shell.environment(), "HOME": str(home), "TMPDIR": str(home)}
    command = ShellCommand('touch "$HOME/kept"', tmp_path, env)
    bench.shell.run(command, Deadline.after(20), SilentProgress())
    assert (home / "kept").exists()


def test_a_missing_program_is_said_with_a_remedy(bench: Bench) -> None:
    with pytest.raises(CannotJudgeError, match="no-such-tool") as caught:
        bench.run(("no-such-tool", "--version"))
    assert caught.value.reason == "tool_missing"


def test_a_script_for_an_interpreter_that_is_not_there_is_not_called_missing(bench: Bench) -> None:
    script = bench.directory / "gradlew"
    script.write_bytes(b"#!/bin/sh\r\necho\r\n")
    script.chmod(0o755)
    with pytest.raises(CannotJudgeError, match=r"`\./gradlew` cannot be started"):
        bench.run(("./gradlew",))


def test_a_file_that_is_not_a_program(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "tool").write_text("not a program")
    with pytest.raises(CannotJudgeError, match="Permission denied"):
        bench.run(("./tool",))


def test_which_looks_where_programs_look(tmp_path: Path) -> None:
    own, other = tmp_path / "venv" / "bin", tmp_path / "other"
    for place in (own, other):
        place.mkdir(parents=True)
        (place / "tool").write_text("#!/bin/sh\n")
        (place / "tool").chmod(0o755)
    environ = {"PATH": f"{own}:{other}"}
    shell = ContainedShell(environ, own_prefix=tmp_path / "venv")
    assert shell.which("tool") == str(other / "tool")
    assert shell.which("no-such-tool") is None
    assert "outside of PR Jury's environment" in advice("tool")


@pytest.mark.parametrize(
    ("wanted", "proven", "kept"),
    [("auto", 7, "L2"), ("auto", 2, "L1"), ("L1", 7, "L1"), ("L2", 3, "L2"), ("L0", 7, "L1")],
)
def test_the_level_is_what_was_proved(wanted: str, proven: int, kept: str) -> None:
    assert ContainedShell(ENVIRON, level=wanted, powers=Powers(proven)).level == kept


def test_a_level_that_is_not_to_be_had(tmp_path: Path) -> None:
    shell = ContainedShell(ENVIRON, level="L2", powers=Powers(2))
    command = ShellCommand("touch ran", tmp_path, shell.environment())
    with pytest.raises(CannotJudgeError) as caught:
        shell.run(command, Deadline.after(20), SilentProgress())
    assert caught.value.reason == "sandbox_unavailable"
    assert not (tmp_path / "ran").exists()


def can_cut_network() -> bool:
    command = ["unshare", "-rn", "true"]
    has_it = shutil.which("unshare") is not None
    return has_it and subprocess.run(command, check=False, capture_output=True).returncode == 0


@pytest.mark.skipif(not can_cut_network(), reason="no network namespaces for this user")
def test_without_network_nothing_outside_is_reached_but_loopback_works(tmp_path: Path) -> None:
    code = """
        import socket
        server = socket.create_server(("127.0.0.1", 0))
        socket.create_connection(server.getsockname()).close()
        print("loopback works")
        try:
            socket.create_connection(("127.0.0.1", PORT), timeout=2)
        except OSError:
            print("outside is away")
    """
    with socket.create_server(("127.0.0.1", 0)) as outside:
        code = textwrap.dedent(code).replace("PORT", str(outside.getsockname()[1]))
        done = Bench(tmp_path, network=False).run((sys.executable, "-c", code))
    assert done.tail() == "loopback works\noutside is away"


def test_the_last_line_is_told_while_it_runs(tmp_path: Path) -> None:
    progress = SilentProgress()
    shell = ContainedShell(ENVIRON)
    script = (
        r"printf 'one\n\033[31mtwo\033[0m\r\n\n'; sleep 0.6; echo three; echo '{\"reason\": 1}'"
    )
    command = ShellCommand(script, tmp_path, shell.environment())
    shell.run(command, Deadline.after(20), progress)
    assert progress.said == ["two", "three"]


def test_progress_is_told_a_few_times_a_second_at_most(tmp_path: Path) -> None:
    progress = SilentProgress()
    shell = ContainedShell(ENVIRON)
    script = "i=0; while [ $i -lt 100 ]; do echo $i; sleep 0.005; i=$((i+1)); done"
    command = ShellCommand(script, tmp_path, shell.environment())
    done = shell.run(command, Deadline.after(20), progress)
    assert 1 <= len(progress.said) <= done.seconds * 5 + 2


@pytest.mark.needs("setsid")
def test_an_interruption_kills_everything(tmp_path: Path, marker: str) -> None:
    def interrupt(text: str) -> None:
        raise KeyboardInterrupt

    shell = ContainedShell(ENVIRON, limits=Limits(grace=0.5))
    command = ShellCommand(f"setsid sleep {marker} & echo go; wait", tmp_path, shell.environment())
    with pytest.raises(KeyboardInterrupt):
        shell.run(command, Deadline.after(20), SilentProgress(interrupt))
    assert processes_with(marker) == []


@pytest.mark.needs("setsid")
@pytest.mark.parametrize("death", [signal.SIGKILL, signal.SIGINT])
def test_nothing_survives_the_death_of_whoever_waits(
    tmp_path: Path, marker: str, death: signal.Signals
) -> None:
    code = f"""
        import os, threading
        from pathlib import Path
        from fakes.shell import SilentProgress
        from prjury.deadline import Deadline
        from prjury.ports.types import ShellCommand
        from prjury.sandbox.contained import ContainedShell
        shell = ContainedShell(os.environ)
        command = ShellCommand("setsid sleep {marker} & wait", Path("."), shell.environment())
        work = lambda: shell.run(command, Deadline.after(60), SilentProgress())
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        thread.join()
    """
    tests = str(Path(__file__).parents[2])
    waiting = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": tests, "TMPDIR": str(tmp_path)},
        stderr=subprocess.DEVNULL,
    )
    everybody = 3  # whoever waits, the shell and what it started
    assert eventually(lambda: len(processes_with(marker)) >= everybody)
    waiting.send_signal(death)
    waiting.wait(60)
    assert eventually(lambda: processes_with(marker) == [])
    assert death is signal.SIGKILL or list(tmp_path.iterdir()) == []


@pytest.mark.needs("setsid")
def test_a_process_that_leaves_at_once_has_cleaned_up_before(tmp_path: Path, marker: str) -> None:
    code = f"""
        import atexit, os, threading
        from pathlib import Path
        from fakes.shell import SilentProgress
        from prjury.deadline import Deadline
        from prjury.ports.types import ShellCommand
        from prjury.sandbox.contained import ContainedShell
        shell = ContainedShell(os.environ)
        def work():
            with shell.scratch() as place:
                for name in ("first", "second"):
                    script = f"setsid sleep {marker} & touch {{name}} {tmp_path}/{{name}}; wait"
                    env = shell.environment()
                    command = ShellCommand(script, place, env, writable=[Path("..").absolute()])
                    shell.run(command, Deadline.after(60), SilentProgress())
        threading.Thread(target=work, daemon=True).start()
        while not Path("../first").exists():
            pass
        atexit._run_exitfuncs()
        os._exit(130)
    """
    tests = str(Path(__file__).parents[2])
    inner = tmp_path / "inner"
    inner.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=inner,
        env={**os.environ, "PYTHONPATH": tests, "TMPDIR": str(inner)},
        stderr=subprocess.DEVNULL,
        timeout=60,
        check=False,
    )
    assert done.returncode == 130
    assert eventually(lambda: processes_with(marker) == [])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first", "inner"]
    assert list(inner.iterdir()) == []


def test_several_at_once(bench: Bench) -> None:
    done: list[str] = []
    threads = [
        threading.Thread(target=lambda n=n: done.append(bench.sh(f"echo {n}").tail()))
        for n in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done) == list("012345")


names = st.one_of(
    st.sampled_from([*CANARIES, "github_token", "My_Key", "PATH", "HOME", "JAVA_HOME", "TZ"]),
    st.text(st.characters(codec="utf-8", exclude_characters="=\0"), min_size=1, max_size=30),
)


@settings(deadline=None)
@given(st.dictionaries(names, st.text(max_size=20)), st.lists(names))
def test_only_listed_names_and_never_a_secret(environ: dict[str, str], extra: list[str]) -> None:
    env = make_allowed_environment({**environ, "PATH": "/bin"}, [*extra, *environ])
    assert not [name for name in env if is_refused(name)]
    listed = {name for name in [*extra, *environ] if name in environ and not is_refused(name)}
    own = {"PATH", "LANG", "CI"}
    assert env.keys() <= listed | own | set(make_allowed_environment({**environ, "PATH": "/bin"}))
    assert {env[name] == environ[name] for name in listed - own} <= {True}


@settings(deadline=None)
@given(st.dictionaries(names, st.text(max_size=20)))
def test_nothing_unlisted_without_extras(environ: dict[str, str]) -> None:
    env = make_allowed_environment({**environ, "HOMEBREW_THING": "1", "PATH": "/bin"})
    assert "HOMEBREW_THING" not in env
    assert "HOME" not in env
    assert {"PATH", "LANG", "CI"} <= env.keys()


@settings(deadline=None)
@given(st.lists(st.sampled_from(["/a", "", ".", "bin", "/venv/bin", "/venv/x/y", "/b"])))
def test_the_path_holds_no_relative_and_no_own_entries(entries: list[str]) -> None:
    path = make_allowed_environment({"PATH": ":".join(entries)}, own_prefix=Path("/venv"))["PATH"]
    kept = [entry for entry in entries if entry in {"/a", "/b"}]
    assert path == (":".join(kept) or os.defpath)


def test_caches_and_toolchains_of_the_operator_are_found(tmp_path: Path) -> None:
    for place in (".cargo", ".rustup", ".npm", "go/pkg/mod", ".cache/uv"):
        (tmp_path / place).mkdir(parents=True)
    env = make_allowed_environment(
        {"HOME": str(tmp_path), "PATH": "/bin", "RUSTUP_HOME": "/opt/rust"}
    )
    assert env["RUSTUP_HOME"] == "/opt/rust"
    assert env["CARGO_HOME"] == str(tmp_path / ".cargo")
    assert env["npm_config_cache"] == str(tmp_path / ".npm")
    assert env["GOMODCACHE"] == str(tmp_path / "go/pkg/mod")
    assert "PYENV_ROOT" not in env


def test_what_go_compiles_of_its_own_library_is_kept_for_the_next_build(tmp_path: Path) -> None:
    env = make_allowed_environment({"HOME": str(tmp_path), "PATH": "/bin"})
    assert env["GOCACHE"] == str(tmp_path / ".cache/go-build")
    assert env["GOMODCACHE"] == str(tmp_path / "go/pkg/mod")
    assert "GOCACHE" not in make_allowed_environment(
        {"HOME": str(tmp_path / "nowhere"), "PATH": "/bin"}
    )
    assert "GOCACHE" not in make_allowed_environment({"PATH": "/bin"})


def test_a_go_path_of_the_operator_decides_about_the_module_cache() -> None:
    environ = {"GOPATH": "/go", "HOME": "/x", "PATH": ""}
    assert make_allowed_environment(environ)["GOMODCACHE"] == "/go/pkg/mod"


GIB = 1024**3
MEMORY = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize("options", [(), ("-Xmx5g",)])
@pytest.mark.skipif(not shutil.which("java"), reason="Java is not installed")
def test_java_takes_a_large_machine_for_a_smaller_one(options: tuple[str, ...]) -> None:
    assert limit_java(MEMORY) == {}
    argv = ["java", *options, *limit_java(GIB)["MAVEN_OPTS"].split()]
    argv += ["-XX:+PrintFlagsFinal", "-version"]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    heap = re.search(r"\bMaxHeapSize\s*=\s*(\d+)", done.stdout)
    assert heap
    assert int(heap[1]) == (5 * GIB if options else GIB // 4)


def test_a_large_machine_is_hidden_unless_the_operator_says_otherwise() -> None:
    small = Limits(memory=MEMORY // 4)
    told = ContainedShell({"PATH": "/bin"}, limits=small).environment()["MAVEN_OPTS"]
    assert told.endswith(f"MaxRAM={2 * small.memory}")
    own = {"PATH": "/bin", "MAVEN_OPTS": "-Xmx9g"}
    shell = ContainedShell(own, extra_env=["MAVEN_OPTS"], limits=small)
    assert shell.environment()["MAVEN_OPTS"] == "-Xmx9g"


@pytest.mark.slow
@pytest.mark.parametrize("way", [remove_directory, remove_in_background])
def test_anything_can_be_removed(tmp_path: Path, way: Callable[[Path], object]) -> None:
    top = tmp_path / "hostile"
    top.mkdir()
    script = """
        import os
        os.mkdir("closed"); open("closed/file", "w").close(); os.chmod("closed", 0)
        os.symlink("/etc", "link"); os.mkfifo("fifo"); os.mkdir(".0")
        open("new\\nline", "w").close()
        for _ in range(3000):
            os.mkdir("deep"); os.chdir("deep")
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], cwd=top, check=True)
    assert way(top) is not False
    assert eventually(lambda: not top.exists())
    assert Path("/etc/passwd").exists()
