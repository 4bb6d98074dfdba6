"""Heat maps: squares of shares, rows and columns named alike."""

from __future__ import annotations

from collections.abc import Sequence

from warehouse.charts.chart import Chart, Spec, bars, chart, distinct, with_words

#: Shades of a heat map: the whole range of shares in so many equal steps.
SHADES = 10
#: Pixels of a heat map, the largest ones of its cells, and those of a cell with a name;
#: names and characters of each.
_SIDE, _LARGEST_CELL, _NAMED_CELL, _MOST_NAMES, _NAME = 420, 28, 13, 60, 34
#: Pixels of two numbers at its edges that fit them, and which numbers stand there.
_APART, _STRIDES = 18, (1, 2, 5, 10, 20, 50, 100, 200, 500, 10**9)


def heat_map(
    values: Sequence[Sequence[float | None]],
    *,
    title: str,
    say: str,
    words: Sequence[str] = (),
    names: Sequence[str] = (),
) -> Chart | None:
    """A square of shares in [0, 1], rows and columns named alike, or numbered where
    these are many; missing ones stay empty.

    Args:
        title: what it is called.
        say: what is seen, in words.
        words: of each shade in the legend; none for shares in percent.
        names: of the rows.
    """
    size = len(values)
    if not size:
        return None
    named = len(names) <= _MOST_NAMES and bool(names)
    cell = min(_LARGEST_CELL, max(_NAMED_CELL if named else 1, _SIDE // size))
    stride = next(step for step in _STRIDES if step * cell >= _APART)
    words = words or [
        f"{100 * shade // SHADES}–{100 * (shade + 1) // SHADES}%"
        for shade in range(SHADES)
    ]
    runs: list[tuple[int, float, float, float, float]] = []
    for row, shares in enumerate(values):
        for shade, first, last in _runs(shares):
            runs.append((shade, row + 0.5, row + 1.5, first + 0.5, last + 0.5))
    runs.sort()
    cells = [
        (left, right, top, bottom, words[shade])
        for shade, top, bottom, left, right in runs
    ]
    kinds = {label: f"var(--q{shade})" for shade, label in enumerate(words)}
    numbered: Spec = {
        "type": "quantitative",
        "scale": {"domain": [0.5, size + 0.5], "nice": False},
        "axis": {
            "values": list(range(stride, size + 1, stride)),
            "title": None,
            "grid": False,
            "domain": False,
            "ticks": False,
        },
    }
    if named:
        numbered = with_words(numbered, dict(enumerate(distinct(names, _NAME), 1)))
    across = {**numbered, "axis": {**numbered["axis"], "orient": "top"}}
    down = {**numbered, "scale": {**numbered["scale"], "reverse": True}}
    painted = bars(cells, kinds)
    painted["mark"] = {"type": "rect"}
    painted["encoding"]["fill"]["legend"] |= {"columns": 5}
    return chart(title, say, across, down, [painted], size=(cell * size, cell * size))


def _runs(shares: Sequence[float | None]) -> list[tuple[int, int, int]]:
    """Neighbours of one shade: the shade, the first, the one after the last."""
    runs: list[tuple[int, int, int]] = []
    for index, share in enumerate(shares):
        if share is None:
            continue
        shade = min(int(share * SHADES + 1e-9), SHADES - 1)
        if runs and runs[-1][0] == shade and runs[-1][2] == index:
            runs[-1] = (shade, runs[-1][1], index + 1)
        else:
            runs.append((shade, index, index + 1))
    return runs
