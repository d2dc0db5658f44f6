"""Sentences about test reports and logs that could not be read in full."""

FAILED = "failed"
HAS_DTD = "holds a document type, which is refused"
REPORT_PROBLEM = "the report {} {}"
NO_XML = "is not XML: {}"
TOO_MANY_TESTS = "was not read to its end: there are more than {} tests"
TOO_MANY_FAILURES = "was not read to its end: more than {} tests failed"
TOO_MANY_REPORTS = "only the first {} test reports were read"
SHOWS_NO_FAILURE = "counts {:,} failures and shows none"
TOO_DEEP = "is nested deeper than {} levels"
LEFT_OUT = "{} left tests out: {}"
STOPPED_EARLY = "the tests of {} stopped early"


def foreign_report(form: str, root: str) -> str:
    """Return the clause about a report in another form than JUnit's."""
    if form:
        article = "an" if form[0] in "AEINOx" else "a"
        return f"is {article} {form} file; JUnit is wanted"
    return f"begins with <{root[:40]}>, not with <testsuites> or <testsuite>; JUnit is wanted"
