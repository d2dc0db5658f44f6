"""Build files and other texts, of which most are only searched."""

from __future__ import annotations

from prjury.code.languages.language import Language
from prjury.code.languages.programs import C_COMMENT, C_STRING

_XML_COMMENT = r"<!--(?s:.*?)(?:-->|\z)"
#: Nothing in it opens a comment.
_CDATA = r"<!\[CDATA\[(?s:.*?)(?:\]\]>|\z)"
#: The server runs what stands in an XML comment.
_JSP_COMMENT = r"<%--(?s:.*?)(?:--%>|\z)"
_CSS_COMMENT = r"/\*(?s:.*?)(?:\*/|\z)"
_HASH_COMMENT = r"(?m:(?:^|[ \t])#[^\n]*)"
_HASH_LINE = r"(?m:^[ \t]*#[^\n]*)"
_PYTHON_FILES = "pyproject.toml setup.cfg pipfile"
_NET_SUFFIXES, _NET_FILES = (
    ".csproj .fsproj .vbproj",
    "directory.packages.props directory.build.props",
)

#: Build files without a parser here: name, sample, suffixes, names, comment, string and family.
_SEARCHED = (
    ("maven", "pom.xml", "", "pom.xml", _XML_COMMENT, _CDATA, "jvm"),
    ("gradle", "build.gradle", ".gradle", "libs.versions.toml", C_COMMENT, C_STRING, "jvm"),
    ("pypi", "pyproject.toml", "", _PYTHON_FILES, _HASH_COMMENT, "", "python"),
    ("gomod", "go.mod", "", "go.mod", r"//[^\n]*", "", "go"),
    ("cargo", "Cargo.toml", "", "cargo.toml", _HASH_COMMENT, "", "rust"),
    ("nuget", "Sample.csproj", _NET_SUFFIXES, _NET_FILES, _XML_COMMENT, _CDATA, "dotnet"),
)
BUILD_FILES = (
    *(
        Language(
            name,
            sample,
            tuple(suffixes.split()),
            tuple(files.split()),
            comment=comment,
            string=string,
            declares=True,
            family=family,
        )
        for name, sample, suffixes, files, comment, string, family in _SEARCHED
    ),
    Language(
        "npm", "package.json", files=("package.json",), parser="json", declares=True, family="node"
    ),
    Language(
        "workflow",
        ".github/workflows/sample.yml",
        files=("action.yml", "action.yaml"),
        parser="yaml",
        comments=("comment",),
        declares=True,
    ),
)
TEXTS = (
    Language("xml", "sample.xml", (".xml",), comment=_XML_COMMENT, string=_CDATA, family="jvm"),
    Language(
        "jsp", "sample.jsp", (".jsp", ".jspf", ".jspx", ".tag"), comment=_JSP_COMMENT, family="jvm"
    ),
    Language(
        "application",
        "application.yml",
        files=("application.yml", "application.yaml", "bootstrap.yml", "bootstrap.yaml"),
        parser="yaml",
        comments=("comment",),
        family="jvm",
    ),
    Language("yaml", "sample.yml", (".yml", ".yaml"), parser="yaml", comments=("comment",)),
    Language(
        "json",
        "sample.json",
        (".json", ".jsonc"),
        parser="json",
        comments=("comment",),
        family="node",
    ),
    Language(
        "docker",
        "Dockerfile",
        (".dockerfile",),
        files=("dockerfile", "containerfile"),
        comment=_HASH_LINE,
    ),
    Language(
        "shell",
        "sample.sh",
        (".sh", ".bash"),
        parser="bash",
        comments=("comment",),
        strings=("raw_string", "heredoc_body"),
    ),
    Language("properties", "sample.properties", (".properties",), comment=_HASH_LINE, family="jvm"),
    Language("toml", "sample.toml", (".toml",), comment=_HASH_COMMENT),
    Language("ini", "sample.ini", (".ini", ".cfg"), comment=r"(?m:^[ \t]*[#;][^\n]*)"),
    Language("proto", "sample.proto", (".proto",), comment=C_COMMENT, string=C_STRING),
    Language("css", "sample.css", (".css",), comment=_CSS_COMMENT),
    Language(
        "scss", "sample.scss", (".scss", ".less"), comment=C_COMMENT, string=C_STRING + r"|://"
    ),
)
