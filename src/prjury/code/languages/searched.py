"""Build files, texts and programs that are only searched, or whose data alone is parsed."""

from __future__ import annotations

from prjury.code.languages.language import Language

_C_COMMENT = r"//[^\n]*|/\*(?s:.*?)(?:\*/|\z)"
_QUOTED = r'"(?:[^"\\\n]|\\.)*"'
_C_STRING = _QUOTED + r"|'(?:[^'\\\n]|\\.)*'"
_LONG = r'"{3}(?s:.*?)"{3}|'
_PYTHON_STRING = _LONG + r"'{3}(?s:.*?)'{3}|" + _C_STRING
_VERBATIM = r'@"(?:[^"]|"")*"|' + _C_STRING
_C_FILES = ".c .h .cc .cpp .cxx .hh .hpp .hxx .m .mm .inc"
_PHP_COMMENT = rf"{_C_COMMENT}|#[^\n]*"
_XML_COMMENT = r"<!--(?s:.*?)(?:-->|\z)"
#: Nothing in it opens a comment.
_CDATA = r"<!\[CDATA\[(?s:.*?)(?:\]\]>|\z)"
#: The server runs what stands in an XML comment.
_JSP_COMMENT = r"<%--(?s:.*?)(?:--%>|\z)"
#: Parts of their files are HTML.
_COMPONENT = _XML_COMMENT + r"|/\*(?s:.*?)(?:\*/|\z)|(?m:(?:^|[ \t;{}])//[^\n]*)"
_CSS_COMMENT = r"/\*(?s:.*?)(?:\*/|\z)"
_HASH_COMMENT = r"(?m:(?:^|[ \t])#[^\n]*)"
_HASH_LINE = r"(?m:^[ \t]*#[^\n]*)"
_INI_LINE = r"(?m:^[ \t]*[#;][^\n]*)"
_PYTHON_FILES = "pyproject.toml setup.cfg pipfile"
_NET_SUFFIXES = ".csproj .fsproj .vbproj"
_NET_FILES = "directory.packages.props directory.build.props"

#: Name, sample, suffixes, names, comment, string, family and kin.
_SEARCHED = (
    ("scala", "Sample.scala", ".scala .sc", "", _C_COMMENT, _QUOTED, "jvm", "jvm"),
    ("groovy", "Sample.groovy", ".groovy", "", _C_COMMENT, _C_STRING, "jvm", "jvm"),
    ("cython", "sample.pyx", ".pyx .pxd", "", r"#[^\n]*", _PYTHON_STRING, "python", "python"),
    ("vue", "sample.vue", ".vue", "", _COMPONENT, "", "node", "script"),
    ("svelte", "sample.svelte", ".svelte", "", _COMPONENT, "", "node", "script"),
    ("c", "sample.c", _C_FILES, "", _C_COMMENT, _QUOTED, "", "c"),
    ("csharp", "Sample.cs", ".cs", "", _C_COMMENT, _VERBATIM, "dotnet", "dotnet"),
    ("swift", "sample.swift", ".swift", "", _C_COMMENT, _LONG + _QUOTED, "", "swift"),
    ("dart", "sample.dart", ".dart", "", _C_COMMENT, _C_STRING, "", "dart"),
    ("php", "sample.php", ".php", "", _PHP_COMMENT, _C_STRING, "", "php"),
    ("maven", "pom.xml", "", "pom.xml", _XML_COMMENT, _CDATA, "jvm", ""),
    ("gradle", "build.gradle", ".gradle", "libs.versions.toml", _C_COMMENT, _C_STRING, "jvm", ""),
    ("pypi", "pyproject.toml", "", _PYTHON_FILES, _HASH_COMMENT, "", "python", ""),
    ("gomod", "go.mod", "", "go.mod", r"//[^\n]*", "", "go", ""),
    ("cargo", "Cargo.toml", "", "cargo.toml", _HASH_COMMENT, "", "rust", ""),
    ("nuget", "Sample.csproj", _NET_SUFFIXES, _NET_FILES, _XML_COMMENT, _CDATA, "dotnet", ""),
    ("xml", "sample.xml", ".xml", "", _XML_COMMENT, _CDATA, "jvm", ""),
    ("jsp", "sample.jsp", ".jsp .jspf .jspx .tag", "", _JSP_COMMENT, "", "jvm", ""),
    ("docker", "Dockerfile", ".dockerfile", "dockerfile containerfile", _HASH_LINE, "", "", ""),
    ("properties", "sample.properties", ".properties", "", _HASH_LINE, "", "jvm", ""),
    ("toml", "sample.toml", ".toml", "", _HASH_COMMENT, "", "", ""),
    ("ini", "sample.ini", ".ini .cfg", "", _INI_LINE, "", "", ""),
    ("proto", "sample.proto", ".proto", "", _C_COMMENT, _C_STRING, "", ""),
    ("css", "sample.css", ".css", "", _CSS_COMMENT, "", "", ""),
    ("scss", "sample.scss", ".scss .less", "", _C_COMMENT, _C_STRING + r"|://", "", ""),
)
#: Those whose files declare dependencies.
_DECLARING = frozenset("maven gradle pypi gomod cargo nuget npm workflow".split())
_APPLICATION_FILES = "application.yml application.yaml bootstrap.yml bootstrap.yaml"
_SHELL_STRINGS = ("raw_string", "heredoc_body")
#: Data with a parser: name, sample, suffixes, names, parser and family.
_DATA = (
    ("npm", "package.json", "", "package.json", "json", "node"),
    ("workflow", ".github/workflows/sample.yml", "", "action.yml action.yaml", "yaml", ""),
    ("application", "application.yml", "", _APPLICATION_FILES, "yaml", "jvm"),
    ("yaml", "sample.yml", ".yml .yaml", "", "yaml", ""),
    ("json", "sample.json", ".json .jsonc", "", "json", "node"),
    ("shell", "sample.sh", ".sh .bash", "", "bash", ""),
)
SEARCHED = tuple(
    Language(
        name,
        sample,
        (*suffixes.split(),),
        (*files.split(),),
        comment=comment,
        string=string,
        declares=name in _DECLARING,
        family=family,
        kin=kin,
    )
    for name, sample, suffixes, files, comment, string, family, kin in _SEARCHED
) + tuple(
    Language(
        name,
        sample,
        (*suffixes.split(),),
        (*files.split(),),
        parser,
        comments=() if name == "npm" else ("comment",),
        strings=_SHELL_STRINGS if name == "shell" else (),
        declares=name in _DECLARING,
        family=family,
    )
    for name, sample, suffixes, files, parser, family in _DATA
)
