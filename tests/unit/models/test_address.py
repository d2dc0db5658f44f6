from __future__ import annotations

import pytest

from prjury.errors import ConfigError
from prjury.models.choose import check_address

GOOD = [
    "https://api.openai.com/v1",
    "https://openrouter.ai/api/v1",
    "https://my-name.openai.azure.com/openai/v1",
    "https://10.0.0.7:8443/v1",
    "http://127.0.0.1:11434/v1",
    "http://localhost:8000/v1",
    "http://[::1]:8000/v1",
    "http://127.8.9.1",
    "http://llm.localhost/v1",
    "https://xn--bcher-kva.example/v1",
]

BAD = {
    "file:///etc/passwd": "not an http",
    "ftp://example.org": "not an http",
    "api.openai.com/v1": "not an http",
    "": "not an http",
    "https://": "no host",
    "https:///v1": "no host",
    "https://user:pw@example.org/v1": "user name",
    "https://token@example.org/v1": "user name",
    "https://@example.org/v1": "user name",
    "http://169.254.169.254/latest": "metadata",
    "https://169.254.169.254/latest": "metadata",
    "https://169.254.169.254./latest": "metadata",
    "https://[fe80::1%25eth0]/": "characters|link-local|host",
    "https://[fe80::1]/": "link-local",
    "https://[::ffff:169.254.169.254]/": "metadata",
    "https://[fd00:ec2::254]/": "metadata",
    "https://100.100.100.200/": "metadata",
    "https://metadata.google.internal/": "metadata",
    "https://METADATA.google.internal./": "metadata",
    "https://0.0.0.0/": "unusable",
    "https://[::]/": "unusable",
    "https://224.0.0.1/": "unusable",
    "https://2852039166/": "unusual number",
    "https://0xa9fea9fe/": "unusual number",
    "https://0251.0376.0251.0376/": "unusual number",
    "https://169.254.43518/": "unusual number",
    "http://example.org/v1": "plain http",
    "http://10.0.0.7/v1": "plain http",
    "http://127.0.0.1.example.org/": "plain http",
    "http://notlocalhost/": "plain http",
    "https://аpi.openai.com/v1": "characters",
    "https://api.openai.com\\@evil.example/": "characters",
    "https://api.openai.com /v1": "characters",
    "https://api.openai.com\n.evil.example/": "characters",
    "https://example.org/v1?key=1": "query",
    "https://example.org/v1#x": "fragment",
    "https://example.org:99999/": "not an address",
    "https://example.org:port/": "not an address",
    "https://[::1": "not an address",
}


@pytest.mark.parametrize("url", GOOD)
def test_an_operators_server_is_accepted(url: str) -> None:
    assert check_address(url + "/", "models.base_url") == url


@pytest.mark.parametrize(("url", "problem"), BAD.items())
def test_anything_odd_is_refused(url: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        check_address(url, "OPENAI_BASE_URL")


def test_the_message_names_the_key_and_repeats_no_password() -> None:
    with pytest.raises(ConfigError) as error:
        check_address("https://user:hunter22@example.org", "OPENAI_BASE_URL")
    assert str(error.value).startswith("OPENAI_BASE_URL holds a user name")
    assert "hunter22" not in str(error.value)
