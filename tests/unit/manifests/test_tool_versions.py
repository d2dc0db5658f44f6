from __future__ import annotations

import pytest

from prjury.manifests.tool_versions import read_runtimes


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        (".tool-versions", "nodejs 20.11.1 18.0.0\n# x 1\njava temurin-21.0.2+13\nruby ref:main\n",
         [("node", "20.11.1"), ("java", "21.0.2")]),
        ("mise.toml", '[tools]\nnode = "22"\npython = ["3.12", "3.11"]\ngo = {version = "1.22"}\n',
         [("node", "22"), ("python", "3.12"), ("go", "1.22")]),
        (".sdkmanrc", "# comment\njava=17.0.9-tem\nmaven=3.9.6\n",
         [("java", "17.0.9"), ("maven", "3.9.6")]),
        (".java-version", "21\n", [("java", "21")]),
        (".java-version", "temurin64-17.0.2\n", [("java", "17.0.2")]),
        (".ruby-version", "ruby-3.3.0\n", [("ruby", "3.3.0")]),
        (".nvmrc", "v20.11\n", [("node", "20.11")]),
        (".nvmrc", "lts/*\n", []),
        ("package.json", '{"engines": {"node": ">=18"}, "packageManager": "pnpm@9.1.0+sha512.x"}',
         [("node", ">=18"), ("pnpm", "9.1.0")]),
        ("pom.xml", "<project><properties><java.version>21</java.version></properties></project>",
         [("java", "21")]),
        ("pom.xml", "no pom", []),
        ("go.mod", "module x\n\ngo 1.22\n", [("go", "1.22")]),
    ],
)  # fmt: skip
def test_the_versions_that_a_file_names(
    path: str, text: str, expected: list[tuple[str, str]]
) -> None:
    found = read_runtimes(f"a/{path}", text.encode())
    assert [(one.artifact, one.version) for one in found] == expected
