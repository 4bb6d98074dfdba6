"""Packages that only some commands need: loaded when they are asked for, and what to
run where one is missing."""

from __future__ import annotations

import re
import shlex
import sys
from importlib import import_module
from typing import Any

from warehouse.errors import MisuseError


class Later:
    """A module that is imported when something of it is first asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        value = getattr(import_module(self._name), attribute)
        setattr(self, attribute, value)  # the next one is found without this
        return value


def load(name: str, extra: str, purpose: str) -> Any:
    """Import a module of an optional dependency (MisuseError: it is not installed; with
    the command that installs it).

    Args:
        name: of the module, such as ``deltalake``.
        extra: of ours, such as ``lake``.
        purpose: what needs it, as the beginning of a sentence: ``a lake``.
    """
    try:
        return import_module(name)
    except ImportError as error:
        missing = (error.name or name).partition(".")[0]
        raise MisuseError(
            f"{purpose} needs the package {missing}, which is not installed; run: "
            f"{install_command(extra)}"
        ) from None


def install_command(extra: str) -> str:
    """How to install what an extra of ours needs: its packages by name, with this very
    Python, so that it works for a checkout too, and where the package was installed
    from a file."""
    from importlib.metadata import PackageNotFoundError, requires

    try:
        named = requires("eval-warehouse") or []
    except PackageNotFoundError:
        named = []
    mark = re.compile(rf"extra\s*==\s*['\"]{re.escape(extra)}['\"]")
    needed = [
        text.partition(";")[0].strip()
        for text in named
        if mark.search(text.partition(";")[2])
    ]
    words = needed or [f"eval-warehouse[{extra}]"]
    return shlex.join([sys.executable or "python", "-m", "pip", "install", *words])
