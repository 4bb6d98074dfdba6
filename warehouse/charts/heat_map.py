"""Heat maps: squares of shares, rows and columns named alike."""

from __future__ import annotations

from collections.abc import Sequence

from warehouse.charts.chart import Chart, Spec, bars, chart, distinct, with_words

#: Shades of a heat map: the whole range of shares in so many equal steps.
SHADES = 10
#: Pixels of a heat map.
_SIDE = 420
#: Pixels of the largest cell, and of one with a name at least.
_LARGEST_CELL, _NAMED_CELL = 28, 13
#: Names that stand at the edges; of more the rows are numbered.
_MOST_NAMES = 60
#: Characters of a name.
_NAME = 34
#: Pixels between two numbers at the edges.
_APART = 18
#: Every so many rows one is numbered.
_STRIDES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 10**9)


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
    is_named = 0 < len(names) <= _MOST_NAMES
    cell = _cell(size, is_named=is_named)
    words = words or _percentages()
    edge = _edge(size, cell)
    if is_named:
        short = distinct(names, _NAME)
        edge = with_words(edge, dict(enumerate(short, 1)))
    at_the_top = {**edge["axis"], "orient": "top"}
    downwards = {**edge["scale"], "reverse": True}
    return chart(
        title,
        say,
        {**edge, "axis": at_the_top},
        {**edge, "scale": downwards},
        [_painted(values, words)],
        size=(cell * size, cell * size),
    )


def _cell(size: int, *, is_named: bool) -> int:
    """Pixels of a cell."""
    least = 1
    if is_named:
        least = _NAMED_CELL
    even = _SIDE // size
    return min(_LARGEST_CELL, max(least, even))


def _percentages() -> list[str]:
    """Shares of each shade, in percent."""
    words: list[str] = []
    for shade in range(SHADES):
        low = 100 * shade // SHADES
        high = 100 * (shade + 1) // SHADES
        words.append(f"{low}–{high}%")
    return words


def _edge(size: int, cell: int) -> Spec:
    """An axis of numbered rows, as many of them as have room."""
    stride = next(step for step in _STRIDES if step * cell >= _APART)
    numbers = range(stride, size + 1, stride)
    return {
        "type": "quantitative",
        "scale": {"domain": [0.5, size + 0.5], "nice": False},
        "axis": {
            "values": list(numbers),
            "title": None,
            "grid": False,
            "domain": False,
            "ticks": False,
        },
    }


def _painted(values: Sequence[Sequence[float | None]], words: Sequence[str]) -> Spec:
    """The cells in their shades; neighbours of one shade in a row are one piece."""
    pieces: list[tuple[int, float, float, float, float]] = []
    for row, shares in enumerate(values):
        top = row + 0.5
        for shade, first, end in _runs(shares):
            left = first + 0.5
            right = end + 0.5
            pieces.append((shade, top, top + 1, left, right))
    cells: list[tuple[float, float, float, float, str]] = []
    for shade, top, bottom, left, right in sorted(pieces):
        cells.append((left, right, top, bottom, words[shade]))
    kinds: dict[str, str] = {}
    for shade, label in enumerate(words):
        kinds[label] = f"var(--q{shade})"
    layer = bars(cells, kinds)
    layer["mark"] = {"type": "rect"}
    legend = layer["encoding"]["fill"]["legend"]
    legend["columns"] = 5
    return layer


def _runs(shares: Sequence[float | None]) -> list[tuple[int, int, int]]:
    """Neighbours of one shade: the shade, the first, the one after the last."""
    runs: list[tuple[int, int, int]] = []
    for index, share in enumerate(shares):
        if share is None:
            continue
        shade = min(int(share * SHADES + 1e-9), SHADES - 1)
        first = index
        if runs:
            shade_before, first_before, end = runs[-1]
            if shade_before == shade and end == index:
                first = first_before
                runs.pop()
        runs.append((shade, first, index + 1))
    return runs
