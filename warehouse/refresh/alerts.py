"""Alerts: what somebody should look at after a refresh, with false alarms held down.

Every test of one refresh is adjusted together (Holm), so that one in which nothing
changed but chance raises a false alarm with at most the chance ``alpha``, however many
figures it computed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from operator import itemgetter
from typing import Any

from warehouse.analysis.families.family import GONE
from warehouse.analysis.families.newest import NEWEST_RUN
from warehouse.analysis.results import Result, Row
from warehouse.analysis.selection.benchmarks import direction_unknown, find_benchmark
from warehouse.errors import MisuseError
from warehouse.refresh.plan import KEY, inputs_of
from warehouse.stats.core.inputs import rejects
from warehouse.stats.core.quantiles import t_quantile
from warehouse.stats.multiple.adjust import holm
from warehouse.stats.paired.change import ReportedFigure, change_p_value
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text
from warehouse.tables.view import Table, View
from warehouse.tables.words import plural

#: Columns of alerts that a table does without where they say nothing.
HIDE_EMPTY = ("p_value", "p_holm", "change", "noise_floor")
#: 1 − the chance that two runs of one recipe differ by more than the noise floor.
_LEVEL = 0.95
_NEWEST = "select max(loaded_at) as loaded_at from source"
_ANY_PUBLISHED = "select run_id from published_score where run_id is not null limit 1"
_ScoreKey = tuple[str, str, str]
_Scores = Mapping[_ScoreKey, Mapping[str, Any]]


@dataclass(frozen=True)
class Rules:
    """What raises an alert (MisuseError: a number out of range)."""

    #: a score that moved since the refresh before by more than both errors allow; a
    #: newest run that differs from those before it, or a figure that was stated anew,
    #: by more than chance.
    moved: bool = True
    #: a difference from a baseline, the checkpoint before or the runs before that is
    #: significant, for the worse.
    worse: bool = True
    #: share of samples without a score above which a score is doubtful; None: not
    #: checked.
    max_unscored: float | None = None
    gone: bool = True  #: a score that is not there any more.
    published: bool = True  #: a published figure that the samples contradict.
    #: longest time without a load; None: not checked.
    max_silence: timedelta | None = None
    alpha: float = 0.05  #: chance of any false alarm of one refresh, in (0, 1).

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise MisuseError(
                f"alpha of alerts lies between 0 and 1, found {self.alpha}"
            )
        if self.max_unscored is not None and not 0 <= self.max_unscored <= 1:
            raise MisuseError(
                f"a share of samples lies in [0, 1], found {self.max_unscored}"
            )


@dataclass(frozen=True)
class Alert(Row):
    """Something to look at."""

    rule: str  #: ``moved``, ``worse``, ``gone``, ``unscored``, ``published`` or ``silence``.
    benchmark: str  #: name of the benchmark; empty for ``silence``.
    subject: str  #: what it is about.
    message: str  #: in words.
    #: of the test, not adjusted; None where the rule is no test.
    p_value: float | None = None
    p_holm: float | None = None  #: adjusted over all tests of the refresh.
    #: the difference that was tested, in the metric's unit; None where the rule is no
    #: test.
    change: float | None = None
    #: what two runs of one recipe differ by with the training seed in 5 % of cases,
    #: pooled over the recipes of the benchmark that have seeds; None without seeds.
    noise_floor: float | None = None


@dataclass(frozen=True)
class Alerts(Result):
    """The alerts of one refresh."""

    rows: tuple[Alert, ...]
    refresh_id: int
    tests: int  #: so many were adjusted together.
    notes: tuple[str, ...] = ()  #: what could not be checked, and what to do about it.

    @property
    def one_line(self) -> str:
        number = len(self.rows)
        return f"{number or 'no'} {plural('alert', number)} ({self.tests} tests, Holm)"

    def view(self, *, verbose: bool = False) -> View:
        """What people are shown of it."""
        rows = [row.to_dict() for row in self.rows]
        return View(
            (self.one_line, Table.of(rows, hide_empty=HIDE_EMPTY, empty="no alerts")),
            self.notes,
        )


@dataclass(frozen=True)
class _Test:
    """One test of a refresh."""

    alert: Alert  #: that it raises if it rejects.
    #: the score that has changed; None of a difference between two.
    about: _ScoreKey | None = None
    is_newest: bool = False  #: it holds the newest run against those before it.


def check(store: Store, rules: Rules, refresh: int, now: datetime) -> Alerts:
    """Hold the figures that a refresh wrote against the rules.

    Args:
        refresh: its id; what it did not compute has not changed, and is not checked
            again.
        now: naive UTC.
    """
    written = _read(store, "refresh_values", refresh)
    values = _news(store, written, refresh)
    before = {_score_key(row): row for row in _read(store, "scores_before", refresh)}
    tests: list[_Test] = []
    if rules.moved:
        tests += _moved(values, before)
    if rules.worse:
        tests += _worse(values)
    tests += _newest(values, before, rules)
    adjusted = holm([_p_of(test.alert) for test in tests])
    found = [
        replace(test, alert=replace(test.alert, p_holm=float(p)))
        for test, p in zip(tests, adjusted, strict=True)
        if rejects(p, rules.alpha)
    ]
    alerts = list(_beside_noise_floors(store, _each_once(found)))
    if rules.gone:
        alerts += _gone(written, before)
    alerts += _unscored(values, rules.max_unscored)
    if rules.published:
        alerts += _published(store, values)
    alerts += _silence(store, rules.max_silence, now)
    notes = []
    if rules.worse:
        notes = _without_direction(values)
    alerts = _told_by_rows(alerts, [*values, *before.values()])
    return Alerts(tuple(alerts), refresh, len(tests), tuple(notes))


def _news(
    store: Store, written: Sequence[dict[str, Any]], refresh: int
) -> list[dict[str, Any]]:
    """Figures that a refresh wrote, but for those that had been gone and are back as
    they were."""
    values = [row for row in written if row["method"] != GONE]
    if not values:
        return []
    query = query_text("refresh", "values_back").format(refresh=refresh)
    back = {tuple(row.values()) for row in store.rows(query)}
    key_of = itemgetter(*KEY, "input_fingerprint")
    return [row for row in values if key_of(row) not in back]


def _read(store: Store, name: str, refresh: int) -> list[dict[str, Any]]:
    rows = store.rows(query_text("refresh", name).format(refresh=refresh))
    return [
        {**row, "parameters": json.loads(row["parameters"] or "{}")} for row in rows
    ]


def _score_key(row: Mapping[str, Any]) -> _ScoreKey:
    return row["subject"], row["benchmark"], row["metric"]


def _gone(written: Sequence[Mapping[str, Any]], before: _Scores) -> Iterator[Alert]:
    """A score that goes on under another kind of subject is not gone."""
    there = {
        _score_key(row)
        for row in written
        if row["statistic"] == "score" and row["method"] != GONE
    }
    for row in written:
        old = before.get(_score_key(row))
        if _score_key(row) in there:
            continue
        if (
            row["statistic"] == "score"
            and row["method"] == GONE
            and old
            and old["estimate"] is not None
        ):
            message = (
                f"{row['metric']} was {old['estimate']:.4g} and is not there any more"
            )
            yield Alert("gone", row["benchmark"], row["subject"], message)


def _moved(values: Sequence[Mapping[str, Any]], before: _Scores) -> Iterator[_Test]:
    """Both figures taken as independent, which is cautious where they share prompts or
    runs."""
    for row in values:
        old = before.get(_score_key(row))
        if row["statistic"] != "score" or old is None:
            continue
        if None in (row["estimate"], old["estimate"]):
            continue
        p = change_p_value(_figure(old), _figure(row))
        if p is not None:
            message = (
                f"{row['metric']} moved from {old['estimate']:.4g} to "
                f"{row['estimate']:.4g}"
            )
            change = row["estimate"] - old["estimate"]
            yield _Test(
                Alert(
                    "moved", row["benchmark"], row["subject"], message, p, change=change
                ),
                _score_key(row),
            )


def _newest(
    values: Sequence[Mapping[str, Any]], before: _Scores, rules: Rules
) -> Iterator[_Test]:
    """The newest run against those before it, where the runs are others than at the
    refresh before.

    Two-sided; where only what is worse raises an alert, one-sided.
    """
    for row in values:
        if row["statistic"] != NEWEST_RUN or row["estimate"] is None:
            continue
        old = before.get(_score_key(row))
        if old is not None and inputs_of(old["input_fingerprint"]) == inputs_of(
            row["input_fingerprint"]
        ):
            continue
        about = row["parameters"]
        p, p_worse = about["p_value"], about["p_worse"]
        is_worse = p_worse is not None and p_worse < 0.5
        if not rules.moved:
            p = p_worse
        if p is None or not (rules.moved or rules.worse):
            continue
        rule = "moved"
        if rules.worse and is_worse:
            rule = "worse"
        alert = Alert(
            rule,
            row["benchmark"],
            row["subject"],
            _newest_in_words(row),
            p,
            change=row["estimate"],
        )
        yield _Test(alert, _score_key(row), is_newest=True)


def _newest_in_words(row: Mapping[str, Any]) -> str:
    about = row["parameters"]
    now, then = f"{about['mean']:.4g}", f"{about['mean_before']:.4g}"
    if not about["runs_before"]:
        return f"{row['metric']} is stated as {now}, and was stated as {then} before"
    runs = "the run"
    if about["runs_before"] != 1:
        runs = f"the {about['runs_before']} runs"
    return (
        f"{row['metric']} is {now} in run {about['run']}, the newest, against {then} "
        f"in {runs} of it before"
    )


def _p_of(alert: Alert) -> float:
    if alert.p_value is None:
        return math.nan
    return alert.p_value


def _each_once(tests: Sequence[_Test]) -> Iterator[Alert]:
    """Alerts, but for a score that moved because of the newest run, which has one of
    its own."""
    told = {test.about for test in tests if test.is_newest}
    for test in tests:
        if test.is_newest or test.about is None or test.about not in told:
            yield test.alert


def _told_by_rows(
    alerts: Sequence[Alert], values: Iterable[Mapping[str, Any]]
) -> list[Alert]:
    """Alerts without those of seeds and checkpoints whose row has the same."""
    row_of = {
        (value["benchmark"], value["subject"]): value["parameters"].get("row")
        for value in values
    }
    told = {(alert.rule, alert.benchmark, alert.subject) for alert in alerts}
    kept: list[Alert] = []
    for alert in alerts:
        row = row_of.get((alert.benchmark, alert.subject))
        if row is None or (alert.rule, alert.benchmark, row) not in told:
            kept.append(alert)
    return kept


def _beside_noise_floors(store: Store, found: Iterable[Alert]) -> Iterator[Alert]:
    """Alerts of benchmarks that have training seeds, with whether another seed would do
    as much."""
    alerts = list(found)
    benchmarks = {alert.benchmark for alert in alerts}
    floors = {name: _noise_floor(store, name) for name in benchmarks}
    for alert in alerts:
        floor = floors[alert.benchmark]
        if floor is None or alert.change is None:
            yield alert
            continue
        is_more = abs(alert.change) > floor
        words = "within"
        if is_more:
            words = "more than"
        yield replace(
            alert,
            message=(
                f"{alert.message}; {words} the noise floor of training seeds, "
                f"{floor:.2g}"
            ),
            noise_floor=floor,
        )


def _noise_floor(store: Store, benchmark: str) -> float | None:
    from warehouse.analysis.training.pools import (
        pooled_seed_variance,
    )  # only where there are alerts
    from warehouse.analysis.training.read import read_recipes

    pooled = pooled_seed_variance(
        read_recipes(store, find_benchmark(store, benchmark).ids)
    )
    if pooled is None:
        return None
    return t_quantile(_LEVEL, pooled[1]) * math.sqrt(2 * pooled[0])


def _figure(row: Mapping[str, Any]) -> ReportedFigure:
    if row["n_clusters"] is None:
        units = row["n"]
    else:
        units = row["n_clusters"]
    error = row["standard_error"]
    if error is None and row["method"] != "published":
        error = 0.0  # scores are there, without spread
    return ReportedFigure(
        row["estimate"],
        error,
        row["low"],
        row["high"],
        row["parameters"]["level"],
        units or None,
    )


def _worse(values: Sequence[Mapping[str, Any]]) -> Iterator[_Test]:
    """One-sided, from the paired test behind each difference."""
    for row in values:
        p = row["parameters"].get("p_worse")
        if row["statistic"] != "difference" or p is None:
            continue
        kind = "the baseline"
        if row["subject_kind"] == "step":
            kind = "the checkpoint before"
        message = f"{row['metric']} {row['estimate']:+.4g} against {kind}"
        yield _Test(
            Alert(
                "worse",
                row["benchmark"],
                row["subject"],
                message,
                p,
                change=row["estimate"],
            )
        )


def _without_direction(values: Sequence[Mapping[str, Any]]) -> list[str]:
    """Differences of which nobody said which sign is for the worse."""
    undirected = {
        (row["metric"], row["benchmark"])
        for row in values
        if row["statistic"] == "difference"
        and row["estimate"] is not None
        and row["parameters"].get("higher_is_better", True) is None
    }
    benchmarks: dict[str, list[str]] = {}
    for metric, benchmark in sorted(undirected):
        benchmarks.setdefault(metric, []).append(benchmark)
    return [
        f"worse is not checked for {metric} on {', '.join(names)}: "
        f"{direction_unknown(metric, *names)}"
        for metric, names in benchmarks.items()
    ]


def _unscored(
    values: Sequence[Mapping[str, Any]], limit: float | None
) -> Iterator[Alert]:
    for row in values:
        share = row["parameters"].get("share_unscored")
        if row["statistic"] == "score" and None not in (share, limit) and share > limit:
            message = f"{share:.1%} of the samples have no score by {row['metric']}"
            yield Alert("unscored", row["benchmark"], row["subject"], message)


def _published(store: Store, values: Sequence[Mapping[str, Any]]) -> list[Alert]:
    """Alerts on published figures of the benchmarks that this refresh touched."""
    if not store.rows(
        _ANY_PUBLISHED
    ):  # to plan the view takes an engine a tenth of a second
        return []
    touched = sorted({row["benchmark"] for row in values})
    rows = store.rows(
        query_text("refresh", "contradicted_figures"), {"benchmarks": touched}
    )
    return [
        Alert(
            "published",
            row["benchmark"],
            row["model"],
            f"{row['metric']} is published as {row['published']:.6g}, its samples give "
            f"{row['recomputed']:.6g}",
        )
        for row in rows
    ]


def _silence(store: Store, limit: timedelta | None, now: datetime) -> list[Alert]:
    if limit is None:
        return []
    (newest,) = store.arrow(_NEWEST).column("loaded_at").to_pylist()
    if newest is not None and now - newest <= limit:
        return []
    if newest is None:
        since = "ever"
    else:
        since = f"since {newest:%Y-%m-%d %H:%M} UTC"
    return [Alert("silence", "", "ingest", f"nothing was loaded {since}")]
