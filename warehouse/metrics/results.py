"""What all results have in common: rows, a frame, a dictionary."""

from __future__ import annotations

from dataclasses import asdict, fields
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


#: Rows that a notebook shows.
NOTEBOOK_ROWS = 200


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

    def _repr_html_(self) -> str:
        """What a notebook shows: the one line above the rows, without columns that say nothing."""
        frame = self.to_frame()
        said = [name for name in frame.columns if frame[name].map(_says_something).any()]
        more = len(frame) - NOTEBOOK_ROWS
        below = f"<p>... and {more} more rows: to_frame() has all</p>" if more > 0 else ""
        shown = frame[said].head(NOTEBOOK_ROWS).map(_in_words)
        return f"<p>{escape(str(self))}</p>{shown.to_html(index=False, border=0)}{below}"


def _says_something(value: Any) -> bool:
    return not (value is None or value != value or (isinstance(value, str | list) and not value))


def _in_words(value: Any) -> str:
    if not _says_something(value):
        return ""
    if isinstance(value, list):
        return ", ".join(_in_words(item) for item in value)
    return f"{value:.4g}" if isinstance(value, float) and value % 1 else f"{value}"
