"""What texts offer, and what becomes of it from one state to another, language by language."""

from __future__ import annotations

from typing import Any

import pytest

from prjury.code.languages import LANGUAGES
from prjury.code.names import has_names
from prjury.code.parser import NotParsed, Parser
from prjury.code.publics.difference import ChangeKind, NameChange, SourceText, changes, find_publics
from prjury.code.publics.model import Publics
from prjury.code.source import Source
from prjury.deadline import Deadline

SOON = Deadline.after(3_600)  # counted from the import: the whole suite may run before


def offered(language: str, *texts: str) -> list[Publics]:
    sources = [Source.of(text, LANGUAGES[language]) for text in texts]
    replies = find_publics(sources, Parser(), SOON)
    return [reply for reply in replies if isinstance(reply, Publics)]


def names(language: str, text: str) -> list[str]:
    """The labels of all names that a text offers, with the lines in which they stand."""
    (found,) = offered(language, text)
    return [f"{each.line} {each.label}" for each in found.symbols if each.offered]


def told(change: NameChange) -> str:
    if change.kind is ChangeKind.CHANGED:
        sign = "~" if change.compatible else "!"
        return f"{sign} {change.symbol.label}"
    return f"{'+' if change.kind is ChangeKind.ADDED else '-'} {change.symbol.label}"


def compared(language: str, old: str, new: str) -> list[str]:
    """What happens to each name: ``+``, ``-``, ``~`` compatibly changed, ``!`` incompatibly."""
    before, after = offered(language, old, new)
    texts = [SourceText("x", state.package or "x", language, state) for state in (before, after)]
    return sorted(map(told, changes(texts[:1], texts[1:])))


def flatten(cases: dict[str, list[Any]]) -> list[tuple[str, ...]]:
    return [(language, *case) for language, listed in cases.items() for case in listed]


JAVA = """\
package shop;

@Deprecated(since = "Cart")
public sealed class Cart<T extends A> extends B<T> implements C permits E {
\tpublic static final int X = 1, Y[] = {};
\tprivate int hidden;
\tint ours;

\tprotected <U> List<U> total(final @N("a,b") int a, java.util.Map<String, Integer> m,
\t\t\tString... more) { // public void no()
\t\tclass Local { public void no() {} }
\t\treturn null;
\t}

\t@Override
\tpublic String toString() { return ""; }

\tpublic enum Kind { A, B(1) { public void no() {} }; public int r() { return 1; } }
\tprivate static class P { public void no() {} }
}
interface Ours { void no(); }
"""
PYTHON = '''\
"""Docs: def no(): pass"""
X: int = 1
a, (b, _c) = 1, 2


@again(1)
class Cart(Base[int], metaclass=M):
    z: int

    def __init__(self, a, *, b=1):
        self.no = 3

    @property
    def price(self): return 1

    @price.setter
    def price(self, v): pass

    @staticmethod
    def g(a, b: int = 3, *args, c, **kw) -> int:
        def no(): pass

    def _no(self): pass

    class In:
        def deep(self, /, q,  # a note (
                 r=(1, 2)): pass

if Z:
    async def h(x: "T, q"): pass
import os
'''
SCRIPT = """\
export class Cart<T> extends Base<T> {
  static readonly x: number = 1;
  private no = 2;
  protected no2() {}
  _no3() {}
  #no4 = 1;
  constructor(private a: string, public b?: number) { super(); }
  get total(): number { return 1; }
  add(item: Item<T>, ...more: Item<T>[]): Promise<void> { const no = 1; }
  handler = (e: Event): void => {};
}
export interface Options { name: string; run?(x: number): void; nested?: { no: string } }
export type Kind = 'a' | 'b';
export const g: A = 1, h = 2, f = 3;
export const arrow = async (a: number, b = 3): Promise<void> => {};
function local(a) {}
class no {}
export { local as renamed };
export { other, default as more } from './x';
export namespace N { export interface Inner { x: number } const no = 1; }
export enum E { A, B = 2 }
declare module 'foo' { interface no {} }
foo(() => { function no() {} });
export default function () {}
"""
OFFERED = [
    (
        "java",
        JAVA,
        (
            "4 Cart; 5 Cart.X; 5 Cart.Y; 9 Cart.total(int, Map<String, Integer>, String...); "
            "18 Cart.Kind; 18 Cart.Kind.A; 18 Cart.Kind.B; 18 Cart.Kind.r(); 4 Cart.Cart()"
        ),
    ),
    ("java", "public record R(int a, String b) { public R { } }", "1 R"),
    (
        "java",
        "public interface I { int Z = 1; void f(); class N { int x; } }",
        "1 I; 1 I.Z; 1 I.f(); 1 I.N; 1 I.N.N()",
    ),
    ("java", 'public @interface Q { String value() default ""; }', "1 Q; 1 Q.value()"),
    (
        "python",
        PYTHON,
        (
            "2 X; 3 a; 3 b; 7 Cart; 8 Cart.z; 10 Cart.__init__(a, b=…); 14 Cart.price; "
            "20 Cart.g(a, b=…, *args, c, **kw); 25 Cart.In; 26 Cart.In.deep(q, r=…); 30 h(x)"
        ),
    ),
    (
        "typescript",
        SCRIPT,
        (
            "1 Cart; 2 Cart.x; 7 Cart.constructor(a: string, b: number=…); 8 Cart.total; "
            "9 Cart.add(item: Item<T>, *more: Item<T>[]); 10 Cart.handler(e: Event); 12 Options; "
            "12 Options.name; 12 Options.run(x: number); 12 Options.nested; 13 Kind; "
            "14 g; 14 h; 14 f; 15 arrow(a: number, b=…); 20 N; 20 N.Inner; 20 "
            "N.Inner.x; 21 E; 21 E.A; "
            "21 E.B; 24 default(); 16 renamed(a); 19 other; 19 more"
        ),
    ),
    (
        "javascript",
        (
            "export class A { m(a, b = 2) {} #no() {} }\nexport const f = x => "
            "x;\nexport const {p, q: r} = o;"
        ),
        "1 A; 1 A.m(a, b=…); 2 f(x); 3 p; 3 r",
    ),
    (
        "kotlin",
        (
            'package a\ndata class Cart<T : A>(val a: Int, private var b: String = "x") : B(1) {\n'
            "  internal val no = 1\n  override fun no() = 1\n  suspend fun f(a: Int = 3): Int = 3\n"
            "  companion object { const val K = 1 }\n}\nprivate fun no() {}\n"
            "fun <T> List<T>.ext(x: T): Int { fun no() {} }\nobject O {\n  fun k() {}\n}\n"
        ),
        (
            "2 Cart; 2 Cart.Cart(a: Int, b: String=…); 2 Cart.a; 5 Cart.f(a: "
            "Int=…); 6 Cart.Companion; "
            "6 Cart.Companion.K; 9 List<T>.ext(x: T); 10 O; 11 O.k()"
        ),
    ),
    (
        "go",
        (
            "package cart\ntype Cart[T any] struct { Total int; no string; Base }\n"
            "type I interface { Do(x, y int) error }\n"
            "func (c *Cart[T]) Sum(a, b int, rest ...string) (n int, err error) "
            "{ type No struct{} }\n"
            "func (h *no) Foo() {}\nconst ( X = iota; z )\nvar V, W int = 1, 2\n"
        ),
        (
            "2 Cart; 2 Cart.Total; 2 Cart.Base; 3 I; 3 I.Do(int, int); 4 "
            "Cart.Sum(int, int, ...string); "
            "6 X; 7 V; 7 W"
        ),
    ),
    ("go", "package main\nfunc Run() {}\n", ""),
    (
        "rust",
        (
            "pub struct Cart { pub total: u32, no: String }\n"
            "impl<T> Cart<T> { pub fn new<'a>(a: &'a u32, b: &'a str) -> Self { "
            "fn no() {} } fn no() {} }\n"
            "impl Tr for Cart { fn no(&self) {} }\npub trait Tr { fn f(&mut self); }\n"
            "pub(crate) fn no() {}\npub enum E { A, B(u32) }\nmod n { pub fn no() {} }\n"
            "pub use a::b::{C, D as F, g::H};\n"
        ),
        (
            "1 Cart; 1 Cart::total; 2 Cart::new(&'a u32, &'a str); 4 Tr; 4 "
            "Tr::f(&mut self); 6 E; 6 E::A; "
            "6 E::B; 8 C; 8 F; 8 H"
        ),
    ),
]


@pytest.mark.parametrize(("language", "text", "expected"), OFFERED)
def test_a_text_offers_what_its_language_makes_public_whatever_its_line_ends(
    language: str, text: str, expected: str
) -> None:
    assert names(language, text) == list(filter(None, expected.split("; ")))
    assert names(language, text.replace("\n", "\r\n")) == names(language, text)
    assert compared(language, text, text.replace("\n", "\r\n")) == []


def java(*members: str) -> str:
    return "package p;\npublic class A {\n" + "\n".join(members) + "\nprivate A() {}\n}\n"


CHANGES = {
    "java": [
        (java("public int f(int a) { return 1; }"), java(), "- A.f(int)"),
        (java("public void f() {}"), java("public void g() {}"), "+ A.g(); - A.f()"),
        (java("public void f() {}"), java("void f() {}"), "- A.f()"),
        (java("public void f() {}"), java("protected void f() {}"), ""),
        (java("public void f(int a) {}"), java("public void f(int b) { x(); }"), ""),
        (java("public void f(int a) {}"), java("public void f(long a) {}"), "! A.f(long)"),
        (
            java("public void f(int a) {}"),
            java("public void f(int a) {}", "public void f(int a, int b) {}"),
            "+ A.f(int, int)",
        ),
        (java("public void f() {}"), java("public int f() { return 1; }"), "! A.f()"),
        (java("public void f() {}"), java("public static void f() {}"), "! A.f()"),
        (java("public List<String> f() {}"), java("public java.util.List< String > f() {}"), ""),
        (java("@Override public int f() { return 1; }"), java(), ""),
        (
            "public class A {}",
            "public class A {\nList<A> all() {\nreturn List.of(\nnew A(),\nnew A());\n}\n}",
            "",
        ),
        (
            java("public class B { public void f() {} }"),
            java("class B { public void f() {} }"),
            "- A.B",
        ),
        ("public class A { }", "public class A { public A(int x) {} }", "! A.A(int)"),
        ("@Data public class A { }", "public class A { public A(int x) {} }", "+ A.A(int)"),
        ("public enum E { A, B }", "public enum E { A, B, C }", "+ E.C"),
        ("public record R(int a) {}", "public record R(int a, int b) {}", "! R"),
        ("public interface I { void f(); }", "public interface I { }", "- I.f()"),
        ("public interface I extends J, K { }", "public interface I extends K, L { }", "! I"),
        (
            "public interface I extends J { }\npublic interface K { }",
            "public interface I extends K { }\npublic interface K extends J { }",
            "~ I; ~ K",
        ),
        ("package p; public interface I { }", "package q; public interface I { }", "+ I; - I"),
        # Members that move up are still there.
        (
            "public class A extends B { public void f() {} }\npublic class B { }",
            "public class A extends B { }\npublic class B { public void f() {} }",
            "+ B.f()",
        ),
        (
            "public class A {\n  private A() {}\n}",
            "public final class A {\n  private A() {}\n}",
            "",
        ),
        ("public class A { public A() {} }", "public final class A { public A() {} }", "! A"),
        (java("public void f(B.C c) {}"), java("public void f(C c) {}"), ""),
    ],
    "kotlin": [
        ("fun f(a: Int) {}", "fun f(a: Int, b: Int = 1) {}", "! f(a: Int, b: Int=…)"),
        ("class A { fun f() {} }", "class A { internal fun f() {} }", "- A.f()"),
    ],
    "python": [
        ("def f(a): pass", "def f(a, b=1): pass", "~ f(a, b=…)"),
        ("def f(a): pass", "def f(a, *, b=None): pass", "~ f(a, b=…)"),
        ("def f(a): pass", "def f(a, b): pass", "! f(a, b)"),
        ("def f(a): pass", "def f(b, a=1): pass", "! f(b, a=…)"),
        ("def f(a, b=1): pass", "def f(a): pass", "! f(a)"),
        ("def f(a, b=1): pass", "def f(a, *, b=1): pass", "! f(a, b=…)"),
        ("def f(a, /): pass", "def f(b): pass", "~ f(b)"),
        ("def f(a, *, b=1): pass", "def f(a, **kw): pass", "~ f(a, **kw)"),
        ("def f(a=1): pass", "def f(a=2): return 3", ""),
        ("def f(a: int) -> int: pass", "def f(a: 'str'): pass", ""),
        ("def f(a): pass", "@renamed('a', 'b')\ndef f(b): pass", "~ f(b)"),
        ("def f(): pass", "async def f(): pass", "! f()"),
        ("def f(): pass", "def _f(): pass", "- f()"),
        ("def f(): pass", "from .other import f", ""),
        ("def f(): pass", "f = other", ""),
        ("def f(): pass", "def __getattr__(name):\n    if name == 'f': return 1", ""),
        ("class A:\n  def f(self): pass", "class A:\n  @property\n  def f(self): pass", "! A.f"),
        ("class A:\n  def f(self): pass", "class A(B):\n  pass", "- A.f()"),
        (
            "class A(B):\n  def f(self): pass\nclass B: pass",
            "class A(B): pass\nclass B:\n  def f(self): pass",
            "+ B.f()",
        ),
        ("if X:\n  def f(a): pass\nelse:\n  def f(a): pass", "def f(a): pass", ""),
        ("__all__ = ['f']\nf = g = 1", "__all__ = ['f', 'g']\nf = g = 1", "+ g"),
        ("__all__ = ['f', 'g']\nf = g = 1", "__all__ = ['f']\nf = g = 1", "- g"),
        ("A = 1", "A, B = (\n    f(layout=x, on=True)\n    for refused in y\n)", "+ B"),
        ("f = g = 1", "__all__ = ['f']\nf = g = 1", ""),
        ("__all__ = ['f']\nf = g = 1", "f = g = 1", ""),
        ("__all__ = ['f']\nf = 1", "__all__ = ['f', 'x']\nf = 1\nimport x", "+ x"),
        (
            "__all__ = ['f']\n__all__ += names\nf = 1\nfor names in ['g']: pass",
            "__all__ = ['f', 'g']\nf = 1\nfrom x import g",
            "",
        ),
    ],
    "typescript": [
        ("export function f(a: A): void {}", "function f(a: A): void {}", "- f(a: A)"),
        ("export function f(a: A): void {}", "export function f(b: A) {}", ""),
        ("export function f(a: A) {}", "export function f(a: A, b?: B) {}", "~ f(a: A, b: B=…)"),
        ("export function f(a: A) {}", "export function f(a: A, b: B) {}", "! f(a: A, b: B)"),
        ("export function f(a: A) {}", "export function f(a: A | null) {}", "~ f(a: A | null)"),
        (
            "export function f(a: (e: E | null) => void) {}",
            "export function f(a: (e: E | undefined | null) => void) {}",
            "! f(a: (e: E | undefined | null)=>void)",
        ),
        ("export function f(): A | null {}", "export function f(): A {}", "~ f()"),
        ("export function f(): A {}", "export function f(): A | null {}", "! f()"),
        ("export class A { f() {} }", "export class A { private f() {} }", "- A.f()"),
        ("export class A { f() {} }", "export class A { f = () => {} }", ""),
        ("export type K = 'a'", "export type K = 'a' | 'b'", "~ K"),
        ("export type K = 'a' | 'b'", "export type K = 'a'", "! K"),
        ("export interface I { a: A }", "export interface I { a?: A }", "! I.a"),
        ("export class A {}", "class A {}\nexport { A }", ""),
        ("export class A {}", "export { A } from './a'", ""),
        (
            "class B extends A {}\nexport function f(x: B) {}",
            "class B extends A {}\nexport function f(x: A) {}",
            "! f(x: A)",
        ),
        (
            "export class B extends A {}\nexport function f(x: B) {}",
            "export class B extends A {}\nexport function f(x: A) {}",
            "~ f(x: A)",
        ),
        ("export class A { f(x: B): C {} }", "export class A { f(x: m.B): m.C {} }", ""),
        ("export function f(x: A.B) {}", "export function f(x: C.B) {}", "! f(x: C.B)"),
    ],
    "tsx": [
        ("export const V = (p: P) => <b/>", "export const V = (p: Q) => <b/>", "! V(p: Q)"),
    ],
    "go": [
        ("package p\nfunc F(a int) {}", "package p\nfunc F(b int) {}", ""),
        ("package p\nfunc F(a int) {}", "package p\nfunc F(a, b int) {}", "! F(int, int)"),
        ("package p\nfunc F() {}", "package p\nfunc f() {}", "- F()"),
        ("package p\ntype T struct { A int }", "package p\ntype T struct { A, B int }", "+ T.B"),
        (
            "package p\nfunc F(m map[string]struct{}, n int, c chan<- struct{}) {}",
            "package p\nfunc F(m map[string]struct{}, n string, c chan<- struct{}) {}",
            "! F(map[string]struct{}, string, chan<- struct{})",
        ),
    ],
    "rust": [
        ("pub fn f(a: u32) {}", "pub fn f(b: u32) {}", ""),
        ("pub fn f(a: u32) {}", "pub fn f(a: u64) {}", "! f(u64)"),
        ("pub fn f() {}", "pub(crate) fn f() {}", "- f()"),
        ("pub enum E { A }", "pub enum E { A, B(u8) }", "+ E::B"),
        ("pub fn f() -> impl Fn(u8) {}", "pub fn f() -> impl Fn() {}", "! f()"),
    ],
}


@pytest.mark.parametrize(("language", "old", "new", "expected"), flatten(CHANGES))
def test_a_change_adds_changes_or_removes_names(
    language: str, old: str, new: str, expected: str
) -> None:
    assert compared(language, old, new) == list(filter(None, expected.split("; ")))


def test_only_six_families_of_languages_offer_names() -> None:
    known = {name for name, language in LANGUAGES.items() if has_names(language.parser)}
    assert known == {"java", "kotlin", "python", "javascript", "typescript", "tsx", "go", "rust"}
    assert not has_names(None)


@pytest.mark.parametrize(
    ("language", "opening"),
    [("java", "public class A {"), ("rust", "pub mod a {"), ("typescript", "export namespace A {")],
)
def test_declarations_that_nobody_writes_so_deep_are_not_read(language: str, opening: str) -> None:
    text = f"{opening}\n" * 3_000 + "}\n" * 3_000
    source = Source.of(text, LANGUAGES[language])
    (found,) = find_publics([source], Parser(), SOON)
    assert isinstance(found, NotParsed)


BROKEN = "class A {\n  public void f() { x = ); }\n}\n"


@pytest.mark.parametrize(
    ("language", "old", "new", "alike"),
    [
        ("python", "def f(a):\n    return 1\n", "# why\ndef f(a):  # so\n    return 2\n", True),
        ("python", "def f(a):\n    return 1\n", "def f(a, b=1):\n    return 1\n", False),
        ("python", "import a\n", "import b\n", False),
        ("java", "class A { void f() { x = 1; } }", "class A { void f() { x = 2; } }", True),
        ("java", java("public int x;"), java("public class B { public int x; }"), False),
        ("java", java("int x; class B {}"), java("class B { int x; }"), True),
        ("java", BROKEN, BROKEN.replace("class A", "\nclass A"), True),
        ("java", BROKEN, BROKEN.replace(");", "));"), False),
        ("typescript", "export const f = () => { g(1); };", "export const f = () => {};", True),
        ("typescript", "export const f = () => 1;", "export const f = (a) => 1;", False),
    ],
)
def test_texts_that_declare_the_same_are_alike(
    language: str, old: str, new: str, alike: bool
) -> None:
    sources = [Source.of(text, LANGUAGES[language]) for text in (old, new)]
    before, after = find_publics(sources, Parser(), SOON)
    assert isinstance(before, Publics)
    assert isinstance(after, Publics)
    assert before.is_like(after) is alike
