"""Which addresses a model server may have. Pure: nothing is resolved or contacted.

The key travels to this address, so it comes from the operator alone and anything odd is refused.
"""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import SplitResult, urlsplit

from prjury.errors import ConfigError

_METADATA_NAMES = frozenset({"metadata", "metadata.google.internal", "metadata.goog"})
_METADATA_ADDRESSES = frozenset(
    map(ipaddress.ip_address, ("100.100.100.200", "168.63.129.16", "fd00:ec2::254"))
)
_HOST = re.compile(r"[A-Za-z0-9_.:-]+(%[A-Za-z0-9]+)?")
#: What the C library may read as an IPv4 address too: ``2852039166``, ``0xa9fea9fe``, ``0251.1``.
_ODD_NUMBER = re.compile(r"(0x[0-9a-f]*|\d+)", re.IGNORECASE)


def checked(url: str, key: str) -> str:
    """The base URL itself, without a slash at its end.

    Args:
        url: the address as the operator wrote it.
        key: where it was written, for messages: ``models.base_url`` or ``OPENAI_BASE_URL``.

    Raises:
        ConfigError: for anything but a plain https address of a public or private server, or a
            plain http address of this very machine.
    """
    problem = _problem(url)
    if problem is None:
        return url.rstrip("/")
    # The address may hold a password, so the message does not repeat it.
    raise ConfigError(
        f"{key} {problem}",
        remedy="Use an https address, or http://127.0.0.1:PORT for a server on this machine",
    )


def _problem(url: str) -> str | None:
    if not url.isascii() or any(char <= " " or char in '\\"<>^`{|}\x7f' for char in url):
        return "holds characters that do not belong in an address"
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "is not an address"
    if parts.scheme not in {"http", "https"}:
        return "is not an http or https address"
    if "@" in parts.netloc:
        return "holds a user name or a password"
    if parts.query or parts.fragment or "?" in url or "#" in url:
        return "holds a query or a fragment"
    if not host or not _HOST.fullmatch(host):
        return "names no host"
    return _problem_of_host(parts, host.rstrip("."))


def _problem_of_host(parts: SplitResult, host: str) -> str | None:
    address = _address(host)
    if address is None and _ODD_NUMBER.fullmatch(host.rpartition(".")[2]):
        return "names a host by an unusual number"
    if host in _METADATA_NAMES or (address is not None and _is_forbidden(address)):
        return "points to a link-local, metadata or unusable address"
    local = address.is_loopback if address else host == "localhost" or host.endswith(".localhost")
    if parts.scheme == "http" and not local:
        return "is plain http to another machine: the key and the code would travel in the clear"
    return None


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def _is_forbidden(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    return (
        address.is_link_local
        or address.is_multicast
        or address.is_unspecified
        or address in _METADATA_ADDRESSES
    )
