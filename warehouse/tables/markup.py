"""Views as Markdown and LaTeX, ready for a page or a paper: an estimate with its error
in one cell (Miller 2024)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from warehouse.errors import MisuseError
from warehouse.tables.view import MARKED, MARKED_BOLD, Part, Table, TableNote, View
from warehouse.tables.words import (
    StrongNumber,
    WrittenInterval,
    WrittenNumber,
    cell,
    is_number,
    visible,
)

#: The column of standard errors: in brackets behind the figure that it follows.
ERROR = "se"
#: The column of figures that have it behind them already.
_WITH_ERROR = "score"
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "−": "$-$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "…": r"\ldots{}",
    "·": r"$\cdot$",
    "–": "--",
} | {sign: f"\\{sign}" for sign in "&%$#_{}"}
_MARKDOWN = re.compile(r"([\\|*`<])")


#: Columns of scores, besides the one before the errors and those of intervals.
_SCORES = ("a", "b", "mean a", "mean b")
_WRITTEN = re.compile(r"[+-]?\d+(?:\.(\d+))?(?:e[+-]?\d+)?")


def in_percent(view: View) -> View:
    """A view with what is a share of 1 in per cent, as Miller (2024) prints it: 65.5 %
    (0.7 %).

    Raises:
        MisuseError: a figure above 1, which is no share.
    """
    parts: list[Part] = []
    for part in view.parts:
        if isinstance(part, Table):
            part = _in_percent(part)
        parts.append(part)
    return View(tuple(parts), view.notes)


def _in_percent(table: Table) -> Table:
    if ERROR in table.columns:
        error = table.columns.index(ERROR)
        shares = {error - 1, error}
    elif _WITH_ERROR in table.columns:
        shares = {table.columns.index(_WITH_ERROR)}
    else:
        return table
    if any("%" in str(row[index]) for row in table.rows for index in shares):
        return table  # which is in per cent
    shares |= {
        index
        for index, name in enumerate(table.columns)
        if name in _SCORES or name.endswith("% interval")
    }
    rows: list[tuple[Any, ...]] = []
    for row in table.rows:
        values = list(row)
        for at in shares:
            values[at] = _per_cent(values[at], table.columns[at])
        rows.append(tuple(values))
    return replace(table, rows=tuple(rows))


def _per_cent(value: Any, column: str) -> Any:
    if not isinstance(value, WrittenNumber | WrittenInterval):
        return value

    def written(number: re.Match[str]) -> str:
        share = float(number[0])
        if abs(share) > 1:
            raise MisuseError(
                f"--percent is for shares of 1; {column} holds {number[0]}"
            )
        sign = ""
        if number[0].startswith("+"):
            sign = "+"
        n_decimals = max(len(number[1] or "") - 2, 0)
        return f"{100 * share:{sign}.{n_decimals}f} %"

    text = _WRITTEN.sub(written, str(value))
    if isinstance(value, WrittenInterval):
        return WrittenInterval.of(text, value.low, value.high, value.at)
    return WrittenNumber(text)


class StrongText(str):
    """A cell that is bold."""


@dataclass(frozen=True)
class MarkupTable:
    """A table of texts: the lines above it, its cells, and the lines below."""

    caption: tuple[str, ...]
    columns: tuple[str, ...]
    to_right: tuple[bool, ...]
    rows: tuple[tuple[str, ...], ...]
    below: tuple[str, ...]


def in_markdown(view: View) -> str:
    """A view as Markdown, with pipe tables as GitHub and Pandoc read them."""
    blocks: list[str] = []
    for part in _parts(view):
        if isinstance(part, tuple):
            blocks.append(_broken(part))
            continue
        if part.caption:
            blocks.append(_broken(part.caption))
        blocks.append(pipe_table(part.columns, part.rows, part.to_right))
        if part.below:
            blocks.append(_broken(part.below))
    return "\n\n".join(blocks) + "\n"


#: How Markdown and LaTeX say that a column stands to the right, or does not.
_RULES = {True: "---:", False: "---"}
_SIDES = {True: "r", False: "l"}


def pipe_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], to_right: Iterable[bool]
) -> str:
    """A table for Markdown, without a paragraph around it."""
    rules = [_RULES[right] for right in to_right]
    lines = [_row(map(_markdown, columns)), _row(rules)]
    for row in rows:
        lines.append(_row(map(_markdown, row)))
    return "\n".join(lines)


def with_caption(title: str, table: str, note: str) -> str:
    """A table for Markdown between its title and what it rests on."""
    return "\n\n".join(
        filter(None, [f"**{_markdown(title)}**", table, _markdown(note)])
    )


def in_latex(view: View) -> str:
    r"""A view as LaTeX: a ``table`` with ``booktabs`` rules for each table, its first
    line the caption; needs ``\usepackage{booktabs}``."""
    blocks: list[str] = []
    labels: set[str] = set()
    for part in _parts(view):
        if isinstance(part, tuple):
            blocks.append(_latex(_sentences(part)))
            continue
        label = _label(part, labels)
        labels.add(label)
        blocks.append(_latex_table(part, label))
    return "\n\n".join(blocks) + "\n"


#: What a label of LaTeX is not made of, and how long it is.
_NO_LABEL = re.compile(r"[^a-z0-9]+")
_LABEL_LENGTH = 40


def _label(table: MarkupTable, taken: Collection[str]) -> str:
    """A name for a table, by the first words above it; another one for each table."""
    words = ""
    if table.caption:
        words = table.caption[0].partition(" · ")[0].lower()
    name = _NO_LABEL.sub("-", words).strip("-")[:_LABEL_LENGTH] or "table"
    number, label = 1, f"tab:{name}"
    while label in taken:
        number += 1
        label = f"tab:{name}-{number}"
    return label


def _latex_table(table: MarkupTable, label: str) -> str:
    head = [r"\begin{table}", r"\centering"]
    if table.caption:
        head.append(rf"\caption{{{_latex(_sentences(table.caption[:1]))}}}")
    head.append(rf"\label{{{label}}}")
    shape = "".join(_SIDES[right] for right in table.to_right)
    rows = [" & ".join(map(_latex, row)) + r" \\" for row in table.rows]
    names = " & ".join(map(_latex, table.columns)) + r" \\"
    body = [
        rf"\begin{{tabular}}{{{shape}}}",
        r"\toprule",
        names,
        r"\midrule",
        *rows,
        r"\bottomrule",
        r"\end{tabular}",
    ]
    lines = [*head, *body]
    below = (*table.caption[1:], *table.below)
    if below:
        lines.append(rf"\par\smallskip\footnotesize {_latex(_sentences(below))}")
    lines.append(r"\end{table}")
    return "\n".join(lines)


def _parts(view: View) -> Iterator[tuple[str, ...] | MarkupTable]:
    """Tables with what belongs to them: sentences before are the caption, lines after
    them, up to a gap, the notes."""
    before: list[str] = []
    table: Table | None = None
    below: list[str | TableNote] = []
    shown: set[str] = set()
    for part in (*view.parts, ""):
        if isinstance(part, Table):
            shown |= _shown(part)
            if table is not None:
                yield _texts(table, before, below)
                before, below = [], []
            table = part
        elif part == "" and table is not None and below:
            yield _texts(table, before, below)
            before, table, below = [], None, []
        elif part and table is not None:
            below.append(part)
        elif isinstance(part, TableNote):
            # behind the gap below the table that has its column
            before += _line_of(part, shown)
        elif part:
            before.append(part)
    if table is not None:
        yield _texts(table, before, below)
    elif before:
        yield tuple(before)


def _with_error(figure: str, error: str) -> str:
    if not error.strip("-"):
        return figure
    return f"{figure} ({error})"


def _line_of(note: TableNote, shown: set[str]) -> list[str]:
    if _belongs(note, shown):
        return [note.line]
    return []


def _cells(values: Iterable[Any]) -> list[str]:
    return [_cell(value) for value in values]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, StrongNumber):
        return StrongText(value.text)
    return cell(value)


def _texts(
    table: Table, before: Sequence[str], below: Sequence[str | TableNote]
) -> MarkupTable:
    kept = table.filled()
    names = [table.columns[index] for index in kept]
    columns = [table.values(index) for index in kept]
    to_right = [is_number(values) for values in columns]
    texts = [_cells(values) for values in columns]
    error = 0
    if ERROR in names:
        error = names.index(ERROR)
    if error and to_right[error - 1]:
        pairs = zip(texts[error - 1], texts[error], strict=True)
        texts[error - 1] = [_with_error(figure, se) for figure, se in pairs]
        names[error - 1] += f" ({ERROR})"
        for part in (names, to_right, texts):
            del part[error]
    own = _shown(table)
    notes: list[str] = []
    for note in below:
        if not _belongs(note, own):
            continue
        line = note.line if isinstance(note, TableNote) else note
        notes.append(MARKED_BOLD if line == MARKED else line)
    caption = [*before]
    rows: tuple[tuple[str, ...], ...] = ()
    if table.rows:
        rows = tuple(zip(*texts, strict=True))
    else:
        caption.append(table.empty)
    return MarkupTable(
        tuple(caption), tuple(names), tuple(to_right), rows, tuple(notes)
    )


def _shown(table: Table) -> set[str]:
    """Columns that say something."""
    return {table.columns[index] for index in table.filled()}


def _sentences(lines: Iterable[str]) -> str:
    """Lines as one text, with a stop between them."""
    ended: list[str] = []
    for line in lines:
        if not line.endswith((".", ":", "?", "!")):
            line = f"{line}."
        ended.append(line)
    return " ".join(ended)


def _belongs(note: str | TableNote, shown: set[str]) -> bool:
    return not isinstance(note, TableNote) or not note.column or note.column in shown


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _broken(lines: Iterable[str]) -> str:
    """A paragraph that breaks after each line."""
    return "  \n".join(map(_markdown, lines))


def _markdown(text: str) -> str:
    if isinstance(text, StrongText):
        return f"**{_markdown(str(text))}**"
    return _MARKDOWN.sub(r"\\\1", visible(text)).replace("\n", " ")


def _latex(text: str) -> str:
    if isinstance(text, StrongText):
        return rf"\textbf{{{_latex(str(text))}}}"
    escaped = "".join(_LATEX.get(sign, sign) for sign in visible(text))
    return escaped.replace("\n", " ")
