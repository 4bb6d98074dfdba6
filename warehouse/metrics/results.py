"""What all results have in common: rows, a frame, a dictionary."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


class Row:
    """Base of one row of a result: a frozen dataclass whose fields are the columns."""

    def to_dict(self) -> dict[str, Any]:
        """The fields by name; tuples become lists."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asdict(self).items()  # type: ignore[call-overload]
        }


class Result:
    """Base of a result: a frozen dataclass with ``rows``."""

    rows: tuple[Any, ...]

    def to_dict(self) -> dict[str, Any]:
        """All fields by name; ``rows`` is a list of dictionaries."""
        own = {item.name: getattr(self, item.name) for item in fields(self)}  # type: ignore[arg-type]
        return own | {"rows": [row.to_dict() for row in self.rows]}

    def to_frame(self) -> pd.DataFrame:
        """The rows as a pandas frame."""
        import pandas as pd

        return pd.DataFrame([row.to_dict() for row in self.rows])
