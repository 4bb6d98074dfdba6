"""Views as HTML for notebooks: no script, and styles that hold in a light and in a dark page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Any

from warehouse.tables.view import Below, Table, View
from warehouse.tables.words import Interval, cell, is_number, visible

#: Width and height of a drawn interval, in pixels, and what is left free at its ends.
_WIDTH, _HEIGHT, _MARGIN = 120, 14, 4
#: Styles stand on the elements: pages of notebooks throw style sheets away, and no colour is set that
#: is not the page's own or half transparent, so that it holds on white and on black.
_TABLE = "border-collapse:collapse;font-variant-numeric:tabular-nums;margin:.4em 0"
_HEAD = "text-align:{align};padding:.2em .7em;border-bottom:1px solid rgba(128,128,128,.6);white-space:nowrap"
_CELL = "text-align:{align};padding:.2em .7em;border-bottom:1px solid rgba(128,128,128,.2)"
_LINE = "margin:.2em 0;max-width:60em"
_FAINT = "margin:.15em 0;max-width:60em;opacity:.75;font-size:.92em"


def in_html(view: View, *, rows: int) -> str:
    """A view as HTML; every text of a dump is escaped.

    Args:
        view: what is shown.
        rows: of a table at most.
    """
    parts: list[str] = []
    shown: set[str] = set()
    for part in view.parts:
        if isinstance(part, Table):
            shown |= {part.columns[index] for index in part.filled()} if part.rows else set()
            parts.append(_table(part, rows))
        elif not isinstance(part, Below):
            parts += [_line(part, _LINE)] if part else []
        elif not part.column or part.column in shown:
            parts.append(_line(part.line, _FAINT))
    parts += [_line(f"note: {note}", _FAINT) for note in view.notes]
    return f"<div>{''.join(parts)}</div>"


def _line(text: str, style: str) -> str:
    return f'<p style="{style}">{_text(text)}</p>'


def _text(text: str) -> str:
    return escape(visible(text)).replace("\n", "<br>")


def _table(table: Table, most: int) -> str:
    if not table.rows:
        return _line(table.empty, _LINE)
    kept = table.filled()
    right = [is_number([row[index] for row in table.rows]) for index in kept]
    scales = [_scale([row[index] for row in table.rows]) for index in kept]
    head = "".join(
        f'<th scope="col" style="{_HEAD.format(align=_align(to_right))}">{_text(table.columns[index])}</th>'
        for index, to_right in zip(kept, right, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f'<td style="{_CELL.format(align=_align(to_right))}">{_cell(row[index], scale)}</td>'
            for index, to_right, scale in zip(kept, right, scales, strict=True)
        )
        + "</tr>"
        for row in table.rows[:most]
    )
    more = len(table.rows) - most
    below = _line(f"... and {more} more rows: to_frame() has all", _FAINT) if more > 0 else ""
    return (
        f'<div style="overflow-x:auto"><table style="{_TABLE}"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>{below}"
    )


def _align(right: bool) -> str:
    return "right" if right else "left"


def _cell(value: Any, scale: tuple[float, float] | None) -> str:
    if isinstance(value, Interval) and scale is not None:
        drawn = _drawn(value, *scale)
        return f'<span style="white-space:nowrap">{drawn} {_text(value)}</span>'
    return "" if value is None else _text(cell(value))


def _scale(values: Sequence[Any]) -> tuple[float, float] | None:
    """The common ends of the intervals of a column; None where there is nothing to draw."""
    intervals = [value for value in values if isinstance(value, Interval)]
    ends = [end for value in intervals for end in (value.low, value.high) if math.isfinite(end)]
    return (min(ends), max(ends)) if ends and min(ends) < max(ends) else None


def _drawn(value: Interval, low: float, high: float) -> str:
    """An interval as a line with a dot at the estimate, on the scale of its column; the line of 0 where
    it lies within."""

    def place(at: float) -> float:
        share = (min(max(at, low), high) - low) / (high - low)
        return round(_MARGIN + share * (_WIDTH - 2 * _MARGIN), 1)

    middle = _HEIGHT / 2
    zero = (
        f'<line x1="{place(0)}" x2="{place(0)}" y1="0" y2="{_HEIGHT}" stroke="currentColor" stroke-opacity=".35"/>'
        if low < 0 < high
        else ""
    )
    dot = (
        f'<circle cx="{place(value.at)}" cy="{middle}" r="3" fill="currentColor"/>'
        if value.at is not None and math.isfinite(value.at)
        else ""
    )
    return (
        f'<svg width="{_WIDTH}" height="{_HEIGHT}" role="img" aria-label="{escape(value)}"'
        f' style="vertical-align:middle">{zero}<line x1="{place(value.low)}" x2="{place(value.high)}"'
        f' y1="{middle}" y2="{middle}" stroke="currentColor" stroke-width="2" stroke-opacity=".6"/>{dot}</svg>'
    )
