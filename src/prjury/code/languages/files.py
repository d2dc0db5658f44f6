"""Build files and other texts, of which most are only searched."""

from __future__ import annotations

from prjury.code.languages.language import Language

_C_COMMENT = r"//[^\n]*|/\*(?s:.*?)(?:\*/|\z)"
_C_STRING = r'"(?:[^"\\\n]|\\.)*"|' + r"'(?:[^'\\\n]|\\.)*'"
_XML_COMMENT = r"<!--(?s:.*?)(?:-->|\z)"
#: Nothing in it opens a comment.
_CDATA = r"<!\[CDATA\[(?s:.*?)(?:\]\]>|\z)"
#: The server runs what stands in an XML comment.
_JSP_COMMENT = r"<%--(?s:.*?)(?:--%>|\z)"
_HASH_COMMENT = r"(?m:(?:^|[ \t])#[^\n]*)"
_HASH_LINE = r"(?m:^[ \t]*#[^\n]*)"

BUILD_FILES = (
    Language("maven", "pom.xml", comment=_XML_COMMENT, string=_CDATA, declares=True, family="jvm"),
    Language(
        "gradle",
        "build.gradle",
        comment=_C_COMMENT,
        string=_C_STRING,
        declares=True,
        family="jvm",
    ),
    Language("pypi", "pyproject.toml", comment=_HASH_COMMENT, declares=True, family="python"),
    Language("npm", "package.json", parser="json", declares=True, family="node"),
    Language("gomod", "go.mod", comment=r"//[^\n]*", declares=True, family="go"),
    Language("cargo", "Cargo.toml", comment=_HASH_COMMENT, declares=True, family="rust"),
    Language(
        "nuget",
        "Sample.csproj",
        comment=_XML_COMMENT,
        string=_CDATA,
        declares=True,
        family="dotnet",
    ),
    Language(
        "workflow",
        ".github/workflows/sample.yml",
        parser="yaml",
        comments=("comment",),
        declares=True,
    ),
)
TEXTS = (
    Language("xml", "sample.xml", comment=_XML_COMMENT, string=_CDATA, family="jvm"),
    Language("jsp", "sample.jsp", comment=_JSP_COMMENT, family="jvm"),
    Language("yaml", "sample.yml", parser="yaml", comments=("comment",)),
    Language("json", "sample.json", parser="json", comments=("comment",), family="node"),
    Language("docker", "Dockerfile", comment=_HASH_LINE),
    Language(
        "shell",
        "sample.sh",
        parser="bash",
        comments=("comment",),
        strings=("raw_string", "heredoc_body"),
    ),
    Language("properties", "sample.properties", comment=_HASH_LINE, family="jvm"),
)
