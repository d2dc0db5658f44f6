from __future__ import annotations

import base64
import json
import time
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from prjury.report.sanitise import WITHHELD, Redactor, redact_text

# Put together at run time, so that no scanner takes them for real ones.
PEM = "-----BEGIN {0}-----\nMIIEow\nabc\n-----END {0}-----".format("RSA PRIVATE KEY")
TOKENS = [
    "ghp_" + "a1B2" * 9,
    "ghs_" + "Z9y8" * 9,
    "github_pat_" + "A1b2C3" * 13 + "abcd",
    "AKIA" + "ABCDEFGH23456789"[:16],
    "sk-" + "ant-api03-" + "q1W2" * 10,
    "xoxb-" + "123456789012-abcdefABCDEF",
    "npm_" + "x" * 36,
    "pypi-" + "AgEIcHlwaS5vcmc" + "Cj" * 20,
    "AIza" + "S" * 35,
    "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxIn0" + ".c2lnbmF0dXJl",
    "glpat-" + "a" * 20,
    "hf_" + "aB" * 17,
    "dckr_" + "pat_" + "aB1-" * 7,
    "SG." + "a1B2" * 5 + "." + "c3D4" * 10,
    "sk_live" + "_" + "a1" * 12,
    "whsec" + "_" + "a1B2" * 8,
    PEM,
]
REDACT = Redactor()


@pytest.mark.parametrize("token", TOKENS)
def test_tokens_are_found_by_their_shape(token: str) -> None:
    told = REDACT(f"before {token} after")
    assert token not in told
    assert told.startswith("before [redacted: ")
    assert told.endswith("] after")


@pytest.mark.parametrize("token", TOKENS[:-1])
def test_a_colour_code_or_a_hidden_character_does_not_save_a_token(token: str) -> None:
    for split in ("\x1b[31m", "\u200b", "\u202e"):
        assert REDACT(f"{token[:9]}{split}{token[9:]}").startswith("[redacted: ")


def test_a_wrapped_token_is_found_as_a_whole() -> None:
    token = "ghp_" + "a1B2" * 9
    told = REDACT("x" * 60 + " " + token[:19] + "\n" + token[19:] + "\nnext line")
    assert told == "x" * 60 + " [redacted: GitHub token]\nnext line"


def test_credentials_go_and_their_surroundings_stay() -> None:
    assert REDACT("https://me:pw@host/x") == "https://[redacted: credentials]@host/x"
    assert REDACT("ssh://git@host/x") == "ssh://git@host/x"
    assert REDACT("Authorization: Bearer abc") == "Authorization: Bearer [redacted: authorization]"
    assert REDACT('{"authorization": "Basic dTpw"}').startswith('{"authorization": "Basic [red')
    assert "hunter" not in REDACT("aws_secret_access_key = hunter2hunter2hunter2hunter2hunter2")


@pytest.mark.parametrize(
    "text",
    [
        "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
        "https://github.com/o/r/commit/4b825dc642cb6eb9a060e54bf8d69288fbee4904",
        "123e4567-e89b-12d3-a456-426614174000",
        "risk-assessment-of-a-long-task-name",
        "String authorization = request.getHeader(NAME);",
        "Bearer of bad news",
        "pypi-publish-with-trusted-publishing-now",
        "at org.junit.Foo(Foo.java:12)",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert REDACT(text) == text


SECRET = st.text(
    st.characters(min_codepoint=33, max_codepoint=0x2FF, exclude_categories=["Cc", "Cf", "Zs"]),
    min_size=6,
    max_size=40,
)


@given(SECRET, st.binary(max_size=4), st.binary(max_size=4))
def test_known_values_are_found_in_every_form(secret: str, before: bytes, behind: bytes) -> None:
    assume(secret not in "a [redacted: secret] b")
    redact = Redactor((secret,))
    value = secret.strip()
    for form in (value, quote(value, safe=""), quote_plus(value), json.dumps(value)[1:-1]):
        assert form not in redact(f"a {form} b")
    encoded = base64.b64encode(before + value.encode() + behind).decode()
    assert redact(encoded) != encoded


def test_a_key_of_several_lines_is_found_line_by_line() -> None:
    redact = Redactor(("first line of the key\r\nsecond line of the key",))
    assert redact("log: second line of the key") == "log: [redacted: secret]"
    assert redact("first line of the key\nsecond line of the key") == "[redacted: secret]"


def test_values_that_are_too_short_would_blank_out_words() -> None:
    assert Redactor(("abc", "")).__call__("abc") == "abc"


def test_a_redactor_does_not_print_its_values() -> None:
    assert "hunter2" not in repr(Redactor(("hunter2hunter2",)))


@given(st.text(max_size=200))
def test_any_text_without_a_hint_is_untouched_and_nothing_raises(text: str) -> None:
    assert isinstance(REDACT(text), str)


def test_a_failure_withholds_the_text() -> None:
    def broken(_text: str) -> str:
        raise ValueError("no")

    assert redact_text("secret", broken) == WITHHELD


@pytest.mark.parametrize(
    "text",
    [
        "password=hunter2-x9!",
        'PASSWORD: "c0rrect-horse"',
        "db.passwd = s3cretvalue",
        "AccountKey=" + "a1B2" * 10 + "==",
        "SharedAccessKey=" + "a1B2" * 10 + "=",
        '{"api_key": "' + "a1B2" * 5 + '"}',
    ],
)
def test_what_is_assigned_as_a_secret_goes(text: str) -> None:
    assert "[redacted: " in REDACT(text)


@pytest.mark.parametrize(
    "text",
    [
        'password = os.environ["DB_PASSWORD_1"]',
        "password: ${{ secrets.PASSWORD_2 }}",
        "def reset(password: str, length: int = 12) -> None:",
        "password=get_password(user1)",
        "the password has to have at least 8 characters",
        "shf_table12345678901234567890123456789012",
        "MSG.format_exc_1234567890abcdefghij.another_name_1234567890",
        "task_sk_lives_on",
    ],
)
def test_code_about_secrets_stays(text: str) -> None:
    assert REDACT(text) == text


@pytest.mark.parametrize(
    "unit",
    (
        "eyJ|_eyJ|authorization:|api_key=|pypi-|bearer |-----BEGIN RSA PRIVATE KEY-----|-----BEGIN "
        "|://|://a:a|password=|SG.|\x1b[|\x1b]|authorization      |sk-|x\n"
    ).split("|"),
)
def test_no_text_takes_more_time_than_its_length(unit: str) -> None:
    began = time.process_time()
    REDACT(unit * (500_000 // len(unit)))
    assert time.process_time() - began < 5  # a quadratic shape takes minutes
