"""Single results as charts of Vega-Lite: what the report draws of them, for notebooks."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from html import escape
from itertools import chain
from math import isfinite
from typing import Any

from warehouse.analysis.comparison.all_pairs import Pairs
from warehouse.analysis.comparison.frontier_rows import FrontierReport
from warehouse.analysis.items.datamap_report import DataMap
from warehouse.analysis.items.feature_report import FeatureReport, FeatureRow
from warehouse.analysis.judges.agreement_report import JudgeReport
from warehouse.analysis.leaderboard.curves import BenchmarkCurves, CurvePoint, ModelCurveRow
from warehouse.analysis.matrix.cluster_report import MatrixClusters
from warehouse.analysis.matrix.correlation_report import MatrixTest
from warehouse.analysis.matrix.explanation_report import MatrixExplanation
from warehouse.analysis.matrix.growth_report import MatrixGrowth
from warehouse.analysis.matrix.weights_report import MatrixWeights
from warehouse.analysis.preferences.prefer_report import PreferenceReport
from warehouse.analysis.reliability.reliability_report import ReliabilityReport
from warehouse.analysis.suites.horizon_report import HorizonReport
from warehouse.analysis.training.curves_report import CheckpointRow, CurvesReport
from warehouse.analysis.training.curves_report import CurveRow as TrainingRow
from warehouse.charts.chart import CONFIG, Chart, Spec
from warehouse.charts.draw import draw
from warehouse.charts.heat_map import heat_map
from warehouse.charts.pictures import Interval, Picture, Spot, by_cost, forest, scatter
from warehouse.errors import MisuseError
from warehouse.files import SVG_MARK
from warehouse.report import matrix_charts, reliability_charts, spread_charts
from warehouse.report.board import curve_charts
from warehouse.report.horizon_charts import horizon_charts
from warehouse.report.maps import map_charts
from warehouse.report.pairs import heat_maps
from warehouse.tables.words import decimals

#: What stands for the colours of the page, on a light and on a dark background alike.
_COLOURS = {"fg": "#808080", "dim": "#808080", "line": "#80808080", "faint": "#b0b0b0", "bg": "#00000000"}
_SERIES = {"mark": "#4c78a8", "c1": "#f58518", "c2": "#54a24b", "c3": "#b279a2", "c4": "#e45756", "c5": "#72b7b2"}
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
    "axis": {"labelColor": _COLOURS["fg"], "titleColor": _COLOURS["fg"], "gridColor": _COLOURS["line"]},
    "title": {"color": _COLOURS["fg"], "anchor": "start"},
}
_SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
#: Rows of a chart of intervals; more cannot be read.
MOST = 60
_ENDS = ("estimate", "low", "high")
_HEIGHT = 20


class VegaLite:
    """A chart that a notebook shows, without a network: as a drawing, and as a specification.

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
        return {"application/vnd.vegalite.v5+json": self.spec, "image/svg+xml": self.to_svg()}


def plot(result: Any) -> Any:
    """A result as a chart; an Altair chart where Altair is installed (MisuseError: nothing of it can be drawn)."""
    pictures = _PICTURES[type(result)](result) if type(result) in _PICTURES else []
    if pictures:
        return Drawn(pictures)
    charts = [drawn for drawn in charts_of(result) if drawn] or [drawn for drawn in (_intervals(result),) if drawn]
    if not charts:
        name = type(result).__name__
        raise MisuseError(f"{name} has no chart, and the report draws none of it; to_frame() has the rows")
    spec = _stacked_spec(charts)
    try:
        import altair
    except ImportError:
        return VegaLite(spec, [*map(_picture, charts)])
    kind = altair.VConcatChart if "vconcat" in spec else altair.LayerChart
    return kind.from_dict(spec)


def _feature_charts(report: FeatureReport) -> list[Chart | None]:
    """Per figure of prompts the change for a standard deviation of each number, and what each value differs by."""
    charts: list[Chart | None] = []
    for figure in dict.fromkeys(row.figure for row in report.rows):
        points = [_feature_point(row) for row in report.rows if row.figure == figure and row.estimate is not None]
        if points:
            say = f"{len(points)} features and values with their intervals"
            title = f"{figure}: {_title(report)}"
            charts.append(_forest(points[:MOST], title, say, "per SD, or difference", zero=True))
    return charts


def _strength_chart(report: PreferenceReport, scorer: str) -> Chart | None:
    """The strengths by one who judged, with their intervals."""
    rows = [row for row in report.rows if row.scorer == scorer][:MOST]
    points = [{"name": row.model} | {name: getattr(row, name) for name in _ENDS} for row in rows]
    if not points:
        return None
    say = f"Strengths of {len(points)} models with their intervals"
    return _forest(points, f"{report.benchmark} by {scorer}", say, "strength, log-odds", zero=True)


def strength_pictures(report: PreferenceReport) -> list[Picture]:
    """The strengths by each who judged."""
    charts = (_strength_chart(report, judge.scorer) for judge in report.judges)
    return [_picture(chart) for chart in charts if chart]


def _preference_charts(report: PreferenceReport) -> Iterator[Chart | None]:
    """Of each who judged the strengths, and the chance that a model beats another."""
    for judge in report.judges:
        title = f"{report.benchmark} by {judge.scorer}"
        yield _strength_chart(report, judge.scorer)
        if sum(row.scorer == judge.scorer for row in report.rows) > 2:
            chances = judge.chances[:MOST, :MOST].tolist()
            say = f"Heat map of {len(chances)} by {len(chances)} models, the strongest first: chance of winning"
            yield heat_map(chances, title=f"{title}: the row beats the column", say=say, names=judge.models[:MOST])


def _feature_point(row: FeatureRow) -> Spec:
    name = row.feature if row.level is None else f"{row.feature}: {row.level}"
    if row.kind == "slope":
        return {"name": name, "estimate": row.per_sd, "low": row.per_sd_low, "high": row.per_sd_high}
    return {"name": name, "estimate": row.estimate, "low": row.ci_low, "high": row.ci_high}


def drawings_of(result: Any) -> Sequence[Chart | Picture | None]:
    """What is drawn of it alone."""
    return _PICTURES[type(result)](result) if type(result) in _PICTURES else charts_of(result)


def charts_of(result: Any) -> list[Chart | None]:
    """What the report draws of it."""
    if type(result) in _DRAWN_WHOLE:
        return [*_DRAWN_WHOLE[type(result)](result)]
    match result:
        case MatrixClusters():
            return [matrix_charts.silhouette_chart(result)]
        case MatrixExplanation():
            return [matrix_charts.coefficient_chart(result)]
        case MatrixWeights():
            return [matrix_charts.outrank_chart(result, matrix_charts.by_rank(result))]
        case Pairs():
            return heat_maps(result)
        case DataMap():
            return [*chain.from_iterable(map_charts([result]))]
        case CurvesReport():
            return [chart for curves in _curves(result) for chart in curve_charts(curves)]
        case FeatureReport():
            return _feature_charts(result)
        case ReliabilityReport():
            return [*chain.from_iterable(suite_charts(result).values())]
        case _:
            return []


_DRAWN_WHOLE: dict[type, Callable[[Any], Iterable[Chart | None]]] = {
    BenchmarkCurves: curve_charts,
    HorizonReport: horizon_charts,
    MatrixTest: matrix_charts.similarity_charts,
    PreferenceReport: _preference_charts,
    MatrixGrowth: matrix_charts.growth_charts,
    **spread_charts.CHARTS,
}


def suite_charts(report: ReliabilityReport) -> dict[str, list[Chart | None]]:
    """The figures of a suite by the part of the answer that they show."""
    return {
        "ranks": [reliability_charts.rank_chart(report)],
        "sizes": reliability_charts.size_charts(report),
        "switches": [reliability_charts.switch_chart(report)],
        "seeds": reliability_charts.seed_charts(report),
        "agreement": [reliability_charts.agreement_chart(report)],
    }


class Drawn:
    """Pictures below each other that a notebook shows."""

    def __init__(self, pictures: Sequence[Picture]) -> None:
        self.pictures = pictures

    def to_svg(self) -> str:
        """As a file or in a page."""
        height, parts = 0, list[str]()
        for picture in self.pictures:
            title = f'<text x="0" y="{height + 12}" fill="{_COLOURS["fg"]}">{escape(picture.title)}</text>'
            parts += [title, f'<g transform="translate(0,{height + 16})">{picture.body}</g>']
            height += picture.height + 24
        colours = _COLOURS | _SERIES | _SHADES | _AREAS
        body = _VARIABLE.sub(lambda name: colours.get(name.group(1), "#808080"), "".join(parts))
        width = max(picture.width for picture in self.pictures)
        size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {_LOOK}>{SVG_MARK}{body}</svg>'

    def _repr_svg_(self) -> str:
        return self.to_svg()


def frontier_pictures(report: FrontierReport) -> list[Picture]:
    """Score against cost of each group of rows, with intervals both ways."""
    drawn = []
    for rows in report.groups():
        first = rows[0]
        spots = [
            Spot(row.label, row.mean_cost, f"{row.mean_cost:.4g}", row.estimate, False, *row.intervals) for row in rows
        ]
        drawn.append(
            by_cost(
                f"Score against cost on {first.benchmark}",
                spots,
                x=f"{report.unit} an answer",
                y=first.metric,
                n_decimals=decimals(row.standard_error for row in rows),
                note=f"{first.benchmark}, {first.metric} and {first.cost_metric}",
                higher_is_better=report.higher_is_better,
            )
        )
    return [picture for picture in drawn if picture]


def judge_pictures(report: JudgeReport) -> list[Picture]:
    """Agreement by model with intervals, and below it whom the judge favours."""
    note = f"{report.judge} against {report.human} on {report.benchmark}"
    agreement = [
        Interval(f"{row.model or 'all'} {row.condition}".strip(), row.agreement, row.agreement_low, row.agreement_high)
        for row in report.rows
        if row.agreement is not None
    ]
    bias = [
        Interval(f"{row.model} {row.condition}".strip(), row.bias, row.bias_low, row.bias_high, row.is_favoured)
        for row in report.rows[1:]
        if row.bias is not None
    ]
    bias_note = f"{note}; filled: told from none, over all models at once"
    drawn = [
        forest("Share on which judge and people agree", agreement, figure="agreement", n_decimals=3, note=note),
        forest("Judge minus people", bias, figure="bias", n_decimals=3, note=bias_note, zero=True),
    ]
    return [picture for picture in drawn if picture]


#: Results that are drawn without Vega-Lite.
_PICTURES: dict[type, Callable[[Any], list[Picture]]] = {FrontierReport: frontier_pictures, JudgeReport: judge_pictures}


def in_svg(charts: Sequence[Chart | Picture | None]) -> str | None:
    """Figures below each other as a file of SVG; None where there is none."""
    pictures = [figure if isinstance(figure, Picture) else _picture(figure) for figure in charts if figure is not None]
    return Drawn(pictures).to_svg() if pictures else None


def _curves(report: CurvesReport) -> Iterator[BenchmarkCurves]:
    """The curves of each benchmark, as a leaderboard has them."""
    points: dict[tuple[str, ...], list[CurvePoint]] = defaultdict(list)
    for at in report.checkpoints:
        points[_curve_of(at)].append(CurvePoint(at.position, at.score, at.ci_low, at.ci_high))
    for benchmark in dict.fromkeys(row.benchmark for row in report.rows):
        several = (row for row in report.rows if row.benchmark == benchmark and points[_curve_of(row)])
        curves = [_curve(row, points[_curve_of(row)]) for row in several]
        yield BenchmarkCurves(benchmark, None, report.level, tuple(sorted(curves, key=lambda curve: -curve.last)))


def _curve_of(row: TrainingRow | CheckpointRow) -> tuple[str, ...]:
    return row.benchmark, row.split, row.metric, row.model, row.recipe, row.setting, row.unit


def _curve(row: TrainingRow, points: Sequence[CurvePoint]) -> ModelCurveRow:
    best = max(points, key=lambda point: point.estimate)
    return ModelCurveRow(
        model=row.model,
        condition=" ".join(filter(None, (row.recipe if row.recipe not in row.model else "", row.setting))),
        metric=row.metric,
        split=row.split,
        unit=row.unit,
        n_checkpoints=len(points),
        first=points[0].estimate,
        last=points[-1].estimate,
        best=best.estimate,
        best_position=best.position,
        monotonicity=None,
        points=tuple(points),
    )


def _stacked_spec(charts: Sequence[Chart]) -> Spec:
    """The figures below each other, with colours of their own."""
    specs: list[Spec] = [{**_coloured(chart.spec), "title": chart.title} for chart in charts]
    around: Spec = {"$schema": _SCHEMA, "config": CONFIG | _CONFIG}
    return around | (specs[0] if len(specs) == 1 else {"vconcat": specs, "resolve": {"scale": _APART}})


def _coloured(spec: Spec) -> Spec:
    """The variables of the page's style sheet as colours."""
    colours = _COLOURS | _SERIES | _SHADES | _AREAS
    text = _VARIABLE.sub(lambda name: colours.get(name.group(1), "#808080"), json.dumps(spec))
    made: Spec = json.loads(text)
    return made


def _intervals(result: Any) -> Chart | None:
    """Estimates with their intervals: a line for each row, in the order of the rows; or over days, where they have."""
    several = len({getattr(row, "benchmark", "") for row in result.rows}) > 1
    points = [point for row in result.rows if (point := _point(row, several)) is not None]
    if not points:
        return None
    columns = result.rows[0].columns() if hasattr(result.rows[0], "columns") else ()
    zero = "difference" in columns and "estimate" not in columns
    dated = [point for point in points if point.get("day")]
    return _forest(dated or points[:MOST], _title(result), "", "difference" if zero else "figure", zero=zero)


@dataclass(frozen=True)
class _Forest(Chart):
    """Intervals, which have a picture of their own."""

    own: Picture


def _picture(chart: Chart) -> Picture:
    return chart.own if isinstance(chart, _Forest) else draw(chart)


def _forest(points: Sequence[Spec], title: str, say: str, axis: str, *, zero: bool) -> Chart | None:
    """Points with their intervals, one below the other; or over their days, where they have any."""
    over_days = bool(points[0].get("day"))
    names = list(dict.fromkeys(point["name"] for point in points))
    y = {"field": "name", "type": "nominal", "sort": names, "title": None, "axis": {"labelLimit": 0}}
    y = {"field": "day", "type": "temporal", "title": "released"} if over_days else y
    x = {"type": "quantitative", "scale": {"zero": False}, "title": axis}
    along, across = ("y", "x") if over_days else ("x", "y")
    ends = {along: {"field": "low", **x}, f"{along}2": {"field": "high"}, across: y}
    layers: list[Spec] = [
        {"mark": {"type": "rule", "strokeWidth": 2, "opacity": 0.7, "color": "var(--mark)"}, "encoding": ends},
        {
            "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1, "color": "var(--mark)"},
            "encoding": {
                along: {"field": "estimate", **x},
                across: y,
                "tooltip": [{"field": name, "type": "nominal"} for name in ("name", "estimate", "low", "high")],
            },
        },
    ]
    if zero:
        rule = {"mark": {"type": "rule", "color": "var(--dim)", "strokeDash": [3, 3]}}
        layers.insert(0, {**rule, "data": {"values": [{"at": 0}]}, "encoding": {"x": {"field": "at", **x}}})
    height = 320 if over_days else _HEIGHT * len(names)
    spec: Spec = {"width": 400, "height": height, "data": {"values": list(points)}, "layer": layers}
    rows = [Interval(*(point[name] for name in ("name", *_ENDS))) for point in points if isfinite(point["estimate"])]
    n_decimals = decimals((row.high - row.low) / 4 for row in rows if row.low is not None and row.high is not None)
    own = _dated(points, title, say, axis, n_decimals) if over_days else None
    own = own or forest(title, rows, figure=axis, n_decimals=n_decimals, note=say, zero=zero, most=MOST)
    return None if own is None else _Forest(title, say, spec, own)


def _dated(points: Sequence[Spec], title: str, say: str, axis: str, n_decimals: int) -> Picture | None:
    spots, ticks = list[Spot](), dict[float, str]()
    for point in sorted(points, key=lambda point: str(point["day"])):
        day = str(point["day"])
        at, ends = float(date.fromisoformat(day).toordinal()), (point["low"], point["high"])
        ticks[at] = day
        spots.append(Spot(point["name"], at, day, point["estimate"], True, y_ends=None if None in ends else ends))
    ends_of = [*ticks.items()]
    return scatter(title, spots, x="released", y=axis, n_decimals=n_decimals, note=say, ticks=[ends_of[0], ends_of[-1]])


def _title(result: Any) -> str:
    names = [str(getattr(result, name)) for name in ("benchmark", "suite", "metric") if hasattr(result, name)]
    return " by ".join(names) or str(result.one_line)


def _point(row: Any, several: bool) -> Spec | None:
    """Name (with the benchmark where there are several), estimate and ends; None without an estimate."""
    estimate = next((at for name in ("estimate", "difference") if (at := getattr(row, name, None)) is not None), None)
    if estimate is None:
        return None
    low, high = getattr(row, "ci_low", None), getattr(row, "ci_high", None)
    words = [getattr(row, "benchmark", "")] if several else []
    if hasattr(row, "model_a"):
        words.append(f"{row.model_a} - {row.model_b}")
    else:
        words += [getattr(row, name, "") for name in ("model", "condition", "statistic")]
    name = " ".join(str(word) for word in words if word)
    day = {"day": row.release_date} if hasattr(row, "release_date") else {}
    return {"name": name, "estimate": estimate, "low": low, "high": high, **day}
