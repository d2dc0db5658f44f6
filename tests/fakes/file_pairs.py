"""Pairs of texts that differ in form alone, and pairs that differ in meaning."""

from __future__ import annotations

#: The name of the file, and two texts that mean the same.
FORM: list[tuple[str, str, str]] = [
    ("__init__.py", "", "# nothing but a comment\n"),
    # Java
    ("A.java", "class A {}", "class A\n{\n}\n"),
    ("A.java", "class A { int a; }", "// what\nclass A { /* a */ int a; /** doc */ }"),
    ("A.java", "import a.B;\nimport c.D;\nclass A {}", "import c.D;\n\nimport a.B;\nclass A {}"),
    ("A.java", "class A { int[] a = {1, 2}; }", "class A { int[] a = {1, 2,}; }"),
    # Kotlin
    ("A.kt", "import a.B\nimport c.D\nval x = 1", "import c.D\nimport a.B\n\nval x = 1"),
    ("A.kt", "fun f(a: Int, b: Int) = a + b", "fun f(\n    a: Int,\n    b: Int,\n) = a + b"),
    # Python
    ("a.py", "import a\nimport b\n", "import b\nimport a\n"),
    ("a.py", "x = [\n    1,\n    2,\n]\n", "x = [1, 2]\n"),
    # JavaScript and TypeScript
    ("a.js", "import a from 'a'\nimport b from 'b'\n", "import b from 'b'\nimport a from 'a'\n"),
    # Go
    ("a.go", "package a\nvar x = []int{1, 2}\n", "package a\nvar x = []int{\n\t1,\n\t2,\n}\n"),
    # Rust
    ("a.rs", "struct S { a: i32, b: i32 }", "struct S {\n    a: i32,\n    b: i32,\n}"),
    # data
    ("a.json", '{"a": 1, "b": [1, 2]}', '{\n  "b": [1,2],\n  "a": 1\n}'),
    ("a.yml", "a: 1\nb: [x, y]\n", "# why\nb:\n  - x\n  - 'y'\na: 1\n"),
    ("a.yml", "---\na: 1\nb: !!binary aGk=\n---\n- c\n", "{b: !!binary aGk=, a: 1}\n---\n[c]\n"),
    ("a.yml", "<<: {a: 1}\nb: 2\n", "a: 1\nb: 2\n"),
    ("a.yml", f"a: {'[' * 30}{']' * 30}\n", f"# why\na: {'[' * 30}{']' * 30}\n"),
    ("a.toml", "[a]\nb = 1\nc = 2\n", "# why\n[a]\nc = 2\nb = 1\n"),
    ("a.xml", '<a x="1" y="2"><b/></a>', "<a y='2' x='1'>\n  <!-- why -->\n  <b></b>\n</a>"),
    ("a.xml", '<n:a xmlns:n="u"/>', '<m:a xmlns:m="u"></m:a>'),
    ("a.txt", "a  b\n\nc\n", "a b\nc"),
    (
        "pom.xml",
        (
            "<project><properties><v.x>1</v.x></properties><dependencies><dependency><groupId>g</groupId>"
            "<artifactId>a</artifactId><version>${v.x}</version></dependency><dependency><groupId>g"
            "</groupId><artifactId>b</artifactId></dependency></dependencies></project>"
        ),
        (
            "<project xmlns='http://maven.apache.org/POM/4.0.0'><packaging>jar</packaging><properties/>"
            "<dependencies><!-- b --><dependency><artifactId>b</artifactId><groupId>g</groupId>"
            "<scope>compile</scope></dependency><dependency><groupId>g</groupId><artifactId>a"
            "</artifactId><version>1</version></dependency></dependencies></project>"
        ),
    ),
]

#: The name of the file, and two texts that do not mean the same.
MEANING: list[tuple[str, str, str]] = [
    # Java
    ("A.java", "class A { int a = 1; }", "class A { int a = 2; }"),
    ("A.java", "class A { int a = f(); int b = a; }", "class A { int b = a; int a = f(); }"),
    ("A.java", "class A { void f() { a(); b(); } }", "class A { void f() { b(); a(); } }"),
    ("A.java", "class A { int x = (a + b) * c; }", "class A { int x = a + b * c; }"),
    ("A.java", "class A { private int a; }", "class A { public int a; }"),
    ("A.java", "enum A { X, Y }", "enum A { Y, X }"),
    ("A.java", 'class A { String s = "a b"; }', 'class A { String s = "a  b"; }'),
    (
        "A.java",
        "class A { void f() { while (a); b(); } }",
        "class A { void f() { while (a) b(); } }",
    ),
    (
        "A.java",
        "class A { void f() { if (a) if (b) c(); else d(); } }",
        "class A { void f() { if (a) { if (b) c(); } else d(); } }",
    ),
    ("A.java", "class A { @X void f() {} }", "class A { void f() {} }"),
    ("A.java", "import a.B;\nclass A {}", "import b.B;\nclass A {}"),
    (
        "A.java",
        "class A { static { a(); } static { b(); } }",
        "class A { static { b(); } static { a(); } }",
    ),
    # Kotlin
    ("A.kt", "val x = a?.b", "val x = a.b"),
    ("A.kt", "val x = 1", "var x = 1"),
    ("A.kt", "class A { val a = f()\n val b = g() }", "class A { val b = g()\n val a = f() }"),
    ("A.kt", 'val x = "a $b"', 'val x = "a $c"'),
    # Python
    ("a.py", "x = (1,)\n", "x = (1)\n"),
    ("a.py", "x[1,]\n", "x[1]\n"),
    ("a.py", "x = '1'\n", "x = 1\n"),
    ("a.py", "x = r'\\''\n", "x = '\\''\n"),
    ("a.py", "x = f'{a}'\n", "x = '{a}'\n"),
    ("a.py", "if a:\n    b()\n    c()\n", "if a:\n    b()\nc()\n"),
    ("a.py", "from a import x\nfrom b import x\n", "from b import x\nfrom a import x\n"),
    ("a.py", "from a import *\nfrom b import x\n", "from b import x\nfrom a import *\n"),
    ("a.py", "def f(): ...\ndef f(a): ...\n", "def f(a): ...\ndef f(): ...\n"),
    ("a.py", "x = (a < b) < c\n", "x = a < b < c\n"),
    ("a.py", "x = not (a == b)\n", "x = (not a) == b\n"),
    ("a.py", "async def f(): ...\n", "def f(): ...\n"),
    ("a.py", "@a\n@b\ndef f(): ...\n", "@b\n@a\ndef f(): ...\n"),
    ("a.py", "x = 'a\\nb'\n", "x = 'anb'\n"),
    # JavaScript and TypeScript
    ("a.js", "x = [1,,]", "x = [1,]"),
    ("a.js", "x = [,]", "x = []"),
    ("a.js", "x = (a?.b).c", "x = a?.b.c"),
    ("a.js", "x = `a`", "x = 'a'"),
    ("a.js", "f = () => ({})", "f = () => {}"),
    ("a.js", "import './a'\nimport './b'\n", "import './b'\nimport './a'\n"),
    ("a.js", "a == b", "a === b"),
    ("a.js", "const x = 1", "let x = 1"),
    ("a.js", "class A { a = 1; b = this.a }", "class A { b = this.a; a = 1 }"),
    (
        "a.js",
        "class A { f() { return 1 } f() { return 2 } }",
        "class A { f() { return 2 } f() { return 1 } }",
    ),
    ("a.ts", "let x: string", "let x: number"),
    ("a.ts", "interface I { a?: string }", "interface I { a: string }"),
    ("a.tsx", "x = <p>a b</p>", "x = <p>a  b</p>"),
    # Go
    ("a.go", "package a\nvar x = f()\nvar y = g()\n", "package a\nvar y = g()\nvar x = f()\n"),
    (
        "a.go",
        "package a\nfunc init() { a() }\nfunc init() { b() }\n",
        "package a\nfunc init() { b() }\nfunc init() { a() }\n",
    ),
    ("a.go", "//go:build linux\n\npackage a\n", "//go:build windows\n\npackage a\n"),
    ("a.go", "package a\n//go:embed a\nvar s string\n", "package a\n//go:embed b\nvar s string\n"),
    (
        "a.go",
        "package a\n//go:noinline\nfunc f() {}\nfunc g() {}\n",
        "package a\nfunc f() {}\n//go:noinline\nfunc g() {}\n",
    ),
    (
        "A.java",
        "class A { int x = 1; int y = this.x; }",
        "class A { int y = this.x; int x = 1; }",
    ),
    ("A.java", "class A { int x = 1; { f(); } }", "class A { { f(); } int x = 1; }"),
    ("a.go", "package a\nfunc (t *T) f() {}\n", "package a\nfunc (t T) f() {}\n"),
    ("a.go", 'package a\nimport x "b"\n', 'package a\nimport "b"\n'),
    ("a.go", "package a\nfunc f() { a := 1; _ = a }\n", "package a\nfunc f() { a = 1; _ = a }\n"),
    # Rust
    ("a.rs", "fn f() -> i32 { 1 }", "fn f() -> i32 { 1; }"),
    ("a.rs", "fn f() { let a = (1,); }", "fn f() { let a = (1); }"),
    ("a.rs", "fn f() { (a.b)(c); }", "fn f() { a.b(c); }"),
    ("a.rs", "struct S { a: i32, b: i32 }", "struct S { b: i32, a: i32 }"),
    ("a.rs", "#[a]\nfn f() {}\nfn g() {}", "fn f() {}\n#[a]\nfn g() {}"),
    ("a.rs", "fn f() { a?; }", "fn f() { a; }"),
    ("a.rs", "use a::b as c;", "use a::b as d;"),
    ("a.rs", "fn f() { let a = 1; let a = 2; }", "fn f() { let a = 2; let a = 1; }"),
    # data
    ("a.json", "[1, 2]", "[2, 1]"),
    ("a.json", '{"a": 1}', '{"a": true}'),
    ("a.json", '{"a": 1}', '{"a": "1"}'),
    ("a.yml", "a: 1\n", "a: '1'\n"),
    ("a.yml", "a: 2020-01-01\n", "a: '2020-01-01'\n"),
    ("a.yml", "1: a\n", "'1': a\n"),
    ("a.yml", "1: a\n", "true: a\n"),
    ("a.yml", "true: a\n", "'true': a\n"),
    ("a.yml", "!!omap [a: 1]\n", "!!omap [a: true]\n"),
    ("a.yml", "!!set {1}\n", "!!set {true}\n"),
    ("a.yml", "", "null\n"),
    ("a.yml", "a: 1\n---\nb: 1\n", "a: 1\n"),
    ("a.yml", "a: [x, y]\n", "a: [y, x]\n"),
    ("a.toml", "a = 1\n", "a = 1.0\n"),
    ("a.xml", "<a><b/><c/></a>", "<a><c/><b/></a>"),
    ("a.xml", '<a xmlns="u"/>', '<a xmlns="v"/>'),
    ("a.xml", "<a>1</a>", "<a>2</a>"),
    ("a.txt", "a b\n", "b a\n"),
    (
        "pom.xml",
        (
            "<project><dependencies><dependency><groupId>g</groupId><artifactId>a</artifactId>"
            "</dependency></dependencies></project>"
        ),
        (
            "<project><dependencies><dependency><groupId>g</groupId><artifactId>a</artifactId>"
            "<scope>test</scope></dependency></dependencies></project>"
        ),
    ),
    (
        "pom.xml",
        (
            "<project><properties><maven.compiler.release>17</maven.compiler.release></properties>"
            "</project>"
        ),
        (
            "<project><properties><maven.compiler.release>21</maven.compiler.release></properties>"
            "</project>"
        ),
    ),
]
