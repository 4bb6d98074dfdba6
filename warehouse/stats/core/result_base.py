"""The base of every result: named figures that come out as plain data."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import numpy as np


class Figures:
    """Base of a result: a frozen dataclass of named figures."""

    def to_dict(self) -> dict[str, Any]:
        """The fields by name: tuples and arrays become lists, NaN (not defined) None."""
        return {name: _plain(value) for name, value in asdict(self).items()}  # type: ignore[call-overload]


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and math.isnan(value) else value
