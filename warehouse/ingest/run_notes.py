"""Notes on runs: repeats, settings, groups, and scales that differ from those of
earlier sources."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from warehouse.ingest.report import MOST_NAMED, RepeatNotes, some
from warehouse.records import parse_json
from warehouse.records.run_fields import CONDITION_FIELDS
from warehouse.records.score_span import MIXED, ScoreSpan
from warehouse.records.setting_labels import differing_paths, short_values
from warehouse.store.connection import Store
from warehouse.store.load.dump_runs import are_apart
from warehouse.store.load.state import LoadReport
from warehouse.store.sql.query_files import query_text


def may_share(store: Store, reports: Sequence[LoadReport]) -> Mapping[str, bool]:
    """A row of ``may_share.sql``, for :func:`notes_on_shared` and
    :func:`notes_on_scales`; nothing where no run is new."""
    if not any(report.run_ids and report.n_runs for report in reports):
        return {}
    (may,) = store.rows(query_text("store", "may_share"))
    return may


def notes_on_shared(
    store: Store, reports: Sequence[LoadReport], may: Mapping[str, bool]
) -> list[str]:
    """Which benchmarks of the new runs hold prompts of others, by their texts; which
    are the same bytes."""
    if not may.get("has_several"):
        return []
    new = [
        min(report.run_ids) for report in reports if report.run_ids and report.n_runs
    ]
    runs = {"first_run": min(new)}
    shared = store.rows(query_text("store", "shared_benchmarks"), runs | {"linked": 1})
    already_named = {frozenset((row["benchmark"], row["other"])) for row in shared}
    twins = [
        row
        for row in (
            store.rows(query_text("store", "twin_benchmarks"), runs)
            if may["has_copies"]
            else ()
        )
        if frozenset((row["benchmark"], row["other"])) not in already_named
    ]
    texts = [
        f"{row['n_shared']} of {row['n_prompts']} of {row['benchmark']} in "
        f"{row['other']}"
        for row in shared
    ]
    names = [f"{row['benchmark']} and {row['other']}" for row in twins]
    notes = []
    if texts:
        notes.append(
            f"prompts of the same text stand in several benchmarks: {some(texts)}; "
            f"{_COUNT_ONCE}"
        )
    if names:
        notes.append(
            f"the same file was read as several benchmarks: {some(names)}; "
            f"{_COUNT_ONCE}"
        )
    return notes


_COUNT_ONCE = "figures over these count each once"


def notes_on_corrected(store: Store, reports: Sequence[LoadReport]) -> RepeatNotes:
    """Which files were read before with other content, and now count beside what they
    said then."""
    new = {
        report.source_id: report
        for report in reports
        if report.run_ids and report.n_repeats
    }
    if not new:
        return RepeatNotes()
    first = min(min(report.run_ids) for report in new.values())
    rows = store.rows(query_text("store", "corrected_sources"), {"first_run": first})
    earlier: dict[int, dict[int, bool]] = {}
    for row in rows:
        if row["newer"] in new:
            sources = earlier.setdefault(row["newer"], {})
            sources[row["earlier"]] = sources.get(
                row["earlier"], True
            ) and _are_told_apart(row)
    told, doubtful = [], []
    for source, are_told in earlier.items():
        note = _on_corrected(new[source].source, list(are_told))
        if all(are_told.values()):
            told.append(note)
        else:
            doubtful.append(note)
    return RepeatNotes(tuple(told), tuple(doubtful))


def _are_told_apart(row: Mapping[str, Any]) -> bool:
    """True if something that both of two runs say makes them two executions."""
    marks = [
        parse_json(row[name]) if row[name] else {}
        for name in ("own_marks", "earlier_marks")
    ]
    return are_apart(*marks)


def notes_on_repeats(store: Store, reports: Sequence[LoadReport]) -> RepeatNotes:
    """Which new runs without an id joined one from elsewhere; which figures samples
    from elsewhere contradict."""
    new = [
        min(report.run_ids) for report in reports if report.run_ids and report.n_repeats
    ]
    rows = (
        store.rows(query_text("store", "joined_repeats"), {"first_run": min(new)})
        if new
        else ()
    )
    nameless = [row for row in rows if row["has_nameless_samples"]]
    joined = [_on_joined(row) for row in nameless if not _are_told_apart(row)]
    told = [_on_joined(row) for row in nameless if _are_told_apart(row)]
    differing = _contradicted(store, rows)
    doubtful = []
    if joined:
        doubtful.append(
            f"repeats, further draws of the prompts of an earlier run: {some(joined)}"
        )
    if differing:
        doubtful.append(
            "published figures contradict samples from another source: "
            f"{some(differing)}"
        )
    ordinary = []
    if told:
        ordinary = [
            f"repeats, further draws of the prompts of an earlier run: {some(told)}"
        ]
    return RepeatNotes(tuple(ordinary), tuple(doubtful))


def _contradicted(store: Store, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Figures of one source that the samples of another contradict, where one of the
    two has just come."""
    held: dict[tuple[int, int], Mapping[str, Any]] = {}
    for row in rows:
        pair = (row["figures_id"], row["samples_id"])
        if None not in pair and row["run_id"] in pair:
            held[pair] = row
    if not held:
        return []
    ids = {
        "figures_ids": [figures for figures, _ in held],
        "samples_ids": [samples for _, samples in held],
    }
    told = []
    for figure in store.rows(query_text("store", "joined_figures"), ids):
        joined = held.get((figure["published_by"], figure["estimated_from"]))
        if (
            joined is None
            or figure["estimate"] is None
            or _rounds_to(figure["estimate"], figure["published"])
        ):
            continue
        told.append(
            f"{joined['model']} on {joined['benchmark']}: {figure['metric']} "
            f"{figure['published']:g} published by run {figure['published_by']}, "
            f"{figure['estimate']:.4g} from {figure['n_prompts']} prompts of run "
            f"{figure['estimated_from']}"
        )
    return told


def _on_joined(row: Mapping[str, Any]) -> str:
    return (
        f"{row['model']} on {row['benchmark']}, run {row['run_id']}, joined run "
        f"{row['earlier']} ({row['path']})"
    )


def _rounds_to(value: float, published: float | None) -> bool:
    """True if a figure of samples is what was published, as far as the digits of that
    go."""
    if published is None or math.isinf(published) or math.isinf(value):
        return published is None or published == value
    written = f"{published:.10g}".partition(".")[2]
    decimals = max(len(written), 1 + (abs(published) < 1))
    return abs(value - published) <= 0.5 * 0.1**decimals + 1e-9


#: Settings that everybody expects to make rows of their own, and that rows show by
#: names of their own.
_EXPECTED_SETTINGS = frozenset({*CONDITION_FIELDS, "scorers"})
#: Settings in which two runs differ, at most, for a note to name them: beyond, they are
#: two experiments.
_FEW_SETTINGS = 3


def notes_on_settings(store: Store, reports: Sequence[LoadReport]) -> list[str]:
    """Which new runs stand beside others of the same model because of settings that may
    not matter."""
    new = [
        min(report.run_ids) for report in reports if report.run_ids and report.n_runs
    ]
    if not new:
        return []
    pairs = store.rows(query_text("store", "settings_beside"), {"first_run": min(new)})
    if not pairs:
        return []
    runs = _settings_of(store, pairs)
    told: dict[tuple[str, str], list[str]] = {}
    for pair in pairs:
        run = runs[pair["run_id"]]
        other = runs[pair["other_id"]]
        settings = [other["settings"], run["settings"]]
        paths = _unexpected(settings)
        if paths:
            told.setdefault((run["benchmark"], paths[0]), []).append(
                _kept_apart(pair, run, settings, paths)
            )
    notes = []
    for (benchmark, path), texts in list(told.items())[:MOST_NAMED]:
        way = (
            f"warehouse fix settings {shlex.quote(benchmark)} --ignore "
            f"{shlex.quote(path)}"
        )
        notes.append(
            f"kept apart by settings: {some(texts)}; where one does not matter: {way}"
        )
    return notes


def _settings_of(
    store: Store, pairs: Sequence[Mapping[str, Any]]
) -> dict[int, dict[str, Any]]:
    """The settings of all runs of some pairs, with their models and benchmarks, by
    id."""
    ids = {pair["run_id"] for pair in pairs} | {pair["other_id"] for pair in pairs}
    rows = store.rows(
        query_text("analysis", "settings_of_runs"), {"run_ids": sorted(ids)}
    )
    return {
        row["run_id"]: {**row, "settings": parse_json(row["settings"] or "{}")}
        for row in rows
    }


def _unexpected(settings: Sequence[Mapping[str, str]]) -> list[str]:
    """Paths in which the settings of two runs differ, where that is all they differ in
    and these are few."""
    first, second = settings
    differing = {
        path
        for path in first.keys() | second.keys()
        if first.get(path) != second.get(path)
    }
    if not _EXPECTED_SETTINGS.isdisjoint(differing):
        return []
    paths = differing_paths(settings)
    if len(paths) <= _FEW_SETTINGS:
        return paths
    return []


def _kept_apart(
    pair: Mapping[str, Any],
    run: Mapping[str, Any],
    settings: Sequence[Mapping[str, str]],
    paths: Sequence[str],
) -> str:
    """A run beside another one, and the settings in which the two differ."""
    said = []
    for path in paths:
        values = short_values([own.get(path) for own in settings])
        said.append(f"{path} {', '.join(values)}")
    where = (
        f"{run['model']} on {run['benchmark']}, run {pair['run_id']} beside run "
        f"{pair['other_id']}"
    )
    return f"{where} ({'; '.join(said)})"


#: Runs that were there before whose scores are held against new ones.
_MOST_BEFORE = 20


def notes_on_scales(
    store: Store, reports: Sequence[LoadReport], may: Mapping[str, bool]
) -> list[str]:
    """Which sources give one metric of one benchmark as shares of 1 and which, it
    seems, in per cent, where one of them is new."""
    if not may.get("has_unbounded"):
        return []
    new = set(
        chain.from_iterable(report.run_ids for report in reports if report.n_runs)
    )
    rows = store.rows(
        query_text("store", "score_spans"),
        {"first_run": min(new), "most_before": _MOST_BEFORE},
    )
    found: dict[tuple[str, str], dict[str, list[Mapping[str, Any]]]] = {}
    for row in rows:
        span = ScoreSpan(row["low"], row["high"], row["n_positive"], row["n_small"])
        found.setdefault((row["benchmark"], row["metric"]), {}).setdefault(
            span.scale, []
        ).append(row)
    both = [
        (key, by["share"], by["percent"])
        for key, by in found.items()
        if by.keys() >= {*MIXED}
    ]
    mixed = []
    for key, shares, percents in both:
        if any(row["run_id"] in new for row in (*shares, *percents)):
            mixed.append((key, shares, percents))
    notes = [
        _on_scales(*key, shares, percents)
        for key, shares, percents in mixed[:MOST_NAMED]
    ]
    if len(mixed) > MOST_NAMED:
        notes.append(f"metrics on two scales: {len(mixed) - MOST_NAMED} more")
    return notes


def _on_scales(
    benchmark: str,
    metric: str,
    shares: Sequence[Mapping[str, Any]],
    percents: Sequence[Mapping[str, Any]],
) -> str:
    given = {row["source_id"]: str(row["path"]) for row in shares}
    other = {row["source_id"]: str(row["path"]) for row in percents}
    low = min(row["low"] for row in percents)
    high = max(row["high"] for row in percents)
    forget = " && ".join(
        f"warehouse fix forget {number}" for number in [*other][:MOST_NAMED]
    )
    again = (
        "a mapping that has `scale = 0.01` for the score (`warehouse mapping FILE` "
        "begins one)"
    )
    if {row["format"] for row in percents} != {"tabular"}:  # which no mapping reads
        again = (
            f"--set benchmark={shlex.quote(f'{benchmark}_percent')}, which keeps them "
            "apart"
        )
    return (
        f"{metric} on {benchmark}: scores from 0 to 1 in {some([*given.values()])}, "
        f"from {low:g} to {high:g} in {some([*other.values()])}: if these are per "
        f"cent, nothing compares the two; {forget}, then ingest again with {again}"
    )


def _on_corrected(path: str, ids: Sequence[int]) -> str:
    noun = "source"
    if len(ids) > 1:
        noun = "sources"
    sources = f"{noun} {', '.join(map(str, ids))}"
    forget = " && ".join(f"warehouse fix forget {number}" for number in ids)
    return (
        f"{path} was read before with other content ({sources}): all count, as "
        f"repeats; if this corrects it: {forget}"
    )
