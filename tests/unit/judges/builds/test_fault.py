"""Whose fault a failed build is: where it is not the code's, what to do about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fakes.shell import Scripted, ScriptedShell, SilentProgress
from fakes.trees import TreeRepository, pull_context
from prjury.judges.builds.environment import remedy_for
from prjury.judges.builds.failure import make_failure
from prjury.judges.builds.fault import blame_environment
from prjury.judges.builds.judge import make
from prjury.judges.builds.outcome import PlanOutcome, StepResult
from prjury.judges.builds.plan import BuildStep
from prjury.jury.judge import ask
from prjury.jury.judgment import Judgment, Status
from prjury.policy.schema import BuildOptions
from prjury.ports import Ports
from prjury.ports.types import Completed

TEST = "FAILED test_a.py::test_a - assert 1 == 2\n1 failed in 0.1s\n"


TRACE = 'Traceback (most recent call last):\n  File "src/own/core.py", line 1, in <module>\n'
STEPS = {"setup": "get all", "test": "test all"}
FILES = {
    "a.c": "",
    "src/A.java": "",
    "test_a.py": "",
    "src/own/core.py": "",
    "src/own/other.py": "",
    "lib/sub": "",
}


def judged(
    log: str,
    *more: Scripted,
    changed: tuple[str, ...] = ("a.c",),
    withheld: tuple[str, ...] = (),
    **options: Any,
) -> tuple[Judgment, ScriptedShell]:
    shell = ScriptedShell([Scripted(1, log), *more], withheld=withheld)
    ports = Ports(TreeRepository({"merged": FILES, "base": FILES}), shell, SilentProgress())
    options_ = BuildOptions.model_validate({"command": "tool", "compare": "on_failure", **options})
    return ask(make(options_, ports), pull_context(changed=changed)), shell


@pytest.mark.parametrize(
    ("log", "remedy"),
    [
        ("error: release version 21 not supported", "JDK"),
        (
            (
                "Unable to find javadoc command: "
                "The environment variable JAVA_HOME is not correctly set"
            ),
            "JAVA_HOME",
        ),
        (
            (
                "[ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin:"
                "3.11.0:compile (default-compile) on project b: Fatal error compiling: error: "
                "release version 99 not supported -> [Help 1]"
            ),
            "JDK",
        ),
        ("> error: invalid source release: 21", "JDK"),
        (
            (
                "[ERROR] COMPILATION ERROR : \n"
                "[ERROR] {tree}/src/A.java:[18,15] cannot access java.io.IOException\n"
                "  bad class file: /modules/java.base/java/io/IOException.class\n"
                "    class file has wrong version 61.0, should be 53.0\n"
            ),
            "JDK 17",
        ),
        ("Error: No compatible signature found in package metadata", "Corepack"),
        (
            (
                "[ERROR] Failed to execute goal org.apache.maven.plugins:maven-enforcer-plugin:"
                "3.5.0:enforce (default) on project t: \n[ERROR] Rule 0: org.apache.maven.enforcer."
                "rules.version.RequireMavenVersion failed with message:\n[ERROR] Detected Maven "
                "Version: 3.8.7 is not in the allowed range [3.9,)."
            ),
            "Maven",
        ),
        (
            (
                "[ERROR] Failed to execute goal org.apache.maven.plugins:maven-enforcer-plugin:"
                "3.7.0:enforce (enforce) on project t: \n[ERROR] Rule 1: org.apache.maven.enforcer."
                "rules.version.RequireJavaVersion failed with message:\n[ERROR] Detected JDK "
                "/jdk is version 17.0.15 which is not in the allowed range [17.0.19,)."
            ),
            "JDK",
        ),
        (
            (
                "error: rustc 1.95.0 is not supported by the following packages:\n"
                "  grep@1.0 requires rustc 1.96\n"
            ),
            "rustup",
        ),
        ("go: go.mod requires go >= 1.99 (running go 1.26.8; GOTOOLCHAIN=local)", "Go"),
        ("ERROR: Package 'x' requires a different Python: 3.11.4 not in '>=3.13'", "Python"),
        ('error a@1.0.0: The engine "node" is incompatible with this module.', "Node"),
        (
            "Error: Corepack cannot download the latest stable version of pnpm; you",
            "packageManager",
        ),
    ],
)
def test_a_version_that_the_machine_lacks(log: str, remedy: str) -> None:
    judgment, shell = judged(f"{log}\n")
    assert (judgment.status, judgment.metadata["reason"]) == (Status.ERROR, "environment")
    assert remedy in judgment.metadata["remedy"]
    assert remedy in judgment.reasoning
    assert judgment.metadata["failures"][0]["state"] == "environment"
    assert len(shell.commands) == 1  # the base says nothing more


def test_a_goal_is_named_once() -> None:
    goal = "org.jacoco:jacoco-maven-plugin:0.8.15:check (check) on project t"
    judgment, _ = judged(f"[ERROR] Failed to execute goal {goal}: Too little.\n", Scripted(0))
    assert judgment.reasoning.count(goal) == 1


def test_a_test_that_fails_is_no_matter_of_the_machine() -> None:
    log = f"error: release version 21 not supported\n{TEST}"
    judgment, _ = judged(log, Scripted(0))
    assert judgment.status is Status.FAIL


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
    assert "test_a.py: assert 1 == 2 (the base" in judgment.reasoning
    assert {each["state"] for each in judgment.metadata["failures"]} == {"new", "environment"}


def test_the_next_module_s_download_explains_no_other_failure() -> None:
    goal = "[ERROR] Failed to execute goal a:checkstyle:3:check (check) on project"
    log = f"{TEST}{goal} a: 3 violations\n{UNRESOLVED}"
    judgment, _ = judged(log, Scripted(1, TEST + UNRESOLVED))
    assert judgment.status is Status.FAIL
    assert "a: 3 violations" in judgment.reasoning


def test_a_version_that_no_repository_has_is_not_excused_by_the_next_module() -> None:
    goal = "[ERROR] Failed to execute goal on project a: Could not resolve dependencies"
    log = f"{goal}: Could not find artifact g:a:jar:9 in central\n{UNRESOLVED}"
    judgment, _ = judged(TEST + log, Scripted(1, TEST + UNRESOLVED))
    assert judgment.status is Status.FAIL
    assert "g:a:jar:9" in judgment.reasoning


@pytest.mark.parametrize(
    ("log", "remedy"),
    [
        ("ERROR: HTTP error 503 while getting https://pypi.org/a.whl", "later"),
        (
            (
                "** (Mix) httpc request failed with: {:failed_connect, [{:to_address, "
                "{'repo.hex.pm', 443}}, {:inet6, [:inet6], :nxdomain}]}\n\nOr:\n\n    mix archive"
            ),
            "name service",
        ),
        (
            (
                "Error: Error when performing the request to https://repo.yarnpkg.com/4.1.0/yarn.js"
                + "\n    at async fetch (corepack.cjs:1:1)" * 30
                + "\n    [cause]: Error: getaddrinfo ENOTFOUND repo.yarnpkg.com"
            ),
            "name service",
        ),
        ("error: Failed to fetch: `https://pypi.org/simple/a/`\n  Caused by: dns error", "address"),
        ("npm error code E429\nnpm error 429 Too Many Requests - GET https://r/a", "limits"),
        ("npm error code ECONNREFUSED\nnpm error network request to https://r failed", "proxy"),
        ("npm error code SELF_SIGNED_CERT_IN_CHAIN", "SSL_CERT_FILE"),
        (
            (
                "npm error Error: ERROR: Failed to set up chrome v148.0.1!.\n"
                "npm error     at downloadBrowser (file:///install.js:26:15) {\n"
                "npm error   [cause]: Error: All providers failed for chrome 148.0.1:\n"
                "npm error     - DefaultProvider: getaddrinfo ENOTFOUND storage.example\n"
                "npm error }"
            ),
            "PUPPETEER_SKIP_DOWNLOAD",
        ),
        (
            "npm error command git x\nnpm error ssh: Could not resolve hostname x: no such host",
            "the name service",
        ),
        (" ❌ browserType.launch: Executable doesn't exist at /x/y", "install the browser"),
        ("No binary for ChromeHeadless browser on your platform.", "install the browser"),
        ("  fatal: unable to access 'https://x.dev/': Could not resolve host: x.dev", "the name"),
        ('go: a@v1.0.0: Get "https://p/a": dial tcp: lookup p: no such host', "address"),
        (
            (
                "error: failed to get `a` as a dependency\n\nCaused by:\n"
                "  failed to get successful HTTP response from `https://i/a` (127.0.0.1), got 503"
            ),
            "later",
        ),
        (
            (
                "[ERROR] Failed to execute goal on project a: Could not "
                "transfer artifact a:b:pom:1 from/to central (https://r): status code: 503, reason "
                "phrase: Service Unavailable (503)"
            ),
            "later",
        ),
        ("OSError: [Errno 28] No space left on device", "free disk space"),
        ("a.c:3: fatal error: closing: No space left on device", "free disk space"),
        ("sh: 1: git: not found", "install git"),
        (
            (
                "[ERROR] Failed to execute goal org.apache.maven.plugins:maven-javadoc-plugin:"
                "3.5.0:jar (attach-javadocs) on project x: MavenReportException: Error while "
                "generating Javadoc: \n[ERROR] Exit code: 1 - javadoc: error - Error fetching "
                "URL: https://x.invalid/"
            ),
            "javadoc.skip",
        ),
        (
            (
                "psycopg2.OperationalError: connection to server at 127.0.0.1, port 5432 failed: "
                "Connection refused"
            ),
            "start that service",
        ),
    ],
)
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
    ],
)
def test_words_about_the_machine_hide_no_failure(log: str) -> None:
    judgment, _ = judged(log, Scripted(0))
    assert judgment.status is Status.FAIL, judgment.reasoning


def test_a_compiler_that_is_older_than_the_jdk_wants_an_older_one() -> None:
    failure = make_failure("error", "class file has wrong version 61.0, should be 53.0")
    wanted = "this project wants JDK 9 or older; here is 17.0.15"
    assert remedy_for(failure, {"JDK": "17.0.15"}).startswith(wanted)
    assert remedy_for(failure, {"JDK": "9.0.4"}).startswith("this project wants JDK 17;")


def test_a_run_of_pytest_without_any_test_says_so() -> None:
    shell = ScriptedShell([Scripted(5, "\nno tests ran in 0.01s\n"), Scripted(0)])
    ports = Ports(TreeRepository({"merged": FILES, "base": FILES}), shell, SilentProgress())
    options = BuildOptions(command="tool", compare="on_failure")
    judgment = ask(make(options, ports), pull_context(changed=("a.c",)))
    assert judgment.status is Status.FAIL
    assert "failed with exit code 5: pytest found no tests" in judgment.reasoning


def test_a_download_that_fails_is_tried_once_more() -> None:
    flop = "ERROR: HTTP error 503 while getting https://pypi.org/a.whl\n"
    judgment, shell = judged(flop, Scripted(0, "1 passed in 0.1s\n"))
    assert (judgment.status, len(shell.commands)) == (Status.PASS, 2)

    judgment, shell = judged(flop, Scripted(1, flop))
    assert (judgment.status, len(shell.commands)) == (Status.ERROR, 2)
    assert "tried twice" in judgment.reasoning

    judgment, shell = judged(flop, Scripted(1, TEST), Scripted(0))
    assert judgment.status is Status.FAIL, judgment.reasoning


def test_set_up_is_tried_again_from_the_step_that_failed() -> None:
    well = (Scripted(0), Scripted(0, "1 passed in 0.1s\n"))
    judgment, shell = judged("npm error code ECONNRESET\n", *well, command=STEPS)
    lines = [command.argv for command in shell.commands]
    assert lines == ["get all", "get all", "test all"]
    assert judgment.status is Status.PASS


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        (("a.c",), Status.ERROR),
        (("README.md", "src/own/core.py"), Status.ERROR),
        (("pyproject.toml",), Status.FAIL),
        (("sub/package-lock.json", "a.c"), Status.FAIL),
        (("setup.py",), Status.FAIL),
        (("all",), Status.FAIL),  # set-up names it
    ],
)
def test_set_up_that_fails_is_the_changes_where_it_reads_the_change(
    changed: tuple[str, ...], status: Status
) -> None:
    log = "something odd went wrong\n"
    again = Scripted(1, log) if status is Status.ERROR else Scripted(0)
    judgment, _ = judged(log, again, Scripted(0), changed=changed, command=STEPS)
    assert judgment.status is status, judgment.reasoning
    if status is Status.ERROR:
        assert judgment.metadata["reason"] == "environment"
        assert "something odd" in judgment.reasoning


@pytest.mark.parametrize(
    ("code", "blamed"), [((), True), (("src/own",), False), (("src/ow",), True), (("",), False)]
)
def test_set_up_that_runs_the_code_of_the_change(code: tuple[str, ...], blamed: bool) -> None:
    completed = Completed(1, Path("log"), 0.1)
    step = BuildStep("setup", ("pip", "install", "-e", "."))
    failed = PlanOutcome((StepResult(step, completed, "it is odd"),), 60.0)
    told = blame_environment(failed, ("src/own/core.py",), code)
    assert (told.environment is not None) is blamed


def test_what_a_package_manager_says_after_every_error_is_no_reason() -> None:
    log = "npm error code 7\nnpm error odd\nnpm error }\nnpm error A complete log of this run: x\n"
    judgment, _ = judged(log, Scripted(1, log), Scripted(0), command=STEPS)
    assert "not to blame: odd. To have" in judgment.reasoning


def test_set_up_that_fails_on_both_sides_without_a_reason_that_is_read() -> None:
    """Though the change touches what set-up reads."""
    log = (
        "➤ x@npm:7: Package not found\n➤ Response Code: 404 (Not Found)\n➤ Failed with errors in\n"
    )
    judgment, _ = judged(log, Scripted(1, log), changed=("package.json",), command=STEPS)
    assert judgment.metadata["reason"] == "environment", judgment.reasoning
    assert "set-up fails with the change and without it: ➤ x@npm:7: Package" in judgment.reasoning
    alone, _ = judged(log, Scripted(0), changed=("package.json",), command=STEPS)
    assert alone.status is Status.FAIL


def test_set_up_that_compiles_the_change() -> None:
    log = "a.c:3:1: error: expected ';' before '}' token\n"
    judgment, _ = judged(log, Scripted(0), Scripted(0), command=STEPS)
    assert judgment.status is Status.FAIL, judgment.reasoning


@pytest.mark.parametrize(
    ("log", "changed", "place"),
    [
        (
            (
                "error: Failed to build `own @ file://.`\n         [stderr]\n"
                "         Traceback (most recent call last):\n"
                '           File "<string>", line 8, in <module>\n'
                '           File "src/own/core.py", line 2\n'
                "             def (\n                 ^\n"
                "         SyntaxError: invalid syntax\n"
            ),
            "src/own/core.py",
            "src/own/core.py:2",
        ),
        ("      a.c:7:1: fatal error: expected ';'\nerror: it failed\n", "a.c", "a.c:7"),
        (
            (
                f"{TRACE}ImportError: cannot import name 'b' from 'own.other' (src/own/other.py)\n"
                "error: it failed\n"
            ),
            "src/own/other.py",
            "src/own/other.py",
        ),
    ],
)
def test_set_up_that_reads_the_change_and_names_it(log: str, changed: str, place: str) -> None:
    well = (Scripted(0), Scripted(0))
    judgment, _ = judged(log, *well, changed=(changed,), command=STEPS)
    assert judgment.status is Status.FAIL, judgment.reasoning
    first = judgment.metadata["failures"][0]
    assert first["state"] == "new"
    assert place == f"{first['path']}:{first['line']}".removesuffix(":None")


@pytest.mark.parametrize(
    "line", ["a.c:7:1: warning: unused variable", "copying a.c -> build/a.c", "b.c:7: error: no"]
)
def test_set_up_that_only_mentions_the_change(line: str) -> None:
    log = f"      {line}\nsomething odd went wrong\n"
    judgment, _ = judged(log, Scripted(1, log), Scripted(0), command=STEPS)
    assert judgment.metadata["reason"] == "environment", judgment.reasoning


@pytest.mark.parametrize(
    ("module", "reason"),
    [("numpy", "environment"), ("own", "base_broken"), ("test_a", "base_broken")],
)
def test_a_module_that_is_missing_on_both_sides(module: str, reason: str) -> None:
    log = f"{TRACE}ModuleNotFoundError: No module named '{module}'\n"
    judgment, _ = judged(log, Scripted(1, log))
    assert judgment.metadata["reason"] == reason, judgment.reasoning
    if reason == "environment":
        assert f"install `{module}`" in judgment.metadata["remedy"]


CMAKE = "CMake Error at CMakeLists.txt:3 (add_subdirectory):\n  The source directory\n\n"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("make: *** [Makefile:8: compile] Error 127", "environment"),
        ("make: *** [Makefile:8: compile] Error 2", "base_broken"),
        ("make: *** No rule to make target 'lib/sub/x.la', needed by 'y'.  Stop.", "environment"),
        ("make: *** No rule to make target 'src/sub/x.la', needed by 'y'.  Stop.", "base_broken"),
        (
            f"{TRACE}FileNotFoundError: [Errno 2] No such file or directory: 'lib/sub/tests'\n",
            "environment",
        ),
        (
            f"{CMAKE}    {{tree}}/lib/sub\n\n  does not contain a CMakeLists.txt file.\n",
            "environment",
        ),
        (
            f"{TRACE}FileNotFoundError: [Errno 2] No such file or directory: 'lib/other/tests'\n",
            "base_broken",
        ),
    ],
)
def test_a_program_or_submodule_that_is_missing_on_both_sides(line: str, reason: str) -> None:
    judgment, _ = judged(line, Scripted(1, line))
    assert judgment.metadata["reason"] == reason, judgment.reasoning
    if "sub/" in line and reason == "environment":
        assert judgment.metadata["remedy"].startswith("builds see no submodules")


@pytest.mark.parametrize(
    ("tests", "status"), [("", Status.ERROR), (TEST, Status.FAIL)], ids=["pass", "fail"]
)
def test_what_make_s_default_goal_lacks_hides_no_test(tests: str, status: Status) -> None:
    makefile = "all: docs\ndocs:\n\tman\n.PHONY: all docs test\ntest:\n\tpytest\n"
    tree = {**FILES, "Makefile": makefile}
    log = "make: *** [Makefile:3: docs] Error 127\n"
    runs = [Scripted(2, log), Scripted(2, log), Scripted(1, log), Scripted(1, f"{log}{tests}")]
    shell = ScriptedShell(runs)
    ports = Ports(TreeRepository({"merged": tree, "base": tree}), shell, SilentProgress())
    options = BuildOptions(systems=["make"], compare="on_failure")
    judgment = ask(make(options, ports), pull_context(changed=("a.c",)))
    assert judgment.status is status, judgment.reasoning


#: What pytest prints of one test that passed.
_ONE_PASSED = "1 passed in 0.01s\n"


@pytest.mark.parametrize(
    ("goal", "status"),
    [
        ("Makefile:3: docs] Error 1", Status.PASS),
        ("Makefile:9: test] Error 1", Status.FAIL),
        ("Makefile:9: run-checks] Error 1", Status.FAIL),
        ("Makefile:3: docs] Aborted", Status.FAIL),
        ("Makefile:3: docs] Error 134", Status.FAIL),
    ],
)
def test_an_old_failure_of_make_is_excused_only_aside_from_tests(goal: str, status: Status) -> None:
    """What a goal would have tested after it ended is not known on either side."""
    makefile = "all: docs\ndocs:\n\tfalse\n.PHONY: all docs test\ntest:\n\tpytest\n"
    tree = {**FILES, "Makefile": makefile}
    log = f"make: *** [{goal}\n"
    together = Scripted(1, f"{log}{_ONE_PASSED}")
    shell = ScriptedShell([Scripted(2, log), Scripted(2, log), together, together])
    ports = Ports(TreeRepository({"merged": tree, "base": tree}), shell, SilentProgress())
    options = BuildOptions(systems=["make"], compare="on_failure")
    judgment = ask(make(options, ports), pull_context(changed=("a.c",)))
    assert judgment.status is status, judgment.reasoning


def test_a_program_that_only_the_change_misses() -> None:
    judgment, _ = judged("make: *** [Makefile:8: compile] Error 127", Scripted(0))
    assert judgment.status is Status.FAIL


def test_a_module_that_only_the_change_misses() -> None:
    log = f"{TRACE}ModuleNotFoundError: No module named 'numpy'\n"
    judgment, _ = judged(log, Scripted(0))
    assert judgment.status is Status.FAIL
    assert judgment.metadata["failures"][0]["state"] == "new"


def test_a_base_that_cannot_be_built_is_not_to_be_fixed() -> None:
    flop = Scripted(1, "npm error code E503\n")
    judgment, _ = judged(TEST, flop, flop)
    assert judgment.status is Status.FAIL
    assert "the base could not be compared with: it cannot be built here" in judgment.reasoning
    assert judgment.metadata["failures"][0]["state"] == "new"


def test_what_was_not_handed_to_the_build_is_named_where_it_may_have_failed_for_it() -> None:
    flop, names = "npm error code ECONNREFUSED\n", ("HTTPS_PROXY",)
    judgment, _ = judged(flop, withheld=names)
    assert "not handed to the build, since they hold credentials: HTTPS_PROXY" in judgment.reasoning
    judgment, _ = judged(TEST, withheld=names)
    assert "HTTPS_PROXY" not in judgment.reasoning
