"""Qualified names are found under every name that a file gives them, and nowhere else.

The first line of a sample has the names. Each line that must be found ends in a comment with ``<``.
"""

from __future__ import annotations

import builtins
import keyword
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prjury.code.languages import LANGUAGES
from prjury.code.names import Binding, is_below, spell_names
from prjury.code.worker import run_job


def lines_of(language: str, code: str, names: list[str], word: str = "used-anywhere") -> list[int]:
    """The lines in which the names are found."""
    job = {
        "language": language,
        "text": code,
        "rules": [{"rule": {"matches": word}, "names": {"used": names}}],
        "comments": [],
        "strings": [],
    }
    starts = [start for _, (start, _) in run_job(job)["matches"]]
    return sorted({code.count("\n", 0, start) + 1 for start in starts})


def marked(code: str) -> list[int]:
    return [number for number, line in enumerate(code.split("\n"), 1) if line.endswith("<")]


SAMPLES = {
    "python: a member of a module": """\
numpy.float_
import numpy as np
import numpy
from numpy import float_ as f, inf  # <
x = np.float_(1)  # <
y = numpy . float_  # <
z = (np  # <
    .float_(1))
w = f(3)  # <
v = np.float_.mro()  # <
f.float_ = 1  # <
q = float_(3)
r = foo(float_=3).float_
s = x.np.float_
t = np.float64(1)  # np.float_
u = "np.float_"
v: np.float_ = 3  # <
""",
    "python: loaded by a call, and what may fail on purpose": """\
numpy.float_
np = pytest.importorskip("numpy")
from numpy import core
np.float_(1)  # <
with pytest.raises(AttributeError):
    np.float_
with suppress(ImportError, AttributeError):
    np.float_
@pytest.mark.skipif(np.__version__ >= "2", reason="gone")
def test_old():
    np.float_
if _numpy_200:
    np.float_
x = np.float64 if NP2 else np.float_
""",
    "python: a wildcard import": """\
numpy.float_
from numpy import *
a = float_(3)  # <
""",
    "python: one of several imports": """\
urllib.quote numpy.float numpy.source
try:
    from urllib.parse import quote
except ImportError:
    from urllib import quote
from numpy import *
quote(x)
float(x)
source = 1
source + 2
""",
    "python: a whole module": """\
numpy.core
import numpy.core.multiarray  # <
import numpy.core as nc  # <
from numpy.core import umath as um  # <
from numpy import core  # <
import numpy as np
np.core.foo()  # <
um.bar()  # <
core.x  # <
nc.z()  # <
numpy.core.multiarray.z()  # <
np.corelib()
from numpy.core2 import x
from . import core as mine
mine.x()
""",
    "python: functions that mean something else": """\
datetime.datetime.utcnow
from datetime import datetime
import datetime as dt
datetime.utcnow()  # <
dt.datetime.utcnow()  # <
self.utcnow()
def f(datetime):
    return datetime.utcnow()
def g():
    datetime = clock()
    return datetime.utcnow()
def h(x=datetime.utcnow()):  # <
    return datetime.utcnow()  # <
def i(x):
    return [datetime.utcnow() for datetime in x]
""",
    "python: code for those who lack the other way": """\
imp numpy.float_
import sys
import numpy as np
if sys.version_info < (3, 12):
    import imp
try:
    import imp
except ImportError:
    imp = None
try:
    kind = np.float_
except AttributeError:
    kind = np.float64
if ready:
    import imp  # <
""",
    "python: a try guards the import, not what follows from it": """\
numpy.float_ imp
try:
    import numpy as np
    x = np.float_(1)  # <
    class A:
        y = np.float_  # <
    def f():
        import imp  # <
except ImportError:
    x = None
else:
    import imp  # <
    z = np.float_(1)  # <
try:
    from numpy import float_
except ImportError:
    from numpy import float_
""",
    "python: a failed import without another way": """\
numpy.float_ nose yaml.load
try:
    import numpy as np
except ImportError:
    import sys
    sys.exit(1)
np.float_(1)  # <
try:
    import nose
except ImportError:
    nose = None
nose.run()  # <
try:
    import yaml
except ImportError:
    yaml = other
yaml.load(x)
try:
    from numpy import float_
except ImportError:
    def float_(x): return x
float_(x)
""",
    "python: a module whose absence is reckoned with": """\
imp distutils asyncore asynchat smtpd numpy.float_
import importlib.util
import pytest
from typing import TYPE_CHECKING
try:
    import imp
except ImportError:
    imp = None
def f(x):
    if imp is not None:
        return imp.reload(x)
def g(x):
    if not imp:
        return None
    return imp.reload(x)
y = imp.reload(x) if imp else None
@pytest.mark.skipif(imp is None, reason="gone")
def test_imp():
    imp.reload(x)
try:
    from distutils.version import LooseVersion
    HAS_LOOSE = True
except ImportError:
    HAS_LOOSE = False
if HAS_LOOSE:
    LooseVersion("1")
try:
    import asyncore
    asyncore.loop()
except ImportError:
    pass
if TYPE_CHECKING:
    import asynchat
    x: asynchat.async_chat
if importlib.util.find_spec("smtpd") is not None:
    import smtpd
    smtpd.SMTPServer(x)
smtpd_again = pytest.importorskip("smtpd")
smtpd_again.SMTPServer(x)
try:
    import numpy as np
except ImportError:
    np = None
if np is not None:
    np.float_(1)  # <
""",
    "python: a module that is demanded in spite of a try": """\
imp distutils
try:
    import imp
except ImportError:
    raise SystemExit("no imp")
if imp:  # <
    imp.reload(x)  # <
try:
    import distutils
except ImportError:
    distutils = None
distutils.version.StrictVersion("1")  # <
""",
    "javascript: whoever asks whether it is there": """\
util.log _stream_wrap crypto.createCipher
const util = require("util"); const crypto = require("crypto");
util.log(1); // <
if (util.log) util.log(1);
if (util.log(2)) { f(); } // <
if (typeof crypto.createCipher === "function") { crypto.createCipher(a, b); }
const c = crypto.createCipher ? crypto.createCipher(a, b) : other(a);
util.log && util.log(1);
util.log?.(1);
if ("createCipher" in crypto) crypto.createCipher(a, b);
if (semver.lt(process.version, "22.0.0")) { crypto.createCipher(a, b); }
let wrap;
try { wrap = require("_stream_wrap"); } catch (e) { wrap = null; }
const again = require("_stream_wrap"); // <
if (ready) { util.log(1); } // <
""",
    "python: conditions on versions": """\
numpy.float_
import numpy as np
if VERSION:
    np.float_(1)  # <
if args.VERSION:
    np.float_(1)  # <
if __version__:
    np.float_(1)  # <
if "VERSION" == x:
    np.float_(1)  # <
if np.__version__ >= "2":
    np.float64(1)
else:
    np.float_(1)
if Version(np.__version__) < Version("2"):
    np.float_(1)
if not NUMPY_GE_2:
    np.float_(1)
if django.VERSION[0] < 3:
    np.float_(1)
if x:
    np.float_(1)  # <
elif sys.version_info < (3, 8):
    np.float_(1)
y = np.float_ if six.PY2 else np.float64
""",
    "python: whoever asks whether it is there": """\
numpy.float_
import numpy as np
if hasattr(np, "float_"):
    x = np.float_
    from numpy import float_
if hasattr(np, "float32"):
    x = np.float_  # <
else:
    x = np.float_
np.float_ = x  # <
x = getattr(np, "double", None) or np.float_
x = np.float_ if hasattr(np, "float_") else None
x = hasattr(np, "float_") and np.float_(1)
x = np.double if hasattr(np, "double") else np.float_
if hasattr(x, "double"):
    pass
else:
    x = np.float_  # <
if hasattr(np, "float_64"):
    x = np.float_  # <
""",
    "python: a file that gives the member itself": """\
numpy.float_
import numpy as np
if not hasattr(np, 'float_'):
    np.float_ = np.float64
np.float_ = float
x = np.float_
""",
    "python: the scope of a name": """\
numpy.float_ builtins.unicode
import numpy as np
def main():
    y = np.float_(1)  # <
    f = lambda np: np.float_(0)
    def g(np):
        return np.float_(1)
    class A:
        np = 3
    [np.float_ for np in z]
    unicode(y)  # <
def h(x):
    def np(): pass
    np.float_(1)
[np.float_ for np in z]
{np.float_: 1 for x in z}  # <
def with_(a):
    with a as (unicode, b):
        unicode(a)
def match_(a):
    match a:
        case unicode:
            unicode(a)
def match_2(a):
    match a:
        case {"x": [*unicode]} | A(y=b):
            unicode(a)
        case b.unicode:
            pass
def i(x=np.float_(1), unicode=unicode):  # <
    return unicode(x)
class B:
    def unicode(self):
        return unicode(self)  # <
unicode(1)  # <
""",
    "python: a name that two modules claim": """\
numpy.float_
import numpy as np
import jax.numpy as np
np.float_(1)
""",
    "python: the one import that nothing holds back": """\
numpy.float_
import numpy as np
if gpu:
    import cupy as np
np.float_(1)  # <
""",
    "python: its own names": """\
builtins.unicode builtins.xrange builtins.unichr builtins.long
unicode("x")  # <
def f(xrange): return xrange(3)
unichr = chr
unichr(4)
from past import long
long(3)
x.unicode("y")
call(unicode="y")
""",
    "javascript: members in every way to import them": """\
react-dom.render
import * as RD from "react-dom";
import ReactDOM from 'react-dom';
import {render} from 'react-dom'; // <
import {render as draw} from 'react-dom'; // <
const {hydrate, render: r2} = require('react-dom'); // <
const {render: r3} = ReactDOM;
const D = require("react-dom");
RD.render(x); // <
ReactDOM.render(y); // <
ReactDOM?.render(y); // <
render(z); draw(z); r2(q); r3(q); // <
require('react-dom').render(x); // <
function f(render) { render(1) }
const g = (D) => D.render(1);
export { render } from 'react-dom'; // <
x.render(1); this.render();
import {render as other} from './react-dom';
other(1);
""",
    "javascript: the scope of a name": """\
react-dom.render util
import ReactDOM from "react-dom";
import util from "util"; // <
function main() {
  ReactDOM.render(y); // <
  const f = (ReactDOM) => ReactDOM.render(0);
  for (const util of a) { util.isString(x) }
  util.isString(x); // <
  try { x() } catch (util) { util.isString(x) }
}
function g({util}) { util.isString(x) }
function h({a: [util], b = 3}) { util.isString(x) }
function i() { function util() {} util.isString(x) }
function j() { const {util} = x; util.isString(x) }
function k() { const {render} = ReactDOM; render(x) } // <
for (const {util} of a) { util.isString(x) }
""",
    "javascript: modules that are required where they are used": """\
react-dom.render util globalThis.Buffer
function f() { const u = require(`util`); // <
  u.isString(x) } // <
describe("x", () => {
  const ReactDOM = require("react-dom");
  it(() => ReactDOM.render(a)) // <
})
async function g() {
  const v = await import('util'); // <
  v["isString"](x); // <
  v?.['isString'](x); // <
  x["isString"](x);
}
function h(Buffer) { new Buffer(3) }
new Buffer(3); // <
require(`util/${x}`);
""",
    "javascript: members by their strings": """\
util.isString
const u = require("util");
u["isString"](x); // <
u?.[`isString`](x); // <
u["isArray"](x);
u[isString](x);
v["isString"](x);
""",
    "javascript: one name for two modules": """\
util.isString
function f() { const u = require("util"); u.isString(x); }
function g() { const u = require("lodash"); u.isString(x); }
""",
    "typescript: a class of the file's own": """\
globalThis.Buffer
class Buffer {}
new Buffer();
""",
    "javascript: modules": """\
punycode
const p = require("node:punycode"); // <
import 'punycode/punycode.js'; // <
export * from "punycode" // <
p.encode(); // <
const { encode } = await import("punycode"); // <
encode(); // <
jest.mock("punycode");
require("punycode2");
""",
    "javascript: globals": """\
globalThis.Buffer
var b = new Buffer(3); // <
global.Buffer(3); // <
x.Buffer(3);
""",
    "javascript: a global that the file brings itself": """\
globalThis.Buffer
const Buffer = require("safe-buffer").Buffer;
var b = new Buffer(3);
""",
    "typescript: types, import equals": """\
react.FC react
import React = require("react"); // <
import type { FC } from "react"; // <
const a: React.FC = x; // <
const b: FC<Props> = y; // <
function f(FC: string) { return FC; }
""",
    "tsx: elements": """\
react-dom/test-utils
import act from "react-dom/test-utils"; // <
act(() => <A/>); // <
""",
    "go: packages and members": """\
io/ioutil math/rand.Seed github.com/pkg/errors
package a
import (
    "io/ioutil" // <
    iu "io/ioutil" // <
    "github.com/pkg/errors" // <
    _ "github.com/pkg/errors/x" // <
    "math/rand"
)
func f() {
    ioutil.ReadAll(x) // <
    iu.ReadFile(y) // <
    rand.Seed(1) // <
    rand.Int()
    var e errors.Frame // <
    x.ioutil.ReadAll()
}
func g(errors []error) { errors.Foo() }
func h() { errors := list(); errors.Foo() }
func i() {
    f := func(errors []error) { errors.Foo() }
    errors.New(x) // <
}
// ioutil.ReadAll
""",
    "go: major versions and other habits of paths": """\
github.com/dgrijalva/jwt-go gopkg.in/yaml.v2
package a
import (
    "github.com/dgrijalva/jwt-go/v4" // <
    "gopkg.in/yaml.v2" // <
)
func f() {
    jwt.Parse(x) // <
    yaml.Unmarshal(y) // <
}
""",
    "rust: use declarations and paths": """\
std::mem::uninitialized once_cell::sync::Lazy lazy_static
use std::mem::{self, uninitialized, swap as s}; // <
use once_cell::sync::Lazy as L; // <
use once_cell::{sync, unsync::Lazy as M};
use once_cell_try::sync::Lazy as N;
use std::{mem::{self as m, uninitialized as u}}; // <
fn f() {
    mem::uninitialized(); // <
    uninitialized(); // <
    ::std::mem::uninitialized(); // <
    other::uninitialized();
    mem::swap();
    let x: L<u8> = L::new(|| 1); // <
}
lazy_static! { static ref X: u8 = 1; } // <
lazy_static::lazy_static! { } // <
fn uninitialized2(uninitialized: u8) {}
""",
    "java: types, annotations, static members": """\
org.spring.ListenableFuture org.lang.Nullable org.junit.Assert.assertEquals
package org.spring.ListenableFuture;
import org.spring.ListenableFuture; // <
import org.lang.*;
import static org.junit.Assert.assertEquals; // <
import org.junit.Assert;
class A extends ListenableFuture<B> { // <
  @Nullable String a; // <
  void f(ListenableFuture<X> a) { // <
    assertEquals(1, 2); // <
    Assert.assertEquals(1, 2); // <
    this.assertEquals(1, 2);
    ListenableFuture.of(1); // <
    Object o = ListenableFuture::foo; // <
    new ListenableFuture<>(); // <
    ListenableFuture.Inner q; // <
    x.ListenableFuture();
    other.pkg.ListenableFuture z;
    org.spring.ListenableFuture w; // <
  }
}
""",
    "java: a type of the file itself hides that of a wildcard": """\
org.lang.Nullable
import org.lang.*;
@interface Nullable {}
class A { @Nullable String a; }
""",
    "kotlin: aliases, annotations, calls": """\
org.spring.ListenableFuture org.lang.Nullable org.junit.Assert.assertEquals
import org.spring.ListenableFuture as LF // <
import org.lang.Nullable // <
import org.junit.Assert.*
class A : LF<String>() { // <
  @Nullable // <
  val x: LF<X>? = null // <
  val y: org.lang.Nullable = 1 // <
  fun f() {
    assertEquals(1, 2) // <
    LF(3) // <
    LF.of(3) // <
    x.LF(3)
  }
}
""",
}


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_name_is_found_wherever_the_file_means_it(sample: str) -> None:
    language, (names, code) = sample.partition(":")[0], SAMPLES[sample].split("\n", 1)
    found = lines_of(LANGUAGES[language].parser or "", code, names.split())
    assert found == marked(code)


TAKEN = {*keyword.kwlist, *keyword.softkwlist, *dir(builtins)}
WORD = st.text(string.ascii_lowercase, min_size=2, max_size=6).filter(
    lambda word: word not in TAKEN
)


@given(WORD, WORD, WORD)
def test_every_way_to_import_a_python_name_leads_to_it(module: str, name: str, local: str) -> None:
    ways = [
        (f"import {module}x.y", f"{module}x.y.{name}"),
        (f"import {module}x.y as {local}_", f"{local}_.{name}"),
        (f"from {module}x import y", f"y.{name}"),
        (f"from {module}x.y import {name} as {local}_", f"{local}_"),
        (f"from {module}x.y import *", f"{name}"),
    ]
    for statement, use in ways:
        found = lines_of("python", f"{statement}\nprint({use})\n", [f"{module}x.y.{name}"], "used")
        assert found == [2], statement


@given(st.lists(WORD, min_size=1, max_size=4), st.lists(WORD, min_size=1, max_size=4))
def test_what_is_below_a_name_is_spelled_by_its_beginning(up: list[str], down: list[str]) -> None:
    name = ".".join(up)
    assert is_below(".".join([*up, *down]), name, ".")
    assert not is_below(name + "x", name, ".")
    assert spell_names([".".join([*up, *down])], [Binding("a", name)], ".") == [("a", *down)]
    assert spell_names([name], [Binding("a", ".".join([*up, *down]))], ".") == [("a",)]
