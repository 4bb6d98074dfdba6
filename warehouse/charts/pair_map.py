"""Maps of pairs: which models differ from which, and by how much."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from warehouse.charts.courses import box
from warehouse.charts.picture import Picture, Sheet, fitting
from warehouse.tables.words import fixed

#: Pixels of a cell of a map.
_CELL = 15
#: Pixels before the first cell, where the names stand.
_EDGE = 176
#: Shades from the lowest difference to the highest.
_SHADES = 10
#: Pixels of a shade of the legend.
_LEGEND = 14
#: Figures by row and column.
Square = Sequence[Sequence[float]]
_UPRIGHT = Markup(' transform="translate({} {})rotate(-90)"')


def pair_map(
    title: str,
    names: Sequence[str],
    differences: Square,
    tested: Square,
    *,
    n_decimals: int,
    note: str,
) -> Picture | None:
    """Row minus column where a test finds a difference; empty where it does not; names
    on both axes. None where it finds none.

    Args:
        title: what it is called.
        names: of rows and columns.
        differences: row minus column; NaN where there is none.
        tested: 1 where a test finds a difference.
        n_decimals: of the differences.
        note: what the picture rests on.
    """
    largest = _largest(differences)
    shades = _shades(differences, tested, largest)
    if not shades:
        return None
    floor = _EDGE + len(names) * _CELL
    sheet = Sheet()
    for shade, cells in sorted(shades.items()):
        courses = "".join(cells)
        sheet.area(courses, f"q{shade}")
    _draw_names(sheet, names)
    _draw_legend(sheet, floor, largest, n_decimals)
    table: list[tuple[str, ...]] = []
    for name, values, tests in zip(names, differences, tested, strict=True):
        table.append((name, *_starred(values, tests, n_decimals)))
    return Picture(
        title=title,
        say=f"{title}: {_in_words(len(names), shades)}",
        note=note,
        width=max(floor + 2, _EDGE + 200),
        height=floor + 26,
        body=sheet.body,
        head=("row minus column", *names),
        rows=tuple(table),
    )


def _largest(differences: Square) -> float:
    """Size of the largest difference; 1 where there is none."""
    sizes: list[float] = []
    for values in differences:
        sizes += [abs(value) for value in values if value == value]
    return max(sizes, default=0.0) or 1.0


def _shades(
    differences: Square,
    tested: Square,
    largest: float,
) -> dict[int, list[str]]:
    """Courses of the cells that have a difference, by their shade."""
    shades: dict[int, list[str]] = {}
    for row, column in _found(differences, tested):
        share = differences[row][column] / largest
        step = int((share + 1) * 5)
        shade = min(step, _SHADES - 1)
        cells = shades.setdefault(shade, [])
        cells.append(_cell(row, column))
    return shades


def _found(differences: Square, tested: Square) -> Iterator[tuple[int, int]]:
    """Rows and columns of the differences that a test finds."""
    for row, (values, tests) in enumerate(zip(differences, tested, strict=True)):
        for column, (value, test) in enumerate(zip(values, tests, strict=True)):
            if value == value and test == 1:
                yield row, column


def _cell(row: int, column: int) -> str:
    """The course around a cell."""
    x = _EDGE + column * _CELL
    y = _EDGE + row * _CELL
    side = _CELL - 1
    return box(x, y, side, side)


def _draw_names(sheet: Sheet, names: Sequence[str]) -> None:
    """The names before their rows, and upright above their columns."""
    end = _EDGE - 6
    for at, name in enumerate(fitting(names, 150)):
        top = _EDGE + at * _CELL
        middle = top + _CELL / 2 + 3
        upright = _UPRIGHT.format(middle + 1, end)
        sheet.text(end, middle, name, anchor="end")
        sheet.text(0, 0, name, more=upright)


def _draw_legend(sheet: Sheet, floor: int, largest: float, n_decimals: int) -> None:
    """All shades below the map, between the lowest difference and the highest."""
    top = floor + 10
    middle = floor + 19
    for shade in range(_SHADES):
        x = _EDGE + _LEGEND * shade
        sample = box(x, top, _LEGEND, 10)
        sheet.area(sample, f"q{shade}")
    lowest = fixed(-largest, n_decimals)
    highest = fixed(largest, n_decimals, sign=True)
    from_lowest = f"row minus column {lowest}"
    sheet.text(_EDGE - 6, middle, from_lowest, "dim", "end")
    sheet.text(_EDGE + 146, middle, highest, "dim")


def _in_words(n_names: int, shades: dict[int, list[str]]) -> str:
    n_pairs = n_names * (n_names - 1) // 2
    n_differ = sum(map(len, shades.values())) // 2  # each pair has two cells
    return (
        f"heat map of {n_names} by {n_names} models in order of rank; "
        f"{n_differ} of {n_pairs} pairs differ"
    )


def _starred(
    differences: Sequence[float], tested: Sequence[float], n_decimals: int
) -> list[str]:
    """Differences as text, with a star where a test finds one; empty where there is
    none."""
    cells: list[str] = []
    for value, test in zip(differences, tested, strict=True):
        if value != value:
            cells.append("")
            continue
        words = fixed(value, n_decimals, sign=True)
        if test == 1:
            words += "*"
        cells.append(words)
    return cells
