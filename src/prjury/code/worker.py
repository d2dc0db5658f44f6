"""The parser's own process: reads jobs from standard input, writes one reply a line.

It is started by path, and imports little of this package: `names`, `publics`, `outline`, `faults`
and what those need. Native code cannot be interrupted from within Python: each job sets an alarm
whose default action ends the process. The first job without a reply is then to blame.

The first line has the seconds for each job, and a table of rules, ast-grep configs which may have
``names`` besides. Each further one is a job, ``{"language", "text", "rules": [place in the table,
...], "comments": [kind, ...], "strings": [kind, ...]}``; its reply is ``{"matches": [[rule, [start,
end]], ...], ...}`` in characters, or ``{"error": message}``. ``tree``, ``publics`` and
``definitions`` ask for more; ``{"syntax": file}`` asks for its fault alone.
"""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import socket
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from ast_grep_py import SgNode

#: Address space of the process; a megabyte of sound code takes up to 300 MB. Beyond the limit the
#: native code aborts.
MEMORY_LIMIT = 1024**3

_NUMBERED = re.compile(r"^\d+: ")


def run_job(job: dict[str, Any]) -> dict[str, Any]:
    if job.get("syntax"):
        from prjury.code.faults import answer_syntax_job  # noqa: PLC0415 - found once `main` has looked

        return answer_syntax_job(job)
    from ast_grep_py import SgRoot  # noqa: PLC0415 - native code, loaded where it is used

    root = SgRoot(job["text"], job["language"]).root()
    if job.get("publics"):
        from prjury.code.publics.declared import read_publics_as_dict  # noqa: PLC0415 - as above

        return read_publics_as_dict(root, job["language"])
    if job.get("definitions"):
        from prjury.code.outline import measure_definitions_and_bodies  # noqa: PLC0415 - as above

        return {"definitions": measure_definitions_and_bodies(root, job["language"])}
    rules = _expand_name_rules(root, job["language"], job["rules"])

    def ranges(config: Any) -> list[list[int]]:  # noqa: ANN401 - as ast-grep takes it
        return [_span(node) for node in root.find_all(config)]

    def of_kinds(kinds: list[str]) -> list[list[int]]:
        return ranges({"rule": {"any": [{"kind": kind} for kind in kinds]}}) if kinds else []

    return {
        "matches": [(number, place) for number, rule in enumerate(rules) for place in ranges(rule)],
        "comments": of_kinds(job["comments"]),
        "strings": of_kinds(job["strings"]),
        **({"tree": list_nodes_with_child_counts(root)} if job.get("tree") else {}),
    }


def list_nodes_with_child_counts(root: SgNode) -> list[list[Any]]:
    rows: list[list[Any]] = []
    waiting = [root]
    while waiting:
        node = waiting.pop()
        children = node.children()
        rows.append([node.kind(), *_span(node), len(children)])
        waiting.extend(reversed(children))
    return rows


def _span(node: SgNode) -> list[int]:
    place = node.range()
    return [place.start.index, place.end.index]


def _expand_name_rules(root: SgNode, language: str, configs: list[dict[str, Any]]) -> list[Any]:
    """The rules with their words for tables names put into the terms of this file."""
    from prjury.code.names import find_import_bindings, make_use_import_rules  # noqa: PLC0415 - found once `main` has looked

    tables = [config.get("names") or {} for config in configs]
    names = [name for words in tables for listed in words.values() for name in listed]
    bindings = find_import_bindings(root, language, names) if names else []
    rules: list[Any] = []
    for config, words in zip(configs, tables, strict=True):
        rule = {key: value for key, value in config.items() if key != "names"}
        if words:
            utils = {**config.get("utils", {}), **make_use_import_rules(language, bindings, words)}
            rule = drop_unreferenced_utils({**rule, "utils": utils})
        rules.append(rule)
    return rules


def drop_unreferenced_utils(config: dict[str, Any]) -> dict[str, Any]:
    """The rule with the utility rules that it refers to; each one costs time to compile."""
    utils = config.get("utils", {})
    needed: dict[str, Any] = {}
    waiting = [config.get("rule"), config.get("constraints")]
    while waiting:
        for word in _list_referenced_utils(waiting.pop()):
            if word in utils and word not in needed:
                needed[word] = utils[word]
                waiting.append(utils[word])
    return {**config, "utils": needed}


def _list_referenced_utils(rule: object) -> Iterator[str]:
    if isinstance(rule, dict):
        if isinstance(rule.get("matches"), str):
            yield rule["matches"]
        for value in rule.values():
            yield from _list_referenced_utils(value)
    elif isinstance(rule, list):
        for value in rule:
            yield from _list_referenced_utils(value)


def run_job_or_error(job: dict[str, Any]) -> dict[str, Any]:
    """The scan's reply; the parser's panics are no Exceptions and become an error as well."""
    try:
        return run_job(job)
    except BaseException as crash:  # noqa: BLE001 - pyo3's PanicException is a BaseException
        # ast-grep tells a chain of causes, and its stack trace.
        text = str(crash).partition("Stack backtrace")[0].replace("Caused by:", "")
        causes = (_NUMBERED.sub("", line.strip()) for line in text.splitlines() if line.strip())
        return {"error": "; ".join(causes) or "the parser crashed"}


def main() -> None:
    sys.path.append(str(Path(__file__).resolve().parents[2]))
    load_and_fork_workers(socket.socket(fileno=os.dup(0)))


def limit_memory_and_answer_stdin_jobs() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    seconds, configs = json.loads(sys.stdin.buffer.readline())
    table = [drop_unreferenced_utils(config) for config in configs]
    for line in sys.stdin.buffer:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        job = json.loads(line)
        reply = run_job_or_error({**job, "rules": [table[number] for number in job["rules"]]})
        signal.setitimer(signal.ITIMER_REAL, 0)
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()


def load_and_fork_workers(channel: socket.socket) -> None:
    """Fork a worker for each request and its three files, until the other end is closed."""
    from prjury.code.names import MODULES  # noqa: PLC0415 - found once `main` has looked

    for name in MODULES.values():
        import_module(f"prjury.code.names.{name}")
        import_module(f"prjury.code.publics.{name}")
    import_module("prjury.code.outline")
    run_job_or_error({"syntax": {"path": "A.java", "content": ""}})
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        _, files, _, _ = socket.recv_fds(channel, 1, 3)
        if len(files) < 3:  # noqa: PLR2004 - the three above
            return
        if os.fork() == 0:
            channel.close()
            _fork_worker_and_report_end(*files)
        for file in files:
            os.close(file)


def _fork_worker_and_report_end(jobs_fd: int, output_fd: int, exit_code_fd: int) -> NoReturn:
    """Run one worker in a process of its own, because it may be killed, and report its end."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    child = os.fork()
    if child == 0:
        os.close(exit_code_fd)
        os.dup2(jobs_fd, 0)
        os.dup2(output_fd, 1)
        limit_memory_and_answer_stdin_jobs()
        os._exit(0)
    os.write(exit_code_fd, b"%d\n" % child)
    _, status = os.waitpid(child, 0)
    os.write(exit_code_fd, b"%d\n" % os.waitstatus_to_exitcode(status))
    os._exit(0)


if __name__ == "__main__":
    main()
