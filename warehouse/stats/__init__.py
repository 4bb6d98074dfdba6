"""Pure numerics: arrays in, frozen dataclass out. No frame, no connection, no printing.

Definitions and sources are in the docstrings (Miller 2024 for most of them); anything
that cannot be computed is None with a reason, and missing or infinite scores are
refused.

The names are listed once, in ``__init__.pyi``, which type checkers read. A module is
imported when one of its names is first asked for: no program needs them all.
"""

from __future__ import annotations

import ast
from dataclasses import is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from warehouse.field_docs import document_fields


def _modules_by_name() -> dict[str, str]:
    """The names that the stub imports, each with its module."""
    stub = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    modules: dict[str, str] = {}
    for node in stub.body:
        if isinstance(node, ast.ImportFrom):
            names = [alias.name for alias in node.names]
            modules |= dict.fromkeys(names, f"{__name__}.{node.module}")
    return modules


_MODULES = _modules_by_name()
__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    """The name, from its module; kept, so that this happens once."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value = getattr(import_module(_MODULES[name]), name)
    if is_dataclass(value):
        document_fields(value)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
