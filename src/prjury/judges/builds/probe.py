"""Runs inside every Python that a build starts and notes where the project's packages came from.

It is copied beside a list of names and put on the path as ``sitecustomize``, so it may use nothing
but the oldest parts of the standard library, and nothing in it may disturb the program.
"""

from __future__ import annotations

import atexit
import json
import os
import sys
from contextlib import suppress
from importlib import import_module

#: What is loaded where tests run, and hardly elsewhere.
_RUNNERS = ("_pytest.main", "unittest.main")


def write_package_origins_if_tested(place: str, package_names: list[str]) -> None:
    """Writes the origins of those of the packages that are loaded, if tests have run here."""
    if not any(runner in sys.modules for runner in _RUNNERS):
        return
    origins = {}
    for name in package_names:
        module = sys.modules.get(name)
        file = getattr(module, "__file__", None)
        if module is not None:
            origins[name] = [file] if file else list(getattr(module, "__path__", ()))
    with open(os.path.join(place, f"seen-{os.getpid()}.json"), "w") as stream:  # noqa: PTH118, PTH123
        json.dump(origins, stream)


def _register_probe_and_load_sitecustomize(place: str) -> None:
    """Registers the note, and makes way for the environment's own ``sitecustomize``."""
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != place]  # noqa: PTH100
    with open(os.path.join(place, "names.json")) as stream:  # noqa: PTH118, PTH123
        atexit.register(write_package_origins_if_tested, place, json.load(stream))
    own_module = sys.modules.pop("sitecustomize", None)
    try:
        import_module("sitecustomize")  # the one that ours stands in front of
    except ImportError:
        if own_module is not None:
            sys.modules["sitecustomize"] = own_module


if __name__ == "sitecustomize":
    with suppress(Exception):  # what cannot be noted is not known, and no more
        _register_probe_and_load_sitecustomize(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120
