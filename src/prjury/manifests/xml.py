"""A tree of XML elements: hostile XML is refused, namespaces do not matter, lines are kept."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from xml.sax import SAXException
from xml.sax.handler import ContentHandler
from xml.sax.xmlreader import AttributesImpl, Locator

from defusedxml import DefusedXmlException

from prjury.manifests.manifest import ManifestError

_MAX_DEPTH = 60
_LONE_CR = re.compile(rb"\r(?!\n)")
_LONE_CR_OF_TEXT = re.compile(r"\r(?!\n)")


@dataclass
class Node:
    """An element, the line of its start tag, its text and what is inside it."""

    tag: str
    line: int
    attributes: Mapping[str, str] = field(default_factory=dict)
    pieces: list[str] = field(default_factory=list)
    children: list[Node] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.pieces).strip()

    def all(self, *path: str) -> Iterator[Node]:
        """The descendants at the path of tags; ``*`` is any tag."""
        if not path:
            yield self
            return
        tag, *rest = path
        for child in self.children:
            if tag in ("*", child.tag):
                yield from child.all(*rest)

    def first(self, *path: str) -> Node | None:
        return next(self.all(*path), None)

    def value(self, *path: str) -> str | None:
        node = self.first(*path)
        return (node.text or None) if node else None


class _TreeBuilder(ContentHandler):
    def __init__(self) -> None:
        super().__init__()
        self.root = Node("", 0)
        self._open = [self.root]
        self._locator: Locator | None = None

    def setDocumentLocator(self, locator: Locator) -> None:  # noqa: N802 - SAX's own name
        self._locator = locator

    def startElement(self, name: str, attrs: AttributesImpl) -> None:  # noqa: N802 - SAX's own name
        if len(self._open) > _MAX_DEPTH:
            raise ManifestError(f"nested deeper than {_MAX_DEPTH} levels")
        line = (self._locator.getLineNumber() if self._locator else None) or 1
        node = Node(name.rpartition(":")[2], line, dict(attrs.items()))
        self._open[-1].children.append(node)
        self._open.append(node)

    def endElement(self, name: str) -> None:  # noqa: ARG002, N802 - SAX
        self._open.pop()

    def characters(self, content: str) -> None:
        self._open[-1].pieces.append(content)


def read_xml_document(content: bytes | str) -> Node:
    """Read a nameless node around the element; ManifestError for no XML, a DTD or entities."""
    from defusedxml import sax  # noqa: PLC0415 - it loads HTTP clients, and few files are XML

    builder = _TreeBuilder()
    # Lone carriage returns end a line in XML, and none for git.
    if isinstance(content, bytes):
        stream: io.BytesIO | io.StringIO = io.BytesIO(_LONE_CR.sub(b" ", content))
    else:
        plain = _LONE_CR_OF_TEXT.sub(" ", content.removeprefix("\ufeff"))
        stream = io.StringIO(plain, newline="")
    try:
        sax.parse(stream, builder, forbid_dtd=True)
    except DefusedXmlException as error:
        raise ManifestError("it has a DTD or entities, which are refused") from error
    except (SAXException, ValueError, LookupError) as error:
        if isinstance(error, ManifestError):
            raise
        first_line = str(error).partition("\n")[0]
        raise ManifestError(f"not XML: {first_line}") from error
    return builder.root
