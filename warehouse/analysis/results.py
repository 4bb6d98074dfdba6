"""What all results have in common: rows, a frame, a dictionary."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    import pandas as pd

#: Draws behind the rank sets of a leaderboard (`pairs` takes more).
DRAWS = 1999


#: Fields of a result that hold records.
_RECORDS = ("rows", "others")
#: Rows that a notebook shows.
NOTEBOOK_ROWS = 200


def plain(value: Any) -> Any:
    """A value as JSON holds it: rows and other dataclasses by name, tuples as lists."""
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, Row):
        return value.to_dict()
    if is_dataclass(value):
        return {item.name: plain(getattr(value, item.name)) for item in fields(value)}
    return value


class Row:
    """Base of one row of a result: a frozen dataclass whose fields are the columns."""

    def to_dict(self) -> dict[str, Any]:
        """The fields by name; tuples become lists."""
        return {item.name: plain(getattr(self, item.name)) for item in fields(self)}  # type: ignore[arg-type]


class Result:
    """Base of a result: a frozen dataclass with ``rows``.

    Attributes:
        notebook_columns: fields of the rows that a notebook shows; empty for all.
    """

    notebook_columns: ClassVar[tuple[str, ...]] = ()
    rows: tuple[Any, ...]

    def to_dict(self) -> dict[str, Any]:
        """All fields by name; ``rows`` and ``others`` are lists of dictionaries."""
        own = {item.name: getattr(self, item.name) for item in fields(self)}  # type: ignore[arg-type]
        plain = {name: [row.to_dict() for row in own[name]] for name in _RECORDS if name in own}
        return own | plain

    def to_frame(self) -> pd.DataFrame:
        """The rows as a pandas frame."""
        import pandas as pd

        return pd.DataFrame([row.to_dict() for row in self.rows])

    def _notebook_rows(self) -> tuple[Any, ...]:
        """Rows that a notebook shows."""
        return self.rows

    def _repr_html_(self) -> str:
        """What a notebook shows: the one line above the rows, without columns that say nothing."""
        import pandas as pd

        rows = [row.to_dict() for row in self._notebook_rows()]
        names = self.notebook_columns or (tuple(rows[0]) if rows else ())
        said = [name for name in names if any(_says_something(row[name]) for row in rows)]
        cells = [[_in_words(row[name]) for name in said] for row in rows[:NOTEBOOK_ROWS]]
        table = pd.DataFrame(cells, columns=said).to_html(index=False, border=0)
        more = len(rows) - NOTEBOOK_ROWS
        below = f"<p>... and {more} more rows: to_frame() has all</p>" if more > 0 else ""
        return f"<p>{escape(str(self))}</p>{table}{below}"


def _says_something(value: Any) -> bool:
    return not (value is None or value != value or (isinstance(value, str | list) and not value))


def _in_words(value: Any) -> str:
    if not _says_something(value):
        return ""
    if isinstance(value, list):
        return ", ".join(_in_words(item) for item in value)
    return f"{value:.4g}" if isinstance(value, float) and value % 1 else f"{value}"
