"""Whole numbers that a column cannot hold: JSON has them of any size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa


def too_large(value: Any, kind: pa.DataType) -> int | None:
    """The first whole number in a value that its Arrow type cannot hold.

    Args:
        value: of the type, or nearly so; may hold lists and mappings.
        kind: type of the column.

    Returns:
        the number; ``None`` if all fit.
    """
    if pa.types.is_struct(kind):
        parts = value if isinstance(value, Mapping) else {}
        found = (too_large(parts.get(field.name), field.type) for field in kind)
    elif pa.types.is_list(kind):
        items = value if isinstance(value, list | tuple) else ()
        found = (too_large(item, kind.value_type) for item in items)
    else:
        if not pa.types.is_signed_integer(kind) or not isinstance(value, int):
            return None
        bound = 1 << (kind.bit_width - 1)
        return None if -bound <= value < bound else value
    return next((number for number in found if number is not None), None)
