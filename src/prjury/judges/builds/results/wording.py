"""Sentences about test reports and logs that could not be read in full."""

from __future__ import annotations

FAILED = "failed"
HAS_DTD = "holds a document type, which is refused"


def report_problem(name: str, why: str) -> str:
    """Return the sentence about one report."""
    return f"the report {name} {why}"


def foreign_report(form: str | None, root: str) -> str:
    """Return the clause about a report in another form than JUnit's."""
    if form:
        article = "an" if form[0] in "AEINOx" else "a"
        return f"is {article} {form} file; JUnit is wanted"
    return f"begins with <{root[:40]}>, not with <testsuites> or <testsuite>; JUnit is wanted"


def no_xml(error: Exception) -> str:
    """Return the clause about a report that the parser refuses."""
    return f"is not XML: {error}"


def no_json(error: Exception) -> str:
    """Return the clause about a report that is no JSON."""
    return f"cannot be read as JSON: {error}"


def foreign_json() -> str:
    """Return the clause about JSON in another form than Jest's and RSpec's."""
    return "is no report of Jest or RSpec"


def too_many_tests(most: int) -> str:
    """Return the clause about a report of too many tests."""
    return f"was not read to its end: there are more than {most} tests"


def too_many_failures(most: int) -> str:
    """Return the clause about a report of too many failures."""
    return f"was not read to its end: more than {most} tests failed"


def too_many_reports(most: int) -> str:
    """Return the sentence about reports that were left out."""
    return f"only the first {most} test reports were read"


def shows_no_failure(count: int) -> str:
    """Return the clause about a report that counts failures and shows none."""
    return f"counts {count:,} failures and shows none"


def too_deep(most: int) -> str:
    """Return the clause about a report that is nested too deeply."""
    return f"is nested deeper than {most} levels"


def left_out(runner: str, why: str) -> str:
    """Return the sentence about tests that a runner left out, in its own words."""
    return f"{runner} left tests out: {why}"


def stopped_early(runner: str, suite: str) -> str:
    """Return the sentence about a run that never came to its end."""
    return f"the tests of {suite or runner} stopped early"


def same_name(suite: str) -> str:
    """Return the sentence about test programs that cannot be told apart."""
    return f"several test programs are called {suite}"
