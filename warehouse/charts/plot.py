"""Single results as charts of Vega-Lite for notebooks: what they say is drawn of them,
else their intervals."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from warehouse.charts.chart import CONFIG, Chart, Spec
from warehouse.charts.intervals import estimates_chart, picture_of
from warehouse.charts.picture import Picture
from warehouse.errors import MisuseError
from warehouse.files import SVG_MARK

#: What stands for the colours of the page, on a light and on a dark background alike.
_COLOURS = {
    "fg": "#808080",
    "dim": "#808080",
    "line": "#80808080",
    "faint": "#b0b0b0",
    "bg": "#00000000",
}
_SERIES = {
    "mark": "#4c78a8",
    "c1": "#f58518",
    "c2": "#54a24b",
    "c3": "#b279a2",
    "c4": "#e45756",
    "c5": "#72b7b2",
}
#: Shades of a heat map, from one end to the other, and of an area that is marked.
_WARM, _COOL, _ALPHAS = "#f58518", "#4c78a8", ("e6", "b8", "8a", "5c", "2e")
_SHADES = {f"q{i}": _WARM + alpha for i, alpha in enumerate(_ALPHAS)}
_SHADES |= {f"q{5 + i}": _COOL + alpha for i, alpha in enumerate(reversed(_ALPHAS))}
_AREAS = {"fill": "#4c78a8c0", "bad": "#e45756", "region": "#e4575630"}
#: Figures below each other share no colours and sizes.
_APART = dict.fromkeys(("color", "fill", "size", "strokeDash"), "independent")
#: What the style sheet of the page says.
_LOOK = 'fill="none" font-family="Arial, sans-serif" font-size="11"'
_VARIABLE = re.compile(r"var\(--([\w-]+)\)")
#: Of charts in a notebook, on a light and on a dark page.
_CONFIG: Spec = {
    "axis": {
        "labelColor": _COLOURS["fg"],
        "titleColor": _COLOURS["fg"],
        "gridColor": _COLOURS["line"],
    },
    "title": {"color": _COLOURS["fg"], "anchor": "start"},
}
_SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"


class VegaLite:
    """A chart that a notebook shows, without a network: as a drawing, and as a
    specification.

    Attributes:
        spec: of Vega-Lite; values that JSON can hold.
    """

    def __init__(self, spec: Spec, pictures: Sequence[Picture] = ()) -> None:
        self.spec = spec
        self._drawn = Drawn(pictures)

    def to_dict(self) -> Spec:
        """The specification."""
        return self.spec

    def to_json(self) -> str:
        """The specification as JSON."""
        return json.dumps(self.spec)

    def to_svg(self) -> str:
        """The drawing, as a file or in a page."""
        return self._drawn.to_svg()

    _repr_svg_ = to_svg

    def _repr_mimebundle_(self, **_options: Any) -> Mapping[str, Any]:
        return {
            "application/vnd.vegalite.v5+json": self.spec,
            "image/svg+xml": self.to_svg(),
        }


def plot(result: Any) -> Any:
    """A result as a chart; an Altair chart where Altair is installed (MisuseError:
    nothing of it can be drawn)."""
    figures = _figures_of(result)
    charts = [figure for figure in figures if isinstance(figure, Chart)]
    # pictures have no specification, and stand below charts as a drawing only
    if len(charts) < len(figures):
        return Drawn([picture_of(figure) for figure in figures])
    spec = _stacked_spec(charts)
    try:
        import altair
    except ImportError:
        return VegaLite(spec, [*map(picture_of, charts)])
    if "vconcat" in spec:
        kind = altair.VConcatChart
    else:
        kind = altair.LayerChart
    return kind.from_dict(spec)


def _figures_of(result: Any) -> list[Chart | Picture]:
    """Charts and pictures that a result has of its own, else its estimates with their
    intervals (MisuseError: none)."""
    own = [figure for figure in result.charts() if figure is not None]
    if own:
        return own
    estimates = estimates_chart(result)
    if estimates is None:
        name = type(result).__name__
        raise MisuseError(
            f"{name} has no chart, and the report draws none of it; to_frame() has the "
            "rows"
        )
    return [estimates]


class Drawn:
    """Pictures below each other that a notebook shows."""

    def __init__(self, pictures: Sequence[Picture]) -> None:
        self.pictures = pictures

    def to_svg(self) -> str:
        """As a file or in a page."""
        height = 0
        parts = list[str]()
        for picture in self.pictures:
            title = (
                f'<text x="0" y="{height + 12}" '
                f'fill="{_COLOURS["fg"]}">{escape(picture.title)}</text>'
            )
            parts += [
                title,
                f'<g transform="translate(0,{height + 16})">{picture.body}</g>',
            ]
            height += picture.height + 24
        colours = _COLOURS | _SERIES | _SHADES | _AREAS
        body = _VARIABLE.sub(
            lambda name: colours.get(name.group(1), "#808080"), "".join(parts)
        )
        width = max(picture.width for picture in self.pictures)
        size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} '
            f"{_LOOK}>{SVG_MARK}{body}</svg>"
        )

    def _repr_svg_(self) -> str:
        return self.to_svg()


def in_svg(charts: Sequence[Chart | Picture | None]) -> str | None:
    """Figures below each other as a file of SVG; None where there is none."""
    pictures = [picture_of(figure) for figure in charts if figure is not None]
    if pictures:
        return Drawn(pictures).to_svg()
    return None


def _stacked_spec(charts: Sequence[Chart]) -> Spec:
    """The figures below each other, with colours of their own."""
    specs: list[Spec] = [
        {**_coloured(chart.spec), "title": chart.title} for chart in charts
    ]
    around: Spec = {"$schema": _SCHEMA, "config": CONFIG | _CONFIG}
    if len(specs) == 1:
        return around | specs[0]
    return around | {"vconcat": specs, "resolve": {"scale": _APART}}


def _coloured(spec: Spec) -> Spec:
    """The variables of the page's style sheet as colours."""
    colours = _COLOURS | _SERIES | _SHADES | _AREAS
    text = _VARIABLE.sub(
        lambda name: colours.get(name.group(1), "#808080"), json.dumps(spec)
    )
    made: Spec = json.loads(text)
    return made
