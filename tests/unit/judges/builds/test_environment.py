"""What the machine lacks, in the words of the tools: not judged, and what to paste."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.shell import Scripted, ScriptedShell, SilentProgress
from fakes.trees import TreeRepository, pull_context
from prjury.judges.builds.environment import choose_number, match_mark, read_table
from prjury.judges.builds.judge import make
from prjury.jury.judge import ask
from prjury.jury.judgment import Judgment, Status
from prjury.policy.load import read_options
from prjury.policy.tiers import BuildOptions
from prjury.policy.yaml_reader import read_yaml
from prjury.ports import Ports

TEST = "FAILED test_a.py::test_a - assert 1 == 2\n1 failed in 0.1s\n"
TRACE = 'Traceback (most recent call last):\n  File "src/own/core.py", line 1, in <module>\n'
STEPS = {"setup": "get all", "test": "test all"}
FILES = {
    "a.c": "",
    "src/A.java": "",
    "test_a.py": "",
    "src/own/core.py": "",
    "lib/sub": "",
    "t/new.t": "",
    "t/new.py": "",
}


def judged(
    log: str,
    *more: Scripted,
    changed: tuple[str, ...] = ("a.c",),
    withheld: tuple[str, ...] = (),
    **options: Any,
) -> tuple[Judgment, ScriptedShell]:
    """Judge a change; the merged tree is built first."""
    shell = ScriptedShell([Scripted(1, log), *more], withheld=withheld)
    ports = Ports(TreeRepository({"merged": FILES, "base": FILES}), shell, SilentProgress())
    chosen = read_options({"command": "tool", "compare": "on_failure", **options}, BuildOptions)
    return ask(make(chosen, ports), pull_context(changed=changed)), shell


@pytest.mark.parametrize(
    ("log", "remedy"),
    [
        ("error: release version 21 not supported", "JDK"),
        ((
            "Unable to find javadoc command: "
            "The environment variable JAVA_HOME is not correctly set"
        ), "JAVA_HOME"),
        ((
            "[ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin:"
            "3.11.0:compile (default-compile) on project b: Fatal error compiling: error: "
            "release version 99 not supported -> [Help 1]"
        ), "JDK"),
        ("> error: invalid source release: 21", "JDK"),
        ((
            "[ERROR] COMPILATION ERROR : \n"
            "[ERROR] {tree}/src/A.java:[18,15] cannot access java.io.IOException\n"
            "  bad class file: /modules/java.base/java/io/IOException.class\n"
            "    class file has wrong version 61.0, should be 53.0\n"
        ), "JDK 17"),
        ("Error: No compatible signature found in package metadata", "Corepack"),
        ((
            "[ERROR] Failed to execute goal org.apache.maven.plugins:maven-enforcer-plugin:"
            "3.5.0:enforce (default) on project t: \n[ERROR] Rule 0: org.apache.maven.enforcer."
            "rules.version.RequireMavenVersion failed with message:\n[ERROR] Detected Maven "
            "Version: 3.8.7 is not in the allowed range [3.9,)."
        ), "Maven"),
        ((
            "[ERROR] Failed to execute goal org.apache.maven.plugins:maven-enforcer-plugin:"
            "3.7.0:enforce (enforce) on project t: \n[ERROR] Rule 1: org.apache.maven.enforcer."
            "rules.version.RequireJavaVersion failed with message:\n[ERROR] Detected JDK "
            "/jdk is version 17.0.15 which is not in the allowed range [17.0.19,)."
        ), "JDK"),
        ((
            "error: rustc 1.95.0 is not supported by the following packages:\n"
            "  grep@1.0 requires rustc 1.96\n"
        ), "rustup"),
        ("go: go.mod requires go >= 1.99 (running go 1.26.8; GOTOOLCHAIN=local)", "Go"),
        ("ERROR: Package 'x' requires a different Python: 3.11.4 not in '>=3.13'", "Python"),
        ('error a@1.0.0: The engine "node" is incompatible with this module.', "Node"),
        (
            "Error: Corepack cannot download the latest stable version of pnpm; you",
            "packageManager",
        ),
    ],
)  # fmt: skip
def test_a_version_that_the_machine_lacks(log: str, remedy: str) -> None:
    judgment, shell = judged(f"{log}\n")
    assert (judgment.status, judgment.metadata["reason"]) == (Status.ERROR, "environment")
    assert remedy in judgment.metadata["remedy"]
    assert judgment.metadata["remedy"] in judgment.reasoning
    assert judgment.metadata["snippet"]["text"]
    assert judgment.metadata["failures"][0]["state"] == "environment"
    assert len(shell.commands) == 1  # the base says nothing more


def unresolved(project: str, why: str = ": repo.spring.io") -> str:
    """What Maven says of a module whose dependencies it cannot download."""
    artifact, place = "org.bouncycastle:bcpkix-jdk18on", "https://repo.spring.io/milestone"
    return (
        f"[ERROR] Failed to execute goal on project {project}: Could not collect dependencies for "
        f"project org.springframework.ai:{project}:jar:2.0.1-SNAPSHOT\n"
        f"[ERROR] Failed to read artifact descriptor for {artifact}:jar:1.78\n"
        f"[ERROR] \tCaused by: The following artifacts could not be resolved: {artifact}:pom:1.78 "
        f"(absent): Could not transfer artifact {artifact}:pom:1.78 from/to spring-milestones "
        f"({place}){why}\n[ERROR] -> [Help 1]\n"
    )


UNRESOLVED = unresolved("qdrant-store")
DNS = unresolved("milvus-store", ": repo.spring.io: Name or service not known")
GRADLE = """\
2: Task failed with an exception.
-----------
* What went wrong:
{what} task ':b:compileJava'.
> Could not resolve all files for configuration ':b:compileClasspath'.
   > Could not resolve g:a:1.
     Required by:
         project ':b'
      > Could not resolve g:a:1.
         > Could not get resource 'https://repo.example.org/g/a/1/a-1.pom'.
            > Could not GET 'https://repo.example.org/g/a/1/a-1.pom'.
               > repo.example.org: Name or service not known
"""
TASK = GRADLE.format(what="Execution failed for")
NEEDS = GRADLE.format(what="Could not determine the dependencies of")
GRADLE_4 = """\
1: Task failed with an exception.
-----------
* What went wrong:
Could not resolve all files for configuration ':app:compileClasspath'.
> Could not resolve nowhere:gone:1.
  Required by:
      project :app
   > Could not resolve nowhere:gone:1.
      > Could not get resource 'https://r.invalid/nowhere/gone/1/gone-1.pom'.
         > Could not GET 'https://r.invalid/nowhere/gone/1/gone-1.pom'.
            > r.invalid: Name or service not known
"""


@pytest.mark.parametrize(
    ("here", "base"),
    [
        (DNS, ""),
        (UNRESOLVED, ""),
        (UNRESOLVED + DNS, UNRESOLVED),
        (DNS, UNRESOLVED + DNS),
        (TASK, ""),
        (NEEDS, TASK),
        (GRADLE_4, ""),
    ],
)
def test_a_module_that_was_not_built_for_a_download_is_no_new_failure(here: str, base: str) -> None:
    judgment, _ = judged(TEST + here, Scripted(1, TEST + base))
    assert (judgment.status, judgment.metadata["reason"]) == (Status.ERROR, "environment")
    assert "correct the address of the registry or the name service" in judgment.reasoning
    states = [each["state"] for each in judgment.metadata["failures"]]
    assert states == [*["environment"] * (len(states) - 1), "pre_existing"]


def test_a_new_failure_stands_beside_a_download_that_failed() -> None:
    judgment, _ = judged(TEST + UNRESOLVED, Scripted(1, UNRESOLVED), Scripted(1, UNRESOLVED))
    assert judgment.status is Status.FAIL
    assert "test_a.py: assert 1 == 2" in judgment.reasoning
    assert {each["state"] for each in judgment.metadata["failures"]} == {"new", "environment"}


def test_the_next_module_s_download_explains_no_other_failure() -> None:
    goal = "[ERROR] Failed to execute goal a:checkstyle:3:check (check) on project"
    log = f"{TEST}{goal} a: 3 violations\n{UNRESOLVED}"
    judgment, _ = judged(log, Scripted(1, TEST + UNRESOLVED))
    assert judgment.status is Status.FAIL
    assert "a: 3 violations" in judgment.reasoning


@pytest.mark.parametrize(
    ("log", "remedy"),
    [
        ("ERROR: HTTP error 503 while getting https://pypi.org/a.whl", "later"),
        ((
            "** (Mix) httpc request failed with: {:failed_connect, [{:to_address, "
            "{'repo.hex.pm', 443}}, {:inet6, [:inet6], :nxdomain}]}\n\nOr:\n\n    mix archive"
        ), "name service"),
        ((
            "Error: Error when performing the request to https://repo.yarnpkg.com/4.1.0/yarn.js"
            + "\n    at async fetch (corepack.cjs:1:1)" * 30
            + "\n    [cause]: Error: getaddrinfo ENOTFOUND repo.yarnpkg.com"
        ), "name service"),
        ("error: Failed to fetch: `https://pypi.org/simple/a/`\n  Caused by: dns error", "address"),
        ("npm error code E429\nnpm error 429 Too Many Requests - GET https://r/a", "limits"),
        ("npm error code ECONNREFUSED\nnpm error network request to https://r failed", "proxy"),
        ("npm error code SELF_SIGNED_CERT_IN_CHAIN", "SSL_CERT_FILE"),
        ((
            "npm error Error: ERROR: Failed to set up chrome v148.0.1!.\n"
            "npm error     at downloadBrowser (file:///install.js:26:15) {\n"
            "npm error   [cause]: Error: All providers failed for chrome 148.0.1:\n"
            "npm error     - DefaultProvider: getaddrinfo ENOTFOUND storage.example\n"
            "npm error }"
        ), "PUPPETEER_SKIP_DOWNLOAD"),
        (
            "npm error command git x\nnpm error ssh: Could not resolve hostname x: no such host",
            "the name service",
        ),
        (" ❌ browserType.launch: Executable doesn't exist at /x/y", "install the browser"),
        ("No binary for ChromeHeadless browser on your platform.", "install the browser"),
        ("  fatal: unable to access 'https://x.dev/': Could not resolve host: x.dev", "the name"),
        ('go: a@v1.0.0: Get "https://p/a": dial tcp: lookup p: no such host', "address"),
        ((
            "error: failed to get `a` as a dependency\n\nCaused by:\n"
            "  failed to get successful HTTP response from `https://i/a` (127.0.0.1), got 503"
        ), "later"),
        ((
            "[ERROR] Failed to execute goal on project a: Could not "
            "transfer artifact a:b:pom:1 from/to central (https://r): status code: 503, reason "
            "phrase: Service Unavailable (503)"
        ), "later"),
        ("OSError: [Errno 28] No space left on device", "free disk space"),
        ("a.c:3: fatal error: closing: No space left on device", "free disk space"),
        ("sh: 1: git: not found", "install git"),
        ((
            "[ERROR] Failed to execute goal org.apache.maven.plugins:maven-javadoc-plugin:"
            "3.5.0:jar (attach-javadocs) on project x: MavenReportException: Error while "
            "generating Javadoc: \n[ERROR] Exit code: 1 - javadoc: error - Error fetching "
            "URL: https://x.invalid/"
        ), "leave the links"),
        ((
            "psycopg2.OperationalError: connection to server at 127.0.0.1, port 5432 failed: "
            "Connection refused"
        ), "start that service"),
    ],
)  # fmt: skip
def test_what_the_network_or_the_machine_denies(log: str, remedy: str) -> None:
    judgment, _ = judged(f"{log}\n")
    assert judgment.metadata.get("reason") == "environment", judgment.reasoning
    assert judgment.status is Status.ERROR
    assert remedy in judgment.metadata["remedy"]
    assert "Fix the base" not in judgment.reasoning


@pytest.mark.parametrize(
    "log",
    [
        f"npm error code E503\n{TEST}",
        f"No space left on device\n{TEST}",
        "sh: 1: git: not found\na.c:3:1: error: expected ';' before '}' token\n",
        "print('npm error code E503')\nValueError: no such registry\n",
        "npm error code E404\nnpm error 404 Not Found - GET https://r/nowhere\n",
        "ERROR: Could not find a version that satisfies the requirement a==9 (from versions: 1)\n",
        "ModuleNotFoundError: No module named 'x'\n",
        "AssertionError: connection refused\n",
    ],
)
def test_words_about_the_machine_hide_no_failure(log: str) -> None:
    judgment, _ = judged(log, Scripted(0), Scripted(1, log))
    assert judgment.status is Status.FAIL, judgment.reasoning


@pytest.mark.parametrize(
    ("wanted", "tool", "number"),
    [
        ("^22.13.0 || >=24", "node", "22.13"),
        (">=3.11,<3.13", "python", "3.11"),
        ("[17,21)", "java", "17"),
        ("1.96", "", "1.96"),
        ("", "node", "…"),
    ],
)
def test_the_lines_to_paste_name_a_version_that_is_allowed(
    wanted: str, tool: str, number: str
) -> None:
    assert choose_number(wanted, tool) == number


@pytest.mark.parametrize("row", read_table().rows, ids=lambda row: row.marks[0])
def test_each_row_can_be_pasted(row: Any) -> None:
    text = row.paste.replace("{version}", "1.0").replace("{name}", "zlib")
    if row.where != "a shell":
        read_yaml(text.removeprefix("- ") if "\n" not in text else text, "x")
    assert all(mark == mark.lower() for mark in row.marks)


@pytest.mark.parametrize(
    ("mark", "line", "wanted"),
    [
        ("requires rustc {}", "it requires rustc 1.96, not", "1.96"),
        ("{}: not found", "sh: 1: foo: not found", "foo"),
        ("a…b {} c", "x a 1 b two c", "two"),
        ("a…b", "b a", None),
        ("plain", "so plain", ""),
    ],
)
def test_what_a_mark_finds(mark: str, line: str, wanted: str | None) -> None:
    assert match_mark(mark, line.lower(), line) == wanted


@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        (f"{TRACE}ModuleNotFoundError: No module named 'numpy'", "install `numpy`"),
        ("make: *** No rule to make target 'lib/sub/x.la', needed by 'y'.  Stop.", "submodules"),
        ("b.c:1:10: fatal error: nowhere/zip.h: No such file or directory", "nowhere/zip.h"),
        ("CMake Error: Could not find FOO (missing: FOO_LIBRARY)", "install `FOO`"),
        ("/usr/bin/python3: No module named pytest", "install `pytest`"),
        ("error: Failed to spawn: `pytest`", "install `pytest`"),
        (
            "Can't locate Try/Tiny.pm in @INC (you may need to install the Try::Tiny module) (@INC",
            "install `Try::Tiny`",
        ),
        ("No tests were found!!!", "turn its tests on"),
        ("odd", "correct the command"),
    ],
)
def test_what_is_missing_on_both_sides(line: str, remedy: str) -> None:
    judgment, _ = judged(f"{line}\n", Scripted(1, f"{line}\n"))
    assert (judgment.status, judgment.metadata["reason"]) == (Status.ERROR, "environment")
    assert remedy in judgment.metadata["remedy"], judgment.reasoning
    alone, _ = judged(f"{line}\n", Scripted(0))
    assert alone.status is Status.FAIL, alone.reasoning


INC = "(@INC contains: t /tree/lib /etc/perl)"
NEEDS_NEXT = (
    f"Can't locate File/Next.pm in @INC (you may need to install the File::Next module) {INC}"
)


def prove(*files: str, error: str = f"{NEEDS_NEXT} at t/Util.pm line 12.") -> str:
    """What a harness of Perl prints about test files that end with an error, beside a good one."""
    died = "".join(
        f"{error}\nBEGIN failed--compilation aborted at t/Util.pm line 12.\n"
        f"Compilation failed in require at {file} line 10.\n"
        f"# Looks like your test exited with 2 before it could output anything.\n{file} .. \n"
        "Dubious, test returned 2 (wstat 512, 0x200)\nNo subtests run \n"
        for file in files
    )
    summary = "".join(
        f"{file} (Wstat: 512 (exited 2) Tests: 0 Failed: 0)\n  Non-zero exit status: 2\n"
        for file in files
    )
    ending = "Files=9, Tests=8,  1 wallclock secs\n"
    return f"{died}t/good.t .. ok\n\nTest Summary Report\n{summary}{ending}"


def pytest_errors(*files: str, error: str = "No module named 'psycopg2'") -> str:
    blocks = "".join(
        f"____ ERROR collecting {file} ____\n{file}:1: in <module>\n    import psycopg2\n"
        f"E   ModuleNotFoundError: {error}\n"
        for file in files
    )
    names = "".join(f"ERROR {file}\n" for file in files)
    ending = f"=== 7 passed, {len(files)} errors in 0.10s ===\n"
    return f"==== ERRORS ====\n{blocks}=== short test summary info ===\n{names}{ending}"


SOCKET = "dial unix /var/run/postgresql/.s.PGSQL.5432: connect: no such file or directory"


def go_tests(*tests: str, error: str = SOCKET) -> str:
    failing = "".join(
        f"--- FAIL: {test} (0.00s)\n    db_test.go:{len(test)}: open {number}: {error}\n"
        for number, test in enumerate(tests)
    )
    return f"--- PASS: TestGood (0.00s)\n{failing}FAIL\nFAIL\texample.org/x\t0.1s\n"


def missing_program(*tests: str, error: str = "'redis-server'") -> str:
    blocks = "".join(
        f"____ {test} ____\n\n    def {test}():\n>       start()\n\ntest_a.py:9: \n"
        f"E   FileNotFoundError: [Errno 2] No such file or directory: {error}\n"
        for test in tests
    )
    reason = f"FileNotFoundError: [Errno 2] No such file or directory: {error}"
    names = "".join(f"FAILED test_a.py::{test} - {reason}\n" for test in tests)
    ending = f"=== {len(tests)} failed, 1 passed in 0.10s ===\n"
    return f"==== FAILURES ====\n{blocks}=== short test summary info ===\n{names}{ending}"


@pytest.mark.parametrize(
    ("log", "old", "new", "other", "wrong"),
    [
        (prove, ("t/a.t", "t/b.t"), "t/new.t", "t/c.t", "syntax error at t/Util.pm line 3, near"),
        (
            pytest_errors,
            ("t/test_a.py", "t/test_b.py"),
            "t/new.py",
            "t/c.py",
            "No module named 'own'",
        ),
        (go_tests, ("TestOld", "TestOther"), "TestNew", "", "got 1, want 2"),
        (missing_program, ("test_old", "test_other"), "test_new", "", "'config.toml'"),
    ],
)
def test_a_new_test_that_lacks_what_old_ones_lack_is_not_judged(
    log: Any, old: tuple[str, str], new: str, other: str, wrong: str
) -> None:
    change: dict[str, Any] = {"changed": ("a.c", "test_a.py", new)}
    base = Scripted(1, log(*old))
    judgment, _ = judged(log(*old, new), base, base, **change)
    assert (judgment.status, judgment.reason) == (Status.ERROR, "environment"), judgment.reasoning
    assert {one["state"] for one in judgment.metadata["failures"]} <= {
        "environment",
        "pre_existing",
    }
    assert judgment.metadata["snippet"]["text"]
    broken = log(*old) + log(new, error=wrong)
    judgment, _ = judged(broken, base, Scripted(1, broken), **change)
    assert judgment.status is Status.FAIL, judgment.reasoning
    alone = log(new)
    judgment, _ = judged(alone, Scripted(0), Scripted(1, alone), **change)
    assert judgment.status is Status.FAIL, judgment.reasoning
    if other:  # a file that ran on the base
        broken = log(*old, new, other)
        judgment, _ = judged(broken, base, Scripted(1, broken), **change)
        assert judgment.status is Status.FAIL, judgment.reasoning


def test_a_download_that_fails_is_tried_once_more() -> None:
    flop = "ERROR: HTTP error 503 while getting https://pypi.org/a.whl\n"
    judgment, shell = judged(flop, Scripted(0, "1 passed in 0.1s\n"))
    assert (judgment.status, len(shell.commands)) == (Status.PASS, 2)
    judgment, shell = judged(flop, Scripted(1, flop))
    assert (judgment.status, len(shell.commands)) == (Status.ERROR, 2)
    assert "tried twice" in judgment.reasoning
    judgment, shell = judged(flop, Scripted(1, TEST), Scripted(0), Scripted(1, TEST))
    assert judgment.status is Status.FAIL, judgment.reasoning


@pytest.mark.parametrize("changed", [("a.c",), ("pyproject.toml",), ("setup.py",)])
def test_set_up_that_fails_on_both_sides_is_nobodys(changed: tuple[str, ...]) -> None:
    log = "something odd went wrong\n"
    again = Scripted(1, log)
    judgment, shell = judged(log, again, again, again, changed=changed, command=STEPS)
    assert (judgment.status, judgment.metadata["reason"]) == (Status.ERROR, "environment")
    assert len(shell.commands) == 4  # each side tries it twice
    assert "something odd" in judgment.reasoning
    alone, _ = judged(log, again, Scripted(0), Scripted(0), changed=changed, command=STEPS)
    assert alone.status is Status.FAIL


def test_a_base_that_cannot_be_built_is_not_to_be_fixed() -> None:
    flop = Scripted(1, "npm error code E503\n")
    judgment, _ = judged(TEST, flop, flop, Scripted(1, TEST))
    assert judgment.status is Status.FAIL
    assert "the base could not be compared with: it cannot be built here" in judgment.reasoning
    assert judgment.metadata["failures"][0]["state"] == "new"


def test_what_was_not_handed_to_the_build_is_named_where_it_may_have_failed_for_it() -> None:
    flop, names = "npm error code ECONNREFUSED\n", ("HTTPS_PROXY",)
    judgment, _ = judged(flop, withheld=names)
    assert "not handed to the build, since they hold credentials: HTTPS_PROXY" in judgment.reasoning
    judgment, _ = judged(TEST, withheld=names)
    assert "HTTPS_PROXY" not in judgment.reasoning
