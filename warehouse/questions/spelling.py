"""Values of a question as a shell and Python write them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from numbers import Integral, Real
from pathlib import PurePath
from typing import Any


def in_python(value: Any) -> str:
    """A value as an expression; a path as its text."""
    if isinstance(value, str | PurePath):
        return json.dumps(str(value), ensure_ascii=False)
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{in_python(name)}: {in_python(item)}' for name, item in value.items())}}}"
    if isinstance(value, tuple):
        return f"[{', '.join(map(in_python, value))}]"
    if isinstance(value, bool | datetime) or value is None:
        return repr(value)
    return _number(value)


def shell_texts(value: Any, *, joined: bool) -> list[str]:
    """A value as words for a command line, each of several one of its own unless they
    are joined by commas."""
    if isinstance(value, Mapping):
        texts = [f"{name}={_number(item)}" for name, item in value.items()]
    else:
        texts = [
            _text(item)
            for item in (value if isinstance(value, tuple) else (value,))
            if item is not None
        ]
    if joined and texts:
        return [",".join(texts)]
    return texts


def _text(value: Any) -> str:
    if isinstance(value, Real):
        return _number(value)
    return str(value)


def _number(value: Any) -> str:
    """Read again it is the same number; those of numpy as any others."""
    return repr(int(value) if isinstance(value, Integral) else float(value))
