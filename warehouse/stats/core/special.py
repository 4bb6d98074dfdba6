"""The special functions of scipy, without what its package loads around them.

``scipy.special`` readies each of its functions for the arrays of other libraries too,
and loads all of numpy for that, its Fortran compiler and its tests included: ten times
what the functions themselves take, and more than most answers. They lie in a compiled
module of that package, and are the very same objects there.
"""

from __future__ import annotations

import sys
import threading
from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from types import ModuleType
from typing import Any

import scipy

_PACKAGE = "scipy.special"
_COMPILED = "scipy.special._ufuncs"


def __getattr__(name: str) -> Any:
    """The function of that name; kept, so that this happens once."""
    if name.startswith("__"):
        raise AttributeError(name)
    home = _compiled()
    globals()[name] = value = getattr(
        home if hasattr(home, name) else import_module(_PACKAGE), name
    )
    return value


@cache
def _compiled() -> ModuleType:
    """The compiled module, or the package where that is loaded already or its parts lie
    elsewhere."""
    # another thread could take what stands for the package for the package
    if _PACKAGE in sys.modules or threading.active_count() > 1:
        return import_module(_PACKAGE)
    before = set(sys.modules)
    try:
        return _alone()
    except Exception:  # another version of scipy, with other parts
        for name in {
            name for name in sys.modules if name.startswith(_PACKAGE)
        } - before:
            del sys.modules[name]
        return import_module(_PACKAGE)


def _alone() -> ModuleType:
    """The compiled module, loaded as part of an empty package, which the real one may
    follow."""
    spec = PathFinder.find_spec(_PACKAGE, scipy.__path__)
    if spec is None or spec.submodule_search_locations is None:
        raise ImportError(_PACKAGE)
    empty = ModuleType(_PACKAGE)
    empty.__path__ = spec.submodule_search_locations
    sys.modules[_PACKAGE] = empty
    try:
        return import_module(_COMPILED)
    finally:
        del sys.modules[_PACKAGE]
