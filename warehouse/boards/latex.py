"""Tables of LaTeX, as the sources of papers have them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from warehouse.boards.grid import Cell, table_of_rows
from warehouse.boards.table import MOST_ROWS, RawTable

_MOST_TABLES = 200
_BEGIN = re.compile(r"\\begin\{(tabular[xy*]?|longtable|tblr|array)\}")
_COMMENT = re.compile(r"(?<!\\)%.*")
_CAPTION = re.compile(r"\\caption(?:\[[^\]]*\])?\{([^{}]{1,200})")
_ROW = re.compile(r"\\\\(?:\s*\[[^\]]*\])?|\\tabularnewline")
_CELL = re.compile(r"(?<!\\)&")
#: A line that ends the headers, where one does.
_RULE = re.compile(r"\\(?:midrule|hline|Xhline\{[^}]*\}|specialrule(?:\{[^}]*\}){3})")
#: What draws lines, leaves room or colours, and says nothing.
_DRAWN = re.compile(
    r"\\(?:toprule|bottomrule|midrule|hline|addlinespace|endhead|endfirsthead|endfoot|"
    r"endlastfoot|centering|small|footnotesize|scriptsize|tiny|bfseries|itshape|rm|bf)"
    r"(?![a-zA-Z])(?:\[[^\]]*\])?"
    r"|\\(?:cmidrule|cline|rowcolor|cellcolor|color|Xhline|hspace\*?|vspace\*?|label|"
    r"cite[a-z]*|footnote|ref)(?:\([^)]*\))?(?:\[[^\]]*\])*\{[^{}]*\}"
)
_MULTICOLUMN = re.compile(r"\\multicolumn\s*\{\s*(\d{1,3})\s*\}\s*\{[^{}]*\}")
_MULTIROW = re.compile(
    r"\\multirow\s*(?:\[[^\]]*\])?\s*\{\s*(\d{1,3})\s*\}\s*(?:\[[^\]]*\])?\s*\{[^{}]*\}"
)
_UNWRAPPED = re.compile(r"\\[a-zA-Z]+\*?\s*\{([^{}]*)\}")
_SIGNS = {
    "\\pm": "±",
    "\\times": "x",
    "\\%": "%",
    "\\&": "&",
    "\\_": "_",
    "\\#": "#",
    "\\,": " ",
    "~": " ",
    "--": "–",
}
#: Steps in which commands within one another are unwrapped.
_DEEP = 8


def latex_tables(text: str, name: str) -> Iterator[RawTable]:
    """The tables of a source, each called by its file, its caption or its number.

    Args:
        name: of the file.
    """
    plain = _COMMENT.sub("", text)
    place = 0
    for number in range(1, _MOST_TABLES + 1):
        begun = _BEGIN.search(plain, place)
        if begun is None:
            return
        end = plain.find(f"\\end{{{begun[1]}}}", begun.end())
        if end < 0:
            return
        caption = _caption_of(plain, begun.start(), end)
        head, body = _parted(_without_columns(plain[begun.end() : end], begun[1]))
        if head and body:
            yield table_of_rows(f"{name}: {caption or f'table {number}'}", head, body)
        place = end


def _caption_of(text: str, begin: int, end: int) -> str:
    """The caption of the float around a table: above it or below; empty without one."""
    start = text.rfind("\\begin{table", 0, begin)
    stop = text.find("\\end{table", end)
    if start < 0 or stop < 0 or "\\end{table" in text[start:begin]:
        return ""
    found = _CAPTION.search(text, start, stop)
    return " ".join(_plain(found[1]).split()) if found else ""


def _without_columns(text: str, environment: str) -> str:
    """The rows of a table without what says how its columns are set: ``{lrr}``, and the
    width before it."""
    n_groups = 2 if environment in ("tabularx", "tabular*", "tabulary") else 1
    rest = re.sub(r"^\s*\[[^\]]*\]", "", text)
    for _ in range(n_groups):
        rest = rest.lstrip()
        if not rest.startswith("{"):
            break
        rest = rest[_closing(rest) + 1 :]
    return rest


def _closing(text: str) -> int:
    """Where the group closes that opens a text."""
    depth = 0
    for place, sign in enumerate(text):
        if sign == "{":
            depth += 1
        elif sign == "}":
            depth -= 1
            if depth == 0:
                return place
    return len(text)


def _parted(text: str) -> tuple[list[list[Cell]], list[list[Cell]]]:
    """Rows of headers, down to the first rule below one, and the others."""
    rows: list[list[Cell]] = []
    n_heads = 0
    from_above: dict[int, tuple[str, int]] = {}
    for line in _ROW.split(text)[: MOST_ROWS + 10]:
        if rows and not n_heads and _RULE.search(line):
            n_heads = len(rows)
        cells = [_cell(part) for part in _CELL.split(_DRAWN.sub(" ", line))]
        if any(cell.text for cell in cells):
            rows.append(_filled(cells, from_above))
    n_heads = n_heads or 1
    return rows[:n_heads], rows[n_heads:]


def _filled(cells: list[Cell], from_above: dict[int, tuple[str, int]]) -> list[Cell]:
    """A row in which empty cells have the text that reaches down to them: LaTeX writes
    them.

    Args:
        from_above: by place the text of a cell above and to how many rows it still
            reaches; is brought up to this row.
    """
    found = []
    place = 0
    for cell in cells:
        text, n_left = from_above.pop(place, ("", 0))
        if n_left and not cell.text:
            cell = Cell(text, cell.n_columns)
            from_above[place] = (text, n_left - 1)
        elif cell.n_rows > 1:
            from_above[place] = (cell.text, cell.n_rows - 1)
        found.append(Cell(cell.text, cell.n_columns))
        place += cell.n_columns
    return found


def _cell(text: str) -> Cell:
    n_columns = n_rows = 1
    found = _MULTICOLUMN.search(text)
    if found:
        n_columns = max(int(found[1]), 1)
        text = _MULTICOLUMN.sub("", text)
    found = _MULTIROW.search(text)
    if found:
        n_rows = max(int(found[1]), 1)
        text = _MULTIROW.sub("", text)
    return Cell(" ".join(_plain(text).split()), n_columns, n_rows)


def _plain(text: str) -> str:
    """A text without commands: ``\\textbf{71.4}$_{\\pm .3}$`` is ``71.4 ±.3``."""
    for sign, plain in _SIGNS.items():
        text = text.replace(sign, plain)
    for _ in range(_DEEP):
        unwrapped = _UNWRAPPED.sub(r"\1", text)
        if unwrapped == text:
            break
        text = unwrapped
    text = text.replace("$", "").replace("_{", " {").replace("^{", " {")
    text = re.sub(r"\\[a-zA-Z]+", " ", text)
    return re.sub(r"[{}]", "", text)
