"""Tables of the page: columns that say something, as many decimals as errors justify,
priorities.

A column that has one text or count in all rows is not shown but said once, below the
caption. Columns that are ``minor`` are hidden where a table is narrow, until somebody
asks for all.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from markupsafe import Markup, escape

from warehouse.tables.words import fixed

#: How a number is written: by decimals, or by a printf form.
Form = int | str
#: Columns beyond which a table does without the minor ones in all but a very wide
#: window.
MANY = 10
_OPENED = Markup(
    '<div class="scroll{}" role="region" aria-label="{}" tabindex="0">{}<table{}>\n'
    "<caption>{}</caption>\n"
)
#: Parts of a name, each with the sign that ends it.
_SIGNS = re.compile(r"[^_=/+@]*[_=/+@]+|[^_=/+@]+")
#: An option of a command, as ``--metric``.
_OPTION = re.compile(r"(?<![\w-])--?[a-z][a-z-]*")
_ALL = Markup(
    '<label class="all"><input type="checkbox" class="cols">All columns</label>'
)
#: Rows beyond which a table shows only so many of the first until it is asked for all.
MANY_ROWS, FIRST_ROWS = 50, 40


@dataclass(frozen=True)
class PageColumn:
    """One column."""

    head: str  #: its name, as HTML.
    kind: str  #: class of its header, ``n`` for numbers, ``figure`` for drawings.
    cells: tuple[str, ...]  #: of each row, with their tags, as HTML.
    #: what it says in each row, for those that may be said once; None for others.
    words: tuple[str, ...] | None = None
    minor: bool = False  #: hidden where the table is narrow.


def table(
    label: str,
    caption: str,
    columns: Iterable[PageColumn | None],
    *,
    sortable: bool = True,
    chosen: int = -1,
) -> Markup:
    """A table as HTML.

    Args:
        label: for those who hear the page.
        caption: text, or HTML that is marked so.
        columns: None for those that are left out.
        sortable: whether its heads can be clicked.
        chosen: a row that stands out.
    """
    kept, constant = _shown([column for column in columns if column is not None])
    about = escape(caption)
    if constant:
        about = Markup("{} In all rows: {}.").format(caption, ", ".join(constant))
    minor = any(column.minor for column in kept)
    many, shows_all, kind = "", "", Markup("")
    if minor:
        shows_all = _ALL
    if minor and len(kept) > MANY:
        many = " many"
    if sortable:
        kind = Markup(' class="sortable"')
    heads = "".join(_head(column) for column in kept)
    columns_of_cells = [column.cells for column in kept]
    rows = [f"<tr>{''.join(cells)}\n" for cells in zip(*columns_of_cells, strict=True)]
    if 0 <= chosen < len(rows):
        rows[chosen] = rows[chosen].replace("<tr>", "<tr class=chosen>", 1)
    n_first = len(rows)
    if len(rows) > MANY_ROWS:
        n_first = FIRST_ROWS

    def of(label: str, about: str, own: Sequence[str]) -> Markup:
        opened = _OPENED.format(many, label, shows_all, kind, about)
        return opened + Markup(
            f"<thead><tr>{heads}</tr></thead>\n"
            f"<tbody>{''.join(own)}</tbody></table></div>"
        )

    first, rest = of(label, about, rows[:n_first]), rows[n_first:]
    if not rest:
        return first
    others = of(f"{label}, the rest", "", rest)
    return first + folded(others, f"The other {len(rest)} rows", "rest")


def folded(html: str, words: str, kind: str = "") -> Markup:
    """HTML behind words that open it.

    Args:
        html: what is safe as it stands; what is folded in it opens without a script.
        words: plain text.
        kind: a class of it.
    """
    inner = html.replace("<noscript>", "<div>").replace("</noscript>", "</div>")
    classes = f"late {kind}".strip()
    opened = Markup('<details class="{}"><summary>{}</summary>').format(classes, words)
    return opened + Markup(f"<noscript>{inner}</noscript></details>")


def _shown(columns: Sequence[PageColumn]) -> tuple[list[PageColumn], list[str]]:
    """Columns that differ between rows, and what the others say; nothing of a count
    that is 0 everywhere."""
    kept: list[PageColumn] = []
    constant: list[str] = []
    for column in columns:
        words = column.words
        if words is None or len({*words}) > 1 or (len(words) == 1 and words[0]):
            kept.append(column)
        elif words and words[0] not in ("", "0"):
            constant.append(f"{Markup(column.head).striptags()} {words[0]}")
    return kept, constant


def _head(column: PageColumn) -> str:
    kinds = column.kind
    if column.minor:
        kinds = f"{kinds} x".strip()
    return f'<th scope="col"{_of_class(kinds)}>{column.head}</th>'


def _of_class(kinds: str) -> str:
    if not kinds:
        return ""
    if " " in kinds:
        return f' class="{kinds}"'
    return f" class={kinds}"


def name(head: str, values: Iterable[str | None], *, wrap: bool = False) -> PageColumn:
    """Column of the names of rows: their headers."""
    kind = ""
    if wrap:
        kind = " class=wrap"
    return PageColumn(
        head,
        "",
        tuple(
            f'<th scope="row"{kind}><bdi>{broken(value or "")}</bdi></th>'
            for value in values
        ),
    )


def model_and_condition(
    head: str,
    models: Sequence[str | None],
    conditions: Sequence[str],
    *,
    minor: bool = False,
) -> list[PageColumn]:
    """What a row is of, in two columns; where there is no room the condition stands
    below the name."""
    column = text("Condition", conditions, minor=minor)
    if minor or len({*conditions}) < 2:
        return [name(head, models), column]
    heads = tuple(
        '<th scope="row" '
        f'data-c="{escape(condition)}"><bdi>{broken(model or "")}</bdi></th>'
        for model, condition in zip(models, conditions, strict=True)
    )
    own = tuple(
        cell.replace("<td class=t>", '<td class="t c">', 1) for cell in column.cells
    )
    return [PageColumn(head, "", heads), replace(column, kind="c", cells=own)]


@lru_cache(1 << 12)  # the names of models stand in many tables
def broken(word: str) -> Markup:
    """A name as HTML that may go on in the next line after a sign such as _ or =."""
    return Markup("<wbr>").join(escape(part) for part in _SIGNS.findall(word))


def unbroken(words: str) -> Markup:
    """A text as HTML whose options, such as ``--metric``, are never broken at their
    dashes."""
    return Markup(_OPTION.sub(r'<span class="o">\g<0></span>', str(escape(words))))


def text(
    head: str,
    values: Iterable[str | None],
    *,
    minor: bool = False,
    wrap: bool = False,
    long: bool = False,
    keep: bool = False,
    classes: Sequence[str] = (),
) -> PageColumn:
    """Words; empty where there are none.

    Args:
        wrap: they may take several lines; ``long``: and more room.
        keep: shown even where all are the same.
        classes: of each cell, besides.
    """
    words = [_word(value) for value in values]
    if long:
        kind = "wrap long"
    elif wrap:
        kind = "wrap"
    else:
        kind = "t"
    own = kind
    if minor:
        own = f"{kind} x"
    kinds = [_of_class(own)] * len(words)
    if classes:
        kinds = [_of_class(f"{own} {more}".strip()) for more in classes]
    shown = escape
    if kind == "t":
        shown = broken
    cells = []
    for own_kind, word in zip(kinds, words, strict=True):
        cell = f"<td{own_kind}>"
        if word:
            cell += f"<bdi>{shown(word)}</bdi>"
        cells.append(cell)
    told = None
    if not keep:
        told = tuple(words)
    return PageColumn(head, "", tuple(cells), told, minor)


def _word(value: object) -> str:
    if value is None:
        return ""
    return str(value)


def _whole(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:d}"


def html(
    head: str, values: Iterable[Markup | str], *, minor: bool = False
) -> PageColumn:
    """HTML of our own, or text."""
    own = "wrap"
    if minor:
        own = "wrap x"
    return PageColumn(
        head,
        "",
        tuple(f'<td class="{own}">{escape(value)}' for value in values),
        None,
        minor,
    )


def count(
    head: str, values: Iterable[float | None], *, minor: bool = True, keep: bool = False
) -> PageColumn:
    """Whole numbers."""
    figures = list(values)
    words = None
    if not keep:
        words = tuple(_whole(value) for value in figures)
    cells = tuple(_cell(value, "%d", minor) for value in figures)
    return PageColumn(head, "n", cells, words, minor)


def number(
    head: str,
    values: Iterable[float | None],
    form: Form = "%.4g",
    *,
    sign: bool = False,
    minor: bool = False,
) -> PageColumn:
    """Figures, all with the same decimals, or p-values and shares by a form; never left
    out."""
    figures = list(values)
    words: tuple[str, ...] = ()
    if not any(is_finite(value) for value in figures):
        words = ("",) * len(figures)
    return PageColumn(
        head,
        "n",
        tuple(_cell(value, form, minor, sign) for value in figures),
        words or None,
        minor,
    )


def is_finite(value: Any) -> bool:
    """True where a value is there and finite."""
    return value is not None and math.isfinite(value)


def written(value: float | None, form: Form, *, sign: bool = False) -> str:
    """A number as text; empty for a missing one."""
    if value is None or value != value:
        return ""
    if isinstance(form, str):
        return str(form % value)
    if not math.isfinite(value):
        return f"{value}"
    return fixed(value, form, sign=sign)


def _cell(value: float | None, form: Form, minor: bool, sign: bool = False) -> str:
    """A cell, with the exact number where it shows a rounded one, to sort by."""
    shown, exact = written(value, form, sign=sign), written(value, "%.8g")
    own = ""
    if minor:
        own = " class=x"
    if exact == shown:
        return f"<td{own}>{shown}"
    return f'<td{own} data-v="{exact}">{shown}'
