"""The programs that a script of a workflow calls, and what each call is for. Pure."""

from __future__ import annotations

import json
import posixpath
import shlex
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, pairwise, takewhile
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

Purpose: TypeAlias = Literal["setup", "build", "test", "lint", "other"]
#: The kind of code that tests are of, and the program that runs them; both empty for no test.
Family: TypeAlias = str
Runner: TypeAlias = str

TABLE = json.loads((Path(__file__).parent / "programs.json").read_text("utf-8"))


def _read_options(name: str) -> dict[str, frozenset[str]]:
    rows = TABLE[name].items()
    return {one: frozenset(text.split()) for programs, text in rows for one in programs.split()}


#: Lists of programs and words, by what they are for.
WORDS = {name: frozenset(listed.split()) for name, listed in TABLE["words"].items()}
#: The tools that actions set up, and the input that names the version.
SETUP_ACTIONS = {action: tuple(words.split()) for action, words in TABLE["setup_actions"].items()}
#: Programs that run tests whatever follows, with the kind of code.
_RUNNERS = {name: family for family, names in TABLE["runners"].items() for name in names.split()}
#: Programs that run tests where one of some words follows; `*` stands for any name of tests, `+`
#: for one anywhere among several tasks, a dash for no word at all.
_CALLED = {program: tuple(words.split()) for program, words in TABLE["called"].items()}
#: Options behind which wrappers are told what to run, and by which programs only list their tasks.
_RUNNING_OPTIONS, _LISTING = _read_options("running_options"), _read_options("listing_options")
#: Options with a value that is no task and no program: packages, files, profiles.
_VALUED = _read_options("valued")
#: Options that say where a program works, by programs; a build file stands for its directory.
_PLACES = _read_options("places")
_BUILD_FILES = (".toml", ".xml", ".ini", ".cfg", ".py", ".gradle", ".kts", ".sln", ".slnx", "proj")

#: Families that are built by recipes with the CI's options; a build at the root holds all below it.
RECIPE_FAMILIES = frozenset({"cargo", "maven", "gradle", "cmake"})
#: Options to end at the first failure, by runner; Jest is told to go on.
_STOPPING = _read_options("stopping")
_SIGNS = str.maketrans("-_:./@+", "       ")


class Call(msgspec.Struct, frozen=True):
    """A command of a script, the kind of code that it tests, its runner, and what starts it.

    Its `place` is where it works, by its options and each ``cd`` before it, from the directory of
    the script, which it may leave.
    """

    words: tuple[str, ...]
    purpose: Purpose
    family: str = ""
    runner: str = ""
    through: str = ""
    place: str = ""

    @property
    def program(self) -> str:
        return normalise_program(self.words[0])

    @property
    def arguments(self) -> list[str]:
        """The words behind the program, but for those that say where it works."""
        return _extract_working_directory(self.words)[1][1:]

    @property
    def configures(self) -> bool:
        return self.program == "cmake" and _CMAKE_MODES.isdisjoint(self.words)


@lru_cache(4096)  # rows of a matrix have most lines in common
def read_calls(script: str) -> tuple[Call, ...]:
    calls, place, outer = list[Call](), "", list[str]()
    for words in chain.from_iterable(map(_split_commands_and_brackets, list_command_lines(script))):
        if words[0] in {"(", "pushd"}:
            outer.append(place)
        if words[0] in {"cd", "pushd"}:
            place = posixpath.join(place, *words[1:2])
        elif words[0] in {")", "popd"}:
            place = outer.pop() if outer else place
        elif words[0] != "(":
            calls.append(_read_call(words, place))
    return tuple(calls)


def stops_early(call: Call) -> bool:
    names = {word.partition("=")[0] for word in call.words}
    return not names.isdisjoint(_STOPPING.get(call.runner, frozenset()))


def find_purpose(calls: Iterable[Call]) -> Purpose:
    """The purpose of a script: the most of what its commands do."""
    purposes = {call.purpose for call in calls}
    order: Sequence[Purpose] = ("test", "setup", "build", "other", "lint")
    return next((one for one in order if one in purposes), "other")


def list_command_lines(script: str) -> Iterator[str]:
    """The lines of commands, continued ones joined, without comments and texts handed over."""
    end = ""
    for line in script.replace("\\\n", " ").splitlines():
        plain = line.strip()
        if end:
            end = "" if plain == end else end
        elif plain and not plain.startswith("#"):
            yield plain
            end = find_heredoc(plain)


def find_heredoc(line: str) -> str:
    """The mark at the end of a text that a line hands over; empty if it hands over none."""
    before, sign, after = line.partition("<<")
    mark = after.lstrip("- ").partition(" ")[0].strip("'\"\\;)|&")
    return mark if sign and "((" not in before and mark.isidentifier() else ""


def _split_commands_and_brackets(line: str) -> Iterator[list[str]]:
    """The commands of a line in words, without assignments before them, and its brackets."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=";&|()<>")
    lexer.whitespace_split, lexer.commenters = True, "#"
    try:
        words = list(lexer)
    except ValueError:  # a quotation that ends on another line
        words = line.split()
    command: list[str] = []
    for before, word in pairwise(["", *words, ";"]):
        if set(word) <= set(";&|()") or word == "`":
            if command:
                yield command
            command = []
            yield from ([sign] for sign in word if sign in "()")
        elif set(word) <= set("<>&0123456789") and ("<" in word or ">" in word):
            continue
        elif before and set(before) <= set("<>&") and set(before) & set("<>"):
            continue  # the file that output goes to
        elif command or not (
            word in WORDS["shell_words"]
            or ("=" in word and word.partition("=")[0].removesuffix("+").isidentifier())
        ):
            command.append(word)


def normalise_program(word: str) -> str:
    """A program by its name, without its directory, suffix and number."""
    name = word.rpartition("}")[2] if word.startswith("${") else word
    name = name.rpartition("/")[2].lstrip("_")
    for suffix in (".exe", ".cmd", ".bat"):
        name = name.removesuffix(suffix)
    if name.rstrip("0123456789.t") in {"python", "pypy"}:
        return "python"
    return str(TABLE["aliases"].get(name, name))


def name_script(call: Call) -> str:
    """The script of a package that a call of its manager runs; empty if it runs none."""
    plain = [word for word in call.arguments if not word.startswith("-")]
    if any(word.partition("=")[0] in _VALUED.get(call.program, ()) for word in call.arguments):
        return ""  # of other packages
    words = plain[1:] if plain[:1] in (["run"], ["run-script"]) else plain
    return "test" if words[:1] in (["t"], ["tst"]) else next(iter(words), "")


def _read_call(words: list[str], place: str) -> Call:
    before, words, inside = words[0], *_unwrap_and_find_place(words)
    through = normalise_program(before) if words[0] != before else ""
    below, (path, *rest) = _extract_working_directory(words)
    program = normalise_program(path)
    family, runner = _find_test_family_and_runner(program, rest, path, below)
    purpose = "test" if family else _find_purpose_besides_tests(program, rest, path)
    place = posixpath.normpath(posixpath.join(place, inside, below))
    return Call(tuple(words), purpose, family, runner, through, "" if place == "." else place)


def _unwrap_and_find_place(words: list[str]) -> tuple[list[str], str]:
    """The words without programs that run the rest, and the place that these are told.

    ``uv run --group x pytest`` is pytest.
    """
    place = ""
    for _ in range(4):
        program = normalise_program(words[0])
        below, plain = _extract_working_directory(words)
        if program == "python" and "-m" in words[1:-1]:
            words = words[words.index("-m") + 1 :]
        elif program in WORDS["managers"] | WORDS["by_file"] and (at := _find_runner_or_0(plain)):
            words = [plain[at].removesuffix(".js"), *plain[at + 1 :]]
            place = posixpath.join(place, below)
        elif program == "go" and (inner := _find_go_runner(plain[1:])):
            words = inner
        elif program in WORDS["wrappers"] and (inner := _find_wrapped_command(program, words[1:])):
            below, _ = _extract_working_directory(words[: len(words) - len(inner)])
            words = [*inner[0].split(), *inner[1:]] or inner  # one word may be a whole line
            place = posixpath.join(place, below)
        else:
            break
    return words, place


#: Words by which CMake does something else than configuring.
_CMAKE_MODES = frozenset({"--build", "--install", "--workflow", "-E", "-P"})


def _extract_working_directory(words: Sequence[str]) -> tuple[str, list[str]]:
    """The place that a program is told by its words, and the words without it."""
    program = normalise_program(words[0])
    options = _PLACES.get(program, frozenset())
    places, rest, following = list[str](), [words[0]], iter(words[1:])
    for word in following:
        name, sign, value = word.partition("=")
        if word == "--":
            rest += [word, *following]
        elif name in options:
            places.append(value if sign else next(following, ""))
        elif word[:2] in options and word[1].isupper():
            places.append(word[2:])
        else:
            rest.append(word)
    if program == "cmake" and not places and _CMAKE_MODES.isdisjoint(words):
        pairs = [pair for pair in pairwise(rest) if pair[0] not in WORDS["cmake_valued"]]
        places = [word for _, word in pairs if word[:1] not in {"", "-"}][-1:]
    elif program == "dotnet":
        names = (".sln", ".slnx", "proj")
        pairs = [*pairwise(rest[1 : rest.index("--") if "--" in rest else None])]
        plain = [word for before, word in pairs if word.endswith(names) or before[:1] != "-"]
        plain = [word for word in plain if word[:1] not in {"", "-", "/"}]
        places += [word for word in plain if word.endswith(names) or "/" in word][:1]
    place = places[-1] if places else ""
    is_file = place.endswith(_BUILD_FILES) or place.endswith(("Gemfile", "justfile", "file.yml"))
    return (posixpath.dirname(place) if is_file else place), rest


def _find_go_runner(words: Sequence[str]) -> list[str]:
    """The runner of tests that ``go run`` or ``go tool`` starts, with its words."""
    plain = [word for word in words[1:] if not word.startswith("-")]
    if words[:1] not in (["run"], ["tool"]) or not plain:
        return []
    name = plain[0].partition("@")[0].rpartition("/")[2]
    return [name, *words[words.index(plain[0]) + 1 :]] if name in _RUNNERS else []


def _find_runner_or_0(words: Sequence[str]) -> int:
    by_file, valued = words[0] in WORDS["by_file"], _VALUED.get(words[0], frozenset())
    for at, (before, word) in enumerate(pairwise(words), 1):
        if word.rpartition("/")[2].removesuffix(".js").lstrip("_") in _RUNNERS:
            return at
        if not (word[:1] == "-" or before in valued if by_file else word in WORDS["starting"]):
            return 0
    return 0


def find_last_call(text: str) -> tuple[Call | None, bool]:
    """The command that gets the arguments of a script, if that is certain, and if it is alone."""
    calls = read_calls(text)
    plain = text.replace("&&", " ").strip()
    odd = set("`$\\\n|;<>()#&") & set(plain) or plain.count("'") % 2 or plain.count('"') % 2
    certain = calls and not odd and not text.rstrip().endswith("&&")
    return (calls[-1], len(calls) == 1) if certain else (None, False)


def tests_in_container(words: Sequence[str]) -> bool:
    """True if a line of Docker or Compose tests, by its command or else by the image's name."""
    pairs = (word.split("=", word.startswith(("--en", "--exit"))) for word in words[1:])
    plain = [one for pair in pairs for one in pair if one not in {"compose", "container", "up"}]
    image, *command = _find_wrapped_command("docker", plain) or [""]
    command[:0] = [name for option, name in pairwise(plain) if option == "--entrypoint"]
    name = command[0] if command else image.rpartition("/")[2]
    texts = [after for word, after in pairwise(command) if word[:1] == "-" and word[-1:] == "c"]
    by_shell = texts and normalise_program(name) in WORDS["shells"]
    calls = read_calls(texts[0] if by_shell else shlex.join(command))
    return ("/" not in name and is_test_name(name)) or any(call.family for call in calls)


def _find_wrapped_command(program: str, words: list[str]) -> list[str]:
    runs = program not in WORDS["wrappers_that_run_with_a_word"]
    at = 0
    while at < len(words):
        word = words[at]
        if word in WORDS["running"] or word in _RUNNING_OPTIONS.get(program, ()):
            runs = True
        elif word.startswith("-") or "=" in word or word.rstrip("smh").isdigit():
            at += word in _VALUED.get(program, WORDS["with_value"])
        elif not runs:
            return []
        elif program in WORDS["task_runners"] and word not in _RUNNERS:  # or ENVIRONMENT:SCRIPT
            script = [word.rpartition(":")[2], *words[at + 1 :]]
            beside = word == "build" or not WORDS["beside"].isdisjoint(split_name(word))
            return [program, word] if beside or is_test_name(word) else script
        elif program == "coverage" and "-m" not in words[:at]:
            return ["python", *words[at:]]
        else:
            return words[at:]
        at += 1
    return []


def _find_test_family_and_runner(
    program: str, arguments: Sequence[str], program_path: str, place: str
) -> tuple[Family, Runner]:
    usual = WORDS["listing_tests"] if program in _RUNNERS else frozenset[str]()
    if not (WORDS["idle_options"] | _LISTING.get(program, usual)).isdisjoint(arguments):
        return "", ""
    if program in _RUNNERS:
        family, tests = _RUNNERS[program], not _selects_no_tests(program, arguments)
    elif program in _CALLED:
        family, *names = _CALLED[program]
        arguments = _reduce_to_task_words(program, arguments)
        tests = _asks_for_test(names, arguments)
        starts, *plain = [word for word in arguments if word[:1] not in {"-", "+"}] or [""]
        if program == "go" and starts == "run":
            task = "".join(plain[1:2])
            tests = task.startswith("test") and is_test_name(task) and not {".", "/"} & {*task}
        if starts in WORDS["going_through"] and program not in WORDS["managers"]:
            tests = tests or (starts == "run" and family != "php" and is_test_name(place))
            return (family, "script") if tests else ("", "")
    elif program in _BUILDERS:
        family, tests = _BUILDERS[program], _calls_test_goal(program, arguments)
        inside = posixpath.normpath(place).rpartition("../")[2]
        tests = tests or (family == "make" and inside.startswith("test"))
    else:
        return _detect_test_script(program, arguments, program_path)
    return (family, program) if tests else ("", "")


def _reduce_to_task_words(program: str, words: Sequence[str]) -> list[str]:
    """The words without those that say in which packages, or for which versions, a task runs."""
    if program == "sbt":
        lines = (line.replace(" / ", "/").split() for word in words for line in word.split(";"))
        tasks = ([one for one in line if one.lstrip("+")[:1].isalpha()] for line in lines)
        return [line[0].lstrip("+").replace(":", "/").rpartition("/")[2] for line in tasks if line]
    if program == "nx":
        return [word.removeprefix("--target=").removeprefix("--targets=") for word in words]
    pairs = pairwise(["", *words])
    plain = [word for before, word in pairs if before not in _VALUED.get(program, ())]
    return [word for word in plain if "=" not in word or word.startswith(("-", "+"))]


def _asks_for_test(test_words: Sequence[str], words: Sequence[str]) -> bool:
    end = words.index("--") if "--" in words[1:] else len(words)
    first, *rest = [word for word in words[:end] if not word.startswith(("-", "+"))] or ["-"]
    if first in WORDS["going_through"] and "*" in test_words:
        task = rest or words[end + 1 :]
        if first == "exec":
            return any(call.family for call in read_calls(" ".join(task)))
        return any(map(is_test_name, task[:3]))
    if first == "build" and "*" in test_words and rest[:1] == ["test"]:
        return True
    if first == "hack":
        return not {"test", "nextest"}.isdisjoint(rest)
    tasks = [first, *rest] if "+" in test_words else [first] if "*" in test_words else []
    names = [word for word in tasks if "test" in word.lower() or "spec" in word.lower()]
    return first in test_words or any(map(is_test_name, names))


def _calls_maven_test(words: Sequence[str]) -> bool:
    """True if a goal of the words tests; the default goal does, where none is listed."""
    goals, valued = [], _VALUED["mvn"]
    for before, word in pairwise(["", *words]):
        text = word.lower().removeprefix("-d")
        if text.startswith(("skiptests", "maven.test.skip")) and not text.endswith("false"):
            return False
        if word[:1] not in {"", "-"} and "$" not in word and before not in valued:
            goals.append(word)
    return not goals or not WORDS["maven_goals"].isdisjoint(goals)


def _calls_test_goal(program: str, words: Sequence[str]) -> bool:
    if program == "mvn":
        return _calls_maven_test(words)
    for before, word in pairwise(["", *words]):
        if program == "cmake":
            tests = before in {"--target", "-t"} and is_test_name(word)
        elif word[:1] in {"", "-"} or "=" in word or before in _VALUED.get(program, ()):
            tests = False
        elif program == "gradle":
            goal = word.rpartition(":")[2]
            pieces = split_name("".join(f" {one}" if one.isupper() else one for one in goal))
            works = not WORDS["gradle_beside"].isdisjoint(pieces[:1]) or _prepares(pieces)
            signs = ("test" in one and one not in WORDS["no_test_names"] for one in pieces)
            tests = goal in WORDS["gradle_tasks"] or (not works and any(signs))
        else:
            tests = is_test_name(word)
        if tests:
            return True
    return False


#: Programs of which any word may be a goal that tests, with the kind of code.
_BUILDERS = {"mvn": "maven", "gradle": "gradle", "cmake": "cmake"}
_BUILDERS |= dict.fromkeys(WORDS["makes"], "make")


def _detect_test_script(program: str, words: Sequence[str], path: str) -> tuple[Family, Runner]:
    if program in WORDS["interpreters"]:
        return _detect_interpreted_test(program, words)
    if "/" not in path:
        return "", ""
    if words and is_test_name(words[0]) and path.startswith("./"):
        return "script", "script"
    return _detect_test_path(path)


def _detect_interpreted_test(program: str, arguments: Sequence[str]) -> tuple[Family, Runner]:
    if program in {"node", "tsx"} and "--test" in arguments:
        return "node", "node"
    valued = _VALUED.get(program, frozenset())
    pairs = pairwise(["", *arguments])
    options = [*takewhile(lambda pair: pair[1][:1] == "-" or pair[0] in valued, pairs)]
    path, *words = arguments[len(options) :] or [""]
    texts = {"-c"} if program in WORDS["shells"] else {"-c", "-e", "-E"}
    if not path or not texts.isdisjoint({word for _, word in options} - valued):
        return ("script", "script") if ".test(" in path or "::test" in path else ("", "")
    rest = [word for word in words if not word.startswith("-")]
    if path.endswith(("manage.py", "setup.py")) and rest:
        return ("python", "django") if rest[0] in {"test", "pytest"} else ("", "")
    if (inner := normalise_program(path)) in _CALLED:
        return _find_test_family_and_runner(inner, words, path, "")
    return ("script", "script") if rest[:1] == ["test"] else _detect_test_path(path)


def _detect_test_path(path: str) -> tuple[Family, Runner]:
    *folders, name = path.removeprefix("./").lower().split("/")
    stem = name.partition(".")[0] or name
    pieces = split_name(stem)
    begins = stem.startswith(tuple(WORDS["preparing"] - {"compile"}))
    prepares = begins or _prepares(pieces) or WORDS["beside"].intersection(pieces)
    tests = WORDS["script_names"].intersection(pieces) or {"test", "tests", "t"} & {*folders}
    runs = tests or stem.startswith("test") or stem.endswith("test")
    return ("script", "script") if runs and not prepares else ("", "")


def split_name(name: str) -> list[str]:
    return name.translate(_SIGNS).lower().split()


def is_test_name(name: str) -> bool:
    pieces = split_name(name)
    if WORDS["beside"].intersection(pieces) or _prepares(pieces):
        return False
    alone = bool(pieces) and WORDS["test_names_alone"].issuperset(pieces)
    return alone or _has_test_word(pieces) or name.lower().startswith("test")


def _prepares(pieces: Sequence[str]) -> bool:
    begins = not WORDS["preparing"].isdisjoint(pieces[:1])
    return begins or not WORDS["prepared"].isdisjoint(pieces[-1:])


def _has_test_word(pieces: Sequence[str]) -> bool:
    ends = (one.endswith(("test", "tests")) for one in pieces if one not in WORDS["no_test_names"])
    return not WORDS["test_names"].isdisjoint(pieces) or any(ends)


def _selects_no_tests(program: str, words: Sequence[str]) -> bool:
    options = {"-e", "-s", "--session", "--sessions", "-t"} if program in {"tox", "nox"} else ()
    listed = ",".join(after for word, after in pairwise(words) if word in options)
    names = map(split_name, listed.split(","))
    return bool(listed) and not any(map(WORDS["beside"].isdisjoint, names))


def _find_purpose_besides_tests(program: str, words: Sequence[str], path: str) -> Purpose:
    plain = [word for word in words if not word.startswith("-")]
    first = plain[0] if plain else ""
    pieces = split_name(" ".join(plain[: 2 if first in WORDS["going_through"] else 1]))
    beside = program in WORDS["named_beside"] and not WORDS["beside"].isdisjoint(pieces)
    packs = program in WORDS["packagers"] and first in WORDS["packaging"]
    packs = packs or (program == "tsc" and "--noEmit" in words)
    if program in WORDS["linters"] or beside or packs or _selects_no_tests(program, words):
        return "lint"
    installs = first in WORDS["install_words"] or (program == "yarn" and not plain)
    if program in {"venv", "virtualenv"} or (program in WORDS["installers"] and installs):
        return "setup"
    listed = WORDS["interpreters"] | WORDS["named_beside"] | WORDS["makes"]
    words_of_it = [*split_name(path), *(pieces if program in listed else ())]
    builds = not WORDS["build_words"].isdisjoint(words_of_it) or first == "all"
    compilers = {"go", "cargo", "dotnet", "swift", "perl", "mvn", "gradle"}
    compiles = (program in compilers and bool(plain)) or plain[:1] == ["setup.py"]
    return "build" if program in WORDS["builders"] or builds or compiles else "other"
