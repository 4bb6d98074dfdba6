"""Drawings of the report: what stands in the SVG is what the figures say, and text stays text."""

from __future__ import annotations

import math
import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.html import EVIL
from warehouse.report.charts import PLOT, SERIES, Chart, Spec, axis, bars, chart, distinct, lines, shorten, span
from warehouse.report.draw import draw, slim
from warehouse.report.maps import excerpt
from warehouse.report.matrix_charts import heat_map
from warehouse.report.plot_results import in_svg

WIDTH, HEIGHT = PLOT


def drawn(found: Chart | None) -> ElementTree.Element:
    """The elements of a chart, read by a program that is strict about XML."""
    assert found is not None
    return ElementTree.fromstring(f"<svg>{draw(found.spec).body}</svg>")


def one_chart(layers: list[Spec], legend: int = 0, **ends: tuple[float, float]) -> Chart | None:
    across, up = (axis(name, ends[name], nice=False) for name in "xy")
    return chart("title", "what is seen", across, up, layers, legend=legend)


def words(svg: ElementTree.Element) -> list[str]:
    return [node.text or "" for node in svg.iter("text")]


def paths(svg: ElementTree.Element, **look: str) -> list[str]:
    """Courses of the paths that look so, their own or by their group."""
    found: list[str] = []

    def walk(node: ElementTree.Element, above: dict[str, str]) -> None:
        said = above | node.attrib
        if (
            node.tag == "path"
            and look.items() <= {name.replace("-", "_"): value for name, value in said.items()}.items()
        ):
            found.append(node.attrib["d"])
        for child in node:
            walk(child, said)

    walk(svg, {})
    return found


def places(course: str) -> list[list[tuple[float, float]]]:
    """Points of a path of straight lines: one list for each time the pen is lifted."""
    found: list[list[tuple[float, float]]] = []
    for letter, text in re.findall(r"([A-Za-z])([^A-Za-z]*)", course):
        numbers = [float(one) for one in re.findall(r"-?(?:\d+\.?\d*|\.\d+)", text)]
        pairs = list(zip(numbers[::2], numbers[1::2], strict=True)) if letter in "Ml" else []
        for x, y in pairs:
            if letter == "M":
                found.append([(x, y)])
            else:
                last = found[-1][-1]
                found[-1].append((last[0] + x, last[1] + y))
    return found


def test_bars_stand_on_the_floor_and_have_the_heights() -> None:
    bins = [(0.0, 1.0, 0.0, 5.0, "a"), (1.0, 2.0, 0.0, 0.0, "a"), (2.0, 5.0, 1.0, 2.0, "a")]
    svg = drawn(one_chart([bars(bins, {"a": "red"}, with_legend=False)], x=(0, 5), y=(0, 5)))
    (course,) = paths(svg, fill="red")
    boxes = re.findall(r"M([\d.]+),([\d.]+)h([\d.]+)v([\d.]+)h-\3Z", course)
    assert [[float(number) for number in one] for one in boxes] == [
        [0, 0, WIDTH / 5, HEIGHT],
        [2 * WIDTH / 5, 3 * HEIGHT / 5, 3 * WIDTH / 5, HEIGHT / 5],
    ]


def test_lines_break_where_a_figure_is_missing() -> None:
    points = [(0.0, 0.5), (1.0, 0.5), (2.0, None), (3.0, math.nan), (5.0, 1.0)]
    layers, legend = lines([("a", points), ("none", [(0.0, None)])], dots=True)
    assert legend == 1
    svg = drawn(one_chart(layers, legend, x=(0, 5), y=(0, 1)))
    course, dots = paths(svg, stroke=SERIES[0][0])[:2]
    assert places(course) == [[(0, HEIGHT / 2), (WIDTH / 5, HEIGHT / 2)], [(WIDTH, 0)]]
    assert places(dots) == [[(0, HEIGHT / 2)], [(WIDTH / 5, HEIGHT / 2)], [(WIDTH, 0)]]
    assert words(svg)[-1] == "a"


def test_series_differ_in_colour_and_dashes_and_others_are_faint() -> None:
    points = [(0.0, 0.0), (1.0, 1.0)]
    layers, legend = lines([(f"m{n}", points) for n in range(6)], faint=[points] * 3)
    assert legend == 7
    svg = drawn(one_chart(layers, legend, x=(0, 1), y=(0, 1)))
    assert words(svg)[-7:] == ["m0", "m1", "m2", "m3", "m4", "m5", "3 others"]
    (faint, _) = paths(svg, stroke="var(--faint)")
    assert places(faint) == [[(0, HEIGHT), (WIDTH, 0)]] * 3
    for colour, dashes in SERIES:
        dashed = "" if dashes == [1, 0] else ",".join(map(str, dashes))
        look = {"stroke_dasharray": dashed} if dashed else {}
        assert len(paths(svg, stroke=colour, **look)) == 2  # the curve, and its legend
    assert len({str(look) for look in SERIES}) == len({colour for colour, _ in SERIES}) == 6


def test_axes_hold_the_figures_and_have_round_numbers() -> None:
    for low, high, numbers in (
        (0.0, 1.0, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        (0.12, 0.31, ["0.15", "0.20", "0.25", "0.30"]),
        (0.0, 40000.0, ["0", "10k", "20k", "30k", "40k"]),
        (1e6, 1e6 + 4, ["1M", "1.000001M", "1.000002M", "1.000003M", "1.000004M"]),
    ):
        up = axis("words", (low, high))
        found = chart("t", "s", axis("x", (0, 1)), up, [bars([], {}, with_legend=False)])
        told = words(drawn(found))[7:]
        assert told == [*numbers, "words"]


def test_long_axes_are_logarithmic_and_hold_zero() -> None:
    long = axis("step", (0.0, 143000.0), log=True)
    assert long is not None and long["axis"]["title"] == "step, logarithmic"
    layers, _ = lines([("a", [(0.0, 0.0), (9.0, 0.5), (143000.0, 1.0)])])
    svg = drawn(chart("t", "s", long, axis("y", (0, 1)), layers))
    assert words(svg)[:7] == ["0", "1", "10", "100", "1k", "10k", "100k"]
    (line, *_) = paths(svg, stroke=SERIES[0][0])
    expected = WIDTH * math.log(10) / math.log(143001)
    assert places(line)[0] == [(0, HEIGHT), (pytest.approx(expected, abs=0.06), HEIGHT / 2), (WIDTH, 0)]
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
def test_odd_figures_are_drawn_or_left_out(values: list[float | None], log: bool) -> None:
    finite = [one for one in values if one is not None and math.isfinite(one)]
    ends = span(values)
    if ends is None:
        assert not finite or max(finite) - min(finite) == math.inf
    else:
        assert ends[0] < ends[1] and all(ends[0] <= one <= ends[1] for one in finite)
    points = [(float(n), value) for n, value in enumerate(values)]
    layers, legend = lines([("a", points)], dots=True, faint=[points])
    up = axis("y", ends, log=log)
    found = chart("t", "s", axis("x", (0.0, 3.0)), up, layers, legend=legend)
    assert (found is None) == (ends is None)
    if found:
        body = draw(found.spec).body
        assert "NaN" not in body and "Infinity" not in body and "undefined" not in body


def test_heat_maps_paint_every_cell_once() -> None:
    found = heat_map([[None, 1.0, 0.95], [0.0, None, 0.5], [0.05, 0.5, None]], title="t", say="s")
    svg = drawn(found)
    cells: dict[str, set[tuple[float, ...]]] = {}
    for shade in range(10):
        course = "".join(paths(svg, fill=f"var(--q{shade})")[:-1])  # the last is in the legend
        boxes = re.findall(r"M([\d.]+),([\d.]+)h([\d.]+)v28h", course)
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
    drawing = draw(found.spec)
    assert max(drawing.width, drawing.height) <= 560 and len(drawing.body) < 6000
    told = [int(word) for word in words(drawn(found)) if word.isdigit()]
    assert told[: len(told) // 2] == [5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70]
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
        layers, legend = lines([(name, points) for name in names], faint=[points])
        up = axis(names[0], (0.0, 1.0))
        svg = drawn(chart("t", "s", axis("x", (0.0, 1.0)), up, layers, legend=legend))
        assert {node.tag for node in svg.iter()} == {"svg", "g", "path", "text"}
        allowed = {
            "d",
            "fill",
            "stroke",
            "transform",
            "x",
            "y",
            "text-anchor",
            "stroke-width",
            "stroke-dasharray",
            "stroke-linejoin",
        }
        assert {name for node in svg.iter() for name in node.attrib} <= allowed
        told = words(svg)[-7:] if "" not in names else words(svg)[-6:]
        expected = [one for one in distinct([*names, "1 other"], int(0.14 * WIDTH)) if one]
        for said, name in zip(told, expected, strict=True):
            assert said == name or said.endswith("…")  # wide letters are cut once more
        assert all(len(one) <= 43 and one.isprintable() for one in words(svg))


def test_long_names_stay_apart() -> None:
    assert shorten("x" * 300 + ", seed=1", 39).endswith("xxx, seed=1")
    assert shorten(" a\n\tb\u202e ", 39) == "a b"
    alike = distinct(["x" * 300, "x" * 301, "x" * 302, "y"], 39)
    assert len(set(alike)) == 4 and alike[3] == "y" and alike[0] == shorten("x" * 300, 39)
    assert distinct(["a (2)", "a", "a"], 9) == ["a (2)", "a", "a (3)"]


@given(st.lists(st.tuples(*[st.integers(-20000, 20000)] * 2), min_size=2, max_size=60))
def test_shorter_paths_lead_to_the_same_places(points: list[tuple[int, int]]) -> None:
    exact = [(x / 37, y / 37) for x, y in points]
    course = "M" + "L".join(f"{x!r},{y!r}" for x, y in exact)
    found = slim(f'<svg width="9" height="9"><path stroke="red" d="{course}"/></svg>').body
    told = places(ElementTree.fromstring(found).attrib["d"])
    assert len(told) == 1
    for (x, y), (right, down) in zip(told[0], exact, strict=True):  # errors do not add up
        assert (x, y) == (pytest.approx(right, abs=0.0501), pytest.approx(down, abs=0.0501))


def test_what_does_not_show_is_left_out() -> None:
    svg = """<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10"><g fill="none"
        style="mix-blend-mode:multiply" aria-label="x" role="img" onclick="hurt()">
        <path class="background" d="M0,0h9v9h-9Z"/><path d="" fill="red"/><g><g/></g><text></text>
        <path d="M0,0h1e-7v1.96h2.0499Z" fill="red" opacity="1"/><path d="M5,5h1v1h1Z" fill="red"/>
        <path d="M1,1C2,2,3,3,4,4" stroke="red"/>
        <text transform="translate(1,2)" fill="red">a&lt;b</text>
        <text transform="translate(1,2) rotate(-90)" fill="red">c</text></g></svg>"""
    found = slim(svg)
    assert (found.width, found.height) == (20, 10)
    assert found.body == (
        '<path d="M0,0h0v2h2ZM5,5h1v1h1Z" fill="red"/><path d="M1,1C2,2,3,3,4,4" stroke="red"/>'
        '<text fill="red" x="1" y="2">a&lt;b</text>'
        '<text transform="translate(1,2) rotate(-90)" fill="red">c</text>'
    )


def test_the_same_figures_give_the_same_text() -> None:
    layers, legend = lines([("a", [(0.0, 0.1), (1.0, 0.7)])], dots=True)
    found = one_chart(layers, legend, x=(0, 1), y=(0, 1))
    assert found is not None and draw(found.spec) == draw(found.spec)


def test_long_texts_are_cut() -> None:
    assert excerpt(None) == "" and excerpt(" a\n b ") == "a b"
    assert len(excerpt("x" * 1000)) == 240 and excerpt("x" * 1000).endswith("…")


def test_a_file_has_room_for_long_names_in_wide_letters() -> None:
    name = "a benchmark of fifty-eight characters, all of them written"
    names: Spec = {"type": "nominal", "sort": [name], "axis": {"title": None, "labelLimit": 0}}
    bar: Spec = {"mark": "bar", "data": {"values": [{"x": 1, "y": name}]}, "encoding": {}}
    bar["encoding"] = {"x": {"field": "x", "type": "quantitative"}, "y": {"field": "y", "type": "nominal"}}
    text = in_svg([chart("title", "what is seen", axis("x", (0.0, 1.0)), names, [bar])])
    assert text is not None and name in text
    svg = ElementTree.fromstring(text)
    shifts = [
        float(one[1]) for node in svg.iter() if (one := re.match(r"translate\(([\d.]+)", node.get("transform", "")))
    ]
    ends = [float(node.get("x", "0")) for node in svg.iter() if node.text == name]
    assert max(shifts, default=0.0) + max(ends) >= 6.2 * len(name)  # letters of DejaVu Sans at 11 px


def test_a_chart_is_copied_as_the_places_of_its_marks_and_the_heights_of_its_bars() -> None:
    layers, _ = lines([("a", [(0.0, 1.0), (1.0, -0.0)]), ("b|", [(0.0, None)])])
    found = one_chart(layers, x=(0.0, 1.0), y=(0.0, 1.0))
    assert found is not None
    assert found.markdown.split("\n\n")[1].splitlines()[2:] == ["| 0 | 1 | a |", "| 1 | 0 | a |"]
    stacked = [bars([(0.0, 1.0, 0.25, 1.0, "top")], {"top": "var(--fill)"})]
    histogram = one_chart(stacked, x=(0.0, 1.0), y=(0.0, 1.0))
    assert histogram is not None and "| x | to | y | of |" in histogram.markdown
    assert "| 0 | 1 | 0.75 | top |" in histogram.markdown and histogram.markdown.endswith("what is seen")
