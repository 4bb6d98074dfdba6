"""Drawings of the report: what stands in the SVG is what the figures say, and text
stays text."""

from __future__ import annotations

import math
import re
from xml.etree import ElementTree

import pytest

from tests.support.html import EVIL
from warehouse.analysis.items.excerpts import excerpt
from warehouse.charts.chart import (
    PLOT,
    SERIES,
    Chart,
    Spec,
    axis,
    bars,
    chart,
    distinct,
    layer,
    lines,
    point,
    shorten,
    span,
    with_words,
)
from warehouse.charts.draw import draw
from warehouse.charts.heat_map import heat_map
from warehouse.charts.plot import in_svg

WIDTH, HEIGHT = PLOT


def drawn(found: Chart | None) -> ElementTree.Element:
    """The elements of a chart, read by a program that is strict about XML."""
    assert found is not None
    return ElementTree.fromstring(f"<svg>{draw(found).body}</svg>")


def one_chart(layers: list[Spec], **ends: tuple[float, float]) -> Chart | None:
    across, up = (axis(name, ends[name], nice=False) for name in "xy")
    return chart("title", "what is seen", across, up, layers)


def words(svg: ElementTree.Element) -> list[str]:
    return [node.text or "" for node in svg.iter("text")]


def paths(svg: ElementTree.Element, **look: str) -> list[str]:
    """Courses of the paths that look so, their own or by their group."""
    found: list[str] = []

    def walk(node: ElementTree.Element, above: dict[str, str]) -> None:
        said = above | node.attrib
        if (
            node.tag == "path"
            and look.items()
            <= {name.replace("-", "_"): value for name, value in said.items()}.items()
        ):
            found.append(node.attrib["d"])
        for child in node:
            walk(child, said)

    walk(svg, {})
    return found


def places(course: str) -> list[list[tuple[float, float]]]:
    """Points of a path of straight lines: one list for each time the pen is lifted."""
    return [
        [(float(x), float(y)) for x, y in re.findall(r"([\d.]+) ([\d.]+)", line)]
        for line in course.split("M")[1:]
    ]


def test_bars_stand_on_the_floor_and_have_the_heights() -> None:
    bins = [
        (0.0, 1.0, 0.0, 5.0, "a"),
        (1.0, 2.0, 0.0, 0.0, "a"),
        (2.0, 5.0, 1.0, 2.0, "a"),
    ]
    svg = drawn(
        one_chart([bars(bins, {"a": "red"}, with_legend=False)], x=(0, 5), y=(0, 5))
    )
    (course,) = paths(svg, fill="red")
    boxes = re.findall(r"M([\d.]+) ([\d.]+)h([\d.]+)v([\d.]+)h-\3z", course)
    assert [
        [float(number) for number in one] for one in boxes
    ] == [  # a pixel between two
        [0, 0, WIDTH / 5 - 1, HEIGHT],
        [2 * WIDTH / 5, 3 * HEIGHT / 5, 3 * WIDTH / 5 - 1, HEIGHT / 5],
    ]


def test_lines_break_where_a_figure_is_missing() -> None:
    points = [(0.0, 0.5), (1.0, 0.5), (2.0, None), (3.0, math.nan), (5.0, 1.0)]
    layers = lines([("a", points), ("none", [(0.0, None)])], dots=True)
    svg = drawn(one_chart(layers, x=(0, 5), y=(0, 1)))
    course, dots = paths(svg, stroke=SERIES[0][0])[:2]
    assert places(course) == [[(0, HEIGHT / 2), (WIDTH / 5, HEIGHT / 2)], [(WIDTH, 0)]]
    assert places(dots) == [[(0, HEIGHT / 2)], [(WIDTH / 5, HEIGHT / 2)], [(WIDTH, 0)]]
    assert words(svg)[-2:] == ["y", "a"]


def test_series_differ_in_colour_and_dashes_and_others_are_faint() -> None:
    points = [(0.0, 0.0), (1.0, 1.0)]
    layers = lines([(f"m{n}", points) for n in range(6)], faint=[points] * 3)
    svg = drawn(one_chart(layers, x=(0, 1), y=(0, 1)))
    assert words(svg)[-7:] == ["m0", "m1", "m2", "m3", "m4", "m5", "3 others"]
    (faint, _) = paths(svg, stroke="var(--faint)")
    assert places(faint) == [[(0, HEIGHT), (WIDTH, 0)]] * 3
    for colour, dashes in SERIES:
        dashed = "" if dashes == [1, 0] else ",".join(map(str, dashes))
        look = {"stroke_dasharray": dashed} if dashed else {}
        assert len(paths(svg, stroke=colour, **look)) == 2  # the curve, and its legend
    assert (
        len({str(look) for look in SERIES})
        == len({colour for colour, _ in SERIES})
        == 6
    )


def test_axes_hold_the_figures_and_have_round_numbers() -> None:
    for low, high, numbers in (
        (0.0, 1.0, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        (0.12, 0.31, ["0.10", "0.15", "0.20", "0.25", "0.30", "0.35"]),
        (0.0, 40000.0, ["0", "10k", "20k", "30k", "40k"]),
        (1e6, 1e6 + 4, ["1M", "1.000001M", "1.000002M", "1.000003M", "1.000004M"]),
    ):
        up = axis("words", (low, high))
        found = chart(
            "t", "s", axis("x", (0, 1)), up, [bars([], {}, with_legend=False)]
        )
        told = words(drawn(found))
        assert told == [
            *reversed(numbers),
            "0.0",
            "0.2",
            "0.4",
            "0.6",
            "0.8",
            "1.0",
            "x",
            "words",
        ]


def test_long_axes_are_logarithmic_and_hold_zero() -> None:
    long = axis("step", (0.0, 143000.0), log=True)
    assert long is not None and long["axis"]["title"] == "step, logarithmic"
    layers = lines([("a", [(0.0, 0.0), (9.0, 0.5), (143000.0, 1.0)])])
    svg = drawn(chart("t", "s", long, axis("y", (0, 1)), layers))
    assert words(svg)[6:13] == ["0", "1", "10", "100", "1k", "10k", "100k"]
    (line, *_) = paths(svg, stroke=SERIES[0][0])
    expected = WIDTH * math.log(10) / math.log(143001)
    assert places(line)[0] == [
        (0, HEIGHT),
        (pytest.approx(expected, abs=0.06), HEIGHT / 2),
        (WIDTH, 0),
    ]
    for short in ((0.0, 1.0), (-1.0, 1e6), (1e6, 2e6)):
        linear = axis("x", short, log=True)
        assert linear is not None and "type" not in linear["scale"]
    far = axis("x", (1.0, 1e12), log=True)
    assert far is not None and len(far["axis"]["values"]) <= 7


ODD = [
    [],
    [None],
    [math.nan, math.inf],
    [0.5],
    [0.0],
    [1e-300],
    [1e300, -1e-3],
    [3.0, 3.0],
    [-1.7e308, 1.7e308],
    [0.0, 1e308],
    [0.0, math.nan, 1.0],
    [-1e-12, 1e-12],
    [5e-324],
]


@pytest.mark.parametrize("values", ODD, ids=str)
@pytest.mark.parametrize("log", [False, True])
def test_odd_figures_are_drawn_or_left_out(
    values: list[float | None], log: bool
) -> None:
    finite = [one for one in values if one is not None and math.isfinite(one)]
    ends = span(values)
    if ends is None:
        assert not finite or max(finite) - min(finite) == math.inf
    else:
        assert ends[0] < ends[1] and all(ends[0] <= one <= ends[1] for one in finite)
    points = [(float(n), value) for n, value in enumerate(values)]
    layers = lines([("a", points)], dots=True, faint=[points])
    up = axis("y", ends, log=log)
    found = chart("t", "s", axis("x", (0.0, 3.0)), up, layers)
    assert (found is None) == (ends is None)
    if found:
        body = draw(found).body
        assert "nan" not in body and "inf" not in body


def test_heat_maps_paint_every_cell_once() -> None:
    found = heat_map(
        [[None, 1.0, 0.95], [0.0, None, 0.5], [0.05, 0.5, None]], title="t", say="s"
    )
    svg = drawn(found)
    cells: dict[str, set[tuple[float, ...]]] = {}
    for shade in range(10):
        course = "".join(
            paths(svg, fill=f"var(--q{shade})")[:-1]
        )  # the last is in the legend
        boxes = re.findall(r"M([\d.]+) ([\d.]+)h([\d.]+)v28.0h", course)
        cells[f"q{shade}"] = {tuple(map(float, one)) for one in boxes}
    assert cells == {f"q{shade}": set() for shade in range(10)} | {
        "q0": {(0, 28, 28), (0, 56, 28)},
        "q5": {(56, 28, 28), (28, 56, 28)},
        "q9": {(28, 0, 56)},
    }
    assert words(svg)[:3] == ["1", "2", "3"] == words(svg)[3:6]
    assert words(svg)[6:] == [f"{low}–{low + 10}%" for low in range(0, 100, 10)]


def test_large_heat_maps_stay_small() -> None:
    found = heat_map([[0.5] * 70] * 70, title="t", say="s")
    assert found is not None
    drawing = draw(found)
    assert max(drawing.width, drawing.height) <= 560 and len(drawing.body) < 7500
    told = [int(word) for word in words(drawn(found)) if word.isdigit()]
    assert told[: len(told) // 2] == [
        5,
        10,
        15,
        20,
        25,
        30,
        35,
        40,
        45,
        50,
        55,
        60,
        65,
        70,
    ]
    assert heat_map([], title="t", say="s") is None


HOSTILE = [
    EVIL,
    "</text></svg><script>window.hurt=1</script>",
    "a\u202eb\u2066c",
    "nul\x00bell\x07",
    "x" * 300,
    "x" * 299 + "y",
    "&lt;b&gt; &amp;",
    "模型" * 100,
    "",
    "[a].b\"'\\",
    "]]>",
    "1 other",
]


def test_names_of_dumps_stay_text() -> None:
    points = [(0.0, 0.0), (1.0, 1.0)]
    for first in range(0, len(HOSTILE), 6):
        names = HOSTILE[first : first + 6]
        layers = lines([(name, points) for name in names], faint=[points])
        up = axis(names[0], (0.0, 1.0))
        svg = drawn(chart("t", "s", axis("x", (0.0, 1.0)), up, layers))
        assert {node.tag for node in svg.iter()} == {"svg", "g", "path", "text"}
        allowed = {
            *(
                "d",
                "fill",
                "stroke",
                "transform",
                "x",
                "y",
                "text-anchor",
                "stroke-width",
                "stroke-dasharray",
            ),
            "stroke-linejoin",
        }
        assert {name for node in svg.iter() for name in node.attrib} <= allowed
        assert words(svg)[-7:] == distinct([*names, "1 other"], 46)
        assert all(len(one) <= 46 and one.isprintable() for one in words(svg))


def test_long_names_stay_apart() -> None:
    assert shorten("x" * 300 + ", seed=1", 39).endswith("xxx, seed=1")
    assert shorten(" a\n\tb\u202e ", 39) == "a b"
    alike = distinct(["x" * 300, "x" * 301, "x" * 302, "y"], 39)
    assert (
        len(set(alike)) == 4 and alike[3] == "y" and alike[0] == shorten("x" * 300, 39)
    )
    assert distinct(["a (2)", "a", "a"], 9) == ["a (2)", "a", "a (3)"]


def test_the_same_figures_give_the_same_text() -> None:
    layers = lines([("a", [(0.0, 0.1), (1.0, 0.7)])], dots=True)
    found = one_chart(layers, x=(0, 1), y=(0, 1))
    assert found is not None and draw(found) == draw(found)


def test_long_texts_are_cut() -> None:
    assert excerpt(None) == "" and excerpt(" a\n b ") == "a b"
    assert len(excerpt("x" * 1000)) == 240 and excerpt("x" * 1000).endswith("…")


def test_a_file_has_room_for_long_names_and_none_of_the_variables_of_the_page() -> None:
    name = "a benchmark of fifty-eight characters, all of them written"
    names = with_words(axis("", (0.5, 1.5), nice=False) or {}, {1: name})
    text = in_svg(
        [
            chart(
                "title",
                "what is seen",
                axis("x", (0.0, 1.0)),
                names,
                lines([("a", [(0.0, 1.0)])]),
            )
        ]
    )
    assert text is not None and name in text and "var(" not in text
    (group,) = (
        node
        for node in ElementTree.fromstring(text).iter()
        if "translate(3" in node.get("transform", "")
    )
    assert float(re.findall(r"[\d.]+", group.attrib["transform"])[0]) >= 6.2 * len(
        name
    )  # of DejaVu Sans at 11 px


def test_names_in_a_chart_do_not_stand_on_each_other() -> None:
    dots = [
        point(0.0, 0.50, k="one"),
        point(0.0, 0.51, k="other"),
        point(0.9, 0.5, k="beside"),
    ]
    text = layer(
        {"type": "text", "dx": 6, "fill": "red"},
        dots,
        text={"field": "k", "type": "nominal"},
    )
    svg = drawn(one_chart([text], x=(0.0, 1.0), y=(0.0, 1.0)))
    one, other, beside = (
        float(node.attrib["y"])
        for node in svg.iter("text")
        if node.get("fill") == "red"
    )
    assert abs(one - other) >= 10 and one == beside


def test_a_chart_is_copied_as_the_places_of_its_marks_and_the_heights_of_its_bars() -> (
    None
):
    layers = lines([("a", [(0.0, 1.0), (1.0, -0.0)]), ("b|", [(0.0, None)])])
    found = one_chart(layers, x=(0.0, 1.0), y=(0.0, 1.0))
    assert found is not None
    assert draw(found).markdown.split("\n\n")[1].splitlines()[2:] == [
        "| 0 | 1 | a |",
        "| 1 | 0 | a |",
    ]
    stacked = [bars([(0.0, 1.0, 0.25, 1.0, "top")], {"top": "var(--fill)"})]
    histogram = one_chart(stacked, x=(0.0, 1.0), y=(0.0, 1.0))
    assert histogram is not None and "| x | to | y | of |" in draw(histogram).markdown
    assert "| 0 | 1 | 0.75 | top |" in draw(histogram).markdown and draw(
        histogram
    ).markdown.endswith("what is seen")
