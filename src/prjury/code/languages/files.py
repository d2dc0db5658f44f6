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


BUILD_FILES = (
    Language(
        "maven",
        "pom.xml",
        files=("pom.xml",),
        comment=_XML_COMMENT,
        string=_CDATA,
        declares=True,
        family="jvm",
    ),
    Language(
        "gradle",
        "build.gradle",
        (".gradle",),
        files=("libs.versions.toml",),
        comment=C_COMMENT,
        string=C_STRING,
        declares=True,
        family="jvm",
    ),
    Language(
        "pypi",
        "pyproject.toml",
        files=("pyproject.toml", "setup.cfg", "pipfile"),
        comment=_HASH_COMMENT,
        declares=True,
        family="python",
    ),
    Language(
        "npm", "package.json", files=("package.json",), parser="json", declares=True, family="node"
    ),
    Language("gomod", "go.mod", files=("go.mod",), comment=r"//[^\n]*", declares=True, family="go"),
    Language(
        "cargo",
        "Cargo.toml",
        files=("cargo.toml",),
        comment=_HASH_COMMENT,
        declares=True,
        family="rust",
    ),
    Language(
        "nuget",
        "Sample.csproj",
        (".csproj", ".fsproj", ".vbproj"),
        files=("directory.packages.props", "directory.build.props"),
        comment=_XML_COMMENT,
        string=_CDATA,
        declares=True,
        family="dotnet",
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
