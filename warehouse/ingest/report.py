"""The report on every source: published figures against recomputed ones, prompts
shared with others."""

from __future__ import annotations

import math
import re
import shlex
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from warehouse.errors import without_prefix
from warehouse.importers.common.file_walk import Unread
from warehouse.records import parse_json
from warehouse.records.run_fields import CONDITION_FIELDS
from warehouse.records.score_span import MIXED, ScoreSpan
from warehouse.records.setting_labels import differing_paths, short_values
from warehouse.store.connection import Store
from warehouse.store.lake.sync import SyncReport
from warehouse.store.load.dump_runs import are_apart
from warehouse.store.load.state import LoadReport
from warehouse.store.sql.query_files import query_text


@dataclass(frozen=True)
class IngestReport:
    """The outcome of every source; totals are sums over them."""

    sources: tuple[LoadReport, ...]
    unclaimed: tuple[str, ...] = ()
    unread: tuple[Unread, ...] = ()  # the unclaimed files, each with the reason
    reconciliation: tuple[Reconciled, ...] = ()
    notes: tuple[str, ...] = ()
    # of all notes those on what may be read in two ways, or by which figures that stood
    # before mean something else
    changed: tuple[str, ...] = ()
    lake: SyncReport | None = None  # of the lake that was brought up afterwards
    seconds: float = 0.0

    def total(self, name: str) -> int:
        """Sum of one count (``n_runs``, ``n_scores`` …) over the sources."""
        return sum(getattr(report, name) for report in self.sources)

    @property
    def all_notes(self) -> list[str]:
        """Notes on sources, each once, then those on all."""
        noted: list[tuple[str, str]] = []
        for report in self.sources:
            noted += [(report.source, note) for note in report.notes]
        return [*_of_sources(noted), *self.notes]

    @property
    def joined_runs(self) -> tuple[int, ...]:
        """Ids of the new runs of sources of which some run joined runs of its
        condition."""
        return tuple(
            chain.from_iterable(
                report.run_ids for report in self.sources if report.n_repeats
            )
        )

    def with_changed(self, notes: Iterable[str]) -> IngestReport:
        """The same with more notes on what stood before."""
        added = tuple(notes)
        if added:
            return replace(
                self, notes=(*added, *self.notes), changed=(*added, *self.changed)
            )
        return self

    @property
    def refused(self) -> tuple[LoadReport, ...]:
        """Sources of which nothing was stored."""
        return tuple(report for report in self.sources if report.state == "refused")

    def __str__(self) -> str:
        states = Counter(item.state for item in self.sources)
        lines = [
            f"sources   {len(self.sources)}: {states['loaded']} loaded, "
            f"{states['unchanged']} unchanged, {states['refused']} refused",
            f"runs      {self.total('n_runs')} new, {self.total('n_seen_again')} seen "
            f"again, {self.total('n_superseded')} superseded, "
            f"{self.total('n_repeats')} repeats",
            f"samples   {self.total('n_samples')}",
            f"scores    {self.total('n_scores')}",
            *([f"votes     {self.total('n_votes')}"] if self.total("n_votes") else []),
            "notes     "
            f"{sum(len(item.notes) for item in self.sources) + len(self.notes)}",
            f"rejected  {self.total('n_rejected')} rows",
            f"seconds   {self.seconds:.1f}",
        ]
        if self.unclaimed:
            lines.insert(1, f"not dumps {len(self.unclaimed)} files")
        return "\n".join(lines)

    @property
    def one_line(self) -> str:
        """The totals in one line."""
        counts = (
            f"{len(self.sources)} sources, {self.total('n_runs')} runs new, "
            f"{self.total('n_seen_again')} seen again, {self.total('n_superseded')} "
            f"superseded, {self.total('n_repeats')} repeats, {self.total('n_samples')} "
            f"samples, {self.total('n_scores')} scores"
        )
        if self.total("n_votes"):
            counts += f", {self.total('n_votes')} votes"
        return counts


def _of_sources(notes: Iterable[tuple[str, str]]) -> list[str]:
    """Each note once, with its source, or the first and the number of those of which
    the same is said."""
    sources: dict[str, list[str]] = {}
    for source, note in notes:
        sources.setdefault(without_prefix(note, source), []).append(source)
    notes_with_source = []
    for note, (first, *others) in sources.items():
        whose = first
        if others:
            whose = f"{len(others) + 1} sources, the first {first}"
        notes_with_source.append(f"{whose}: {note}")
    return notes_with_source


def doubtful_notes(reports: Iterable[LoadReport]) -> list[str]:
    """Notes on single sources that say what may be read in two ways."""
    noted: list[tuple[str, str]] = []
    for report in reports:
        noted += [(report.source, note) for note in report.doubtful]
    return _of_sources(noted)


@dataclass(frozen=True)
class Reconciled:
    """A published figure held against the one that the samples give."""

    run: int
    model: str
    benchmark: str
    metric: str
    published: float | None
    recomputed: float | None
    verdict: str


def _published(store: Store, first: int) -> bool:
    """True if a source publishes figures of runs from ``first`` on: the view reads all
    runs."""
    counted = store.arrow(
        "select count(*) as n from published_score where run_id >= :first",
        {"first": first},
    )
    return bool(counted["n"][0].as_py())


def _reconcile(store: Store, reports: Sequence[LoadReport]) -> tuple[Reconciled, ...]:
    """Every published figure of the new runs, with the one recomputed from their
    samples."""
    run_ids = set(chain.from_iterable(report.run_ids for report in reports))
    if not run_ids or not _published(store, min(run_ids)):
        return ()
    figures = store.arrow(
        query_text("store", "published_since"), {"first": min(run_ids)}
    )
    return tuple(
        Reconciled(
            run=row["run_id"],
            model=row["model"],
            benchmark=row["benchmark"],
            metric=_named(row),
            published=row["published"],
            recomputed=row["recomputed"],
            verdict=row["verdict"],
        )
        for row in figures.to_pylist()
        if row["run_id"] in run_ids
    )


def _named(row: Mapping[str, Any]) -> str:
    """Metric with its filter; which figure of it where there are several."""
    name = ",".join(part for part in (row["metric"], row["metric_filter"]) if part)
    if row["statistic"] in ("mean", "aggregate", name):
        return name
    return f"{name} {row['statistic']}"


#: Pairs of benchmarks that a note names.
_MOST_NAMED = 3


def notes_on_shared(store: Store, reports: Sequence[LoadReport]) -> list[str]:
    """Which benchmarks of the new runs hold prompts of others, by their texts; which
    are the same bytes."""
    new = [
        min(report.run_ids) for report in reports if report.run_ids and report.n_runs
    ]
    if not new:
        return []
    (may,) = store.rows(query_text("store", "may_share"))
    if not may["has_several"]:
        return []
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
            f"prompts of the same text stand in several benchmarks: {_some(texts)}; "
            f"{_COUNT_ONCE}"
        )
    if names:
        notes.append(
            f"the same file was read as several benchmarks: {_some(names)}; "
            f"{_COUNT_ONCE}"
        )
    return notes


_COUNT_ONCE = "figures over these count each once"


@dataclass(frozen=True)
class RepeatNotes:
    """Notes on new runs that joined others of their condition."""

    #: of runs that ids, seeds, times or the like tell apart, as repeats are.
    told: tuple[str, ...] = ()
    doubtful: tuple[str, ...] = ()  #: of what may be read in two ways, or contradicts.


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
            f"repeats, further draws of the prompts of an earlier run: {_some(joined)}"
        )
    if differing:
        doubtful.append(
            "published figures contradict samples from another source: "
            f"{_some(differing)}"
        )
    ordinary = []
    if told:
        ordinary = [
            f"repeats, further draws of the prompts of an earlier run: {_some(told)}"
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


_MEANS = {
    "benchmarks": "the mean of its benchmarks, each alike",
    "prompts": "the mean weighted by prompts",
    "pooled_prompts": "the mean weighted by prompts",
}


def notes_on_group_errors(store: Store, reports: Sequence[LoadReport]) -> list[str]:
    """Groups that publish the mean of their benchmarks with the error of another
    mean."""
    sources = [
        report.source_id
        for report in reports
        if report.run_ids and report.source_id is not None
    ]
    if not sources:
        return []
    stated = store.rows(
        "select count(*) as n from published_score where run_id is null and "
        "standard_error is not null and source_id in (:sources)",
        {"sources": sources},
    )
    if not stated[0]["n"]:
        return []  # the view reads all runs
    rows = store.rows(query_text("store", "group_errors"), {"sources": sources})
    texts = [
        f"{row['benchmark']}, {row['metric']}: {row['published_standard_error']:.3g} "
        f"is that of {_MEANS[row['published_error_is']]}, that of the published mean "
        f"is {row['recomputed_standard_error']:.3g}"
        for row in rows
    ]
    if texts:
        return [
            "published standard errors of groups that are of another mean: "
            f"{_some(texts)}"
        ]
    return []


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
        run, other = runs[pair["run_id"]], runs[pair["other_id"]]
        settings = [other["settings"], run["settings"]]
        paths = _unexpected(settings)
        if paths:
            told.setdefault((run["benchmark"], paths[0]), []).append(
                _kept_apart(pair, run, settings, paths)
            )
    notes = []
    for (benchmark, path), texts in list(told.items())[:_MOST_NAMED]:
        way = (
            f"warehouse benchmarks settings {shlex.quote(benchmark)} --ignore "
            f"{shlex.quote(path)}"
        )
        notes.append(
            f"kept apart by settings: {_some(texts)}; where one does not matter: {way}"
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


def notes_on_named(
    store: Store, reports: Sequence[LoadReport], model: str | None
) -> list[str]:
    """Which files became repeats of one model because the user named it for all of
    them."""
    new = [
        min(report.run_ids) for report in reports if report.run_ids and report.n_runs
    ]
    if model is None or len(new) < 2 or not any(report.n_repeats for report in reports):
        return []
    rows = store.rows(
        query_text("store", "sources_of_one_model"),
        {"first_run": min(new), "model": model},
    )
    if not rows:
        return []
    forget = " && ".join(
        f"warehouse forget {row['source_id']}" for row in rows[:_MOST_NAMED]
    )
    return [
        f"{_some([row['path'] for row in rows])} became repeats of one model, {model}, "
        f"which you named for all; if each is another model: {forget}, then name each "
        "by itself, or with a mapping from its file's name (`warehouse mapping FILE` "
        "offers the pattern)"
    ]


def last_ids(store: Store) -> dict[str, int]:
    """The last id of what notes ask about: which of it is new."""
    columns = ", ".join(
        f"(select coalesce(max(id), 0) from {kind}) as {kind}"
        for kind in ("prompt", "model", "benchmark")
    )
    return dict(store.rows(f"select {columns}")[0])


def notes_on_names(
    store: Store, before: Mapping[str, int], after: Mapping[str, int]
) -> list[str]:
    """Which new models and benchmarks differ from others in nothing but how their names
    are written."""
    notes = []
    for kind in ("model", "benchmark"):
        alike: dict[str, list[Mapping[str, Any]]] = {}
        select = f"select id, name from {kind} where canonical_id is null order by id"
        for row in store.rows(select) if after[kind] > before[kind] else ():
            alike.setdefault(_plain_name(row["name"]), []).append(row)
        twins = [
            found
            for found in alike.values()
            if len(found) > 1 and found[-1]["id"] > before[kind]
        ]
        names = []
        for found in twins:
            own = [str(row["name"]) for row in found]
            owners = {name.casefold().rpartition("/")[0] for name in own}
            if len(owners - {""}) < 2:
                names.append(own)
        if names:
            way = (
                f"warehouse {kind}s alias {shlex.quote(names[0][-1])} "
                f"{shlex.quote(names[0][0])}"
            )
            pairs = [f"{found[-1]!r} and {found[0]!r}" for found in names]
            shown = _some(pairs)
            notes.append(
                f"{kind}s that differ only in how they are written: {shown}; if two "
                f"are one: {way}"
            )
    return notes


def _plain_name(name: str) -> str:
    """A name without its organisation, case and marks, but for those between digits
    (``3-5`` is ``3.5``, not ``35``) and those that tell apart: ``humaneval+`` is not
    ``humaneval``."""
    last = unicodedata.normalize("NFKC", name).casefold().rpartition("/")[2]
    marks = r"(?:[^\w+#]|_)+"
    return re.sub(
        rf"(?<=\d){marks}(?=\d)",
        ".",
        re.sub(rf"{marks}(?!\d)|(?<!\d){marks}", "", last),
    )


def notes_on_ids(
    store: Store, reports: Sequence[LoadReport], before: int, after: int
) -> list[str]:
    """Which benchmarks have prompts after those ``before`` whose ids others write
    otherwise (``1`` and ``1.0``), where that makes at least half of what they have more
    than their largest run; which have models that share none."""
    new = [
        min(report.run_ids) for report in reports if report.run_ids and report.n_runs
    ]
    if (
        not new
        or after == before
        or not store.rows(query_text("store", "may_be_apart"), {"last_prompt": before})
    ):
        return []
    alike: dict[tuple[str, str, int], dict[str, dict[str, int]]] = {}
    sizes = {"last_prompt": before, "most_prompts": _MOST_PROMPTS}
    for row in store.rows(query_text("store", "prompt_ids_apart"), sizes):
        by_plain = alike.setdefault((row["benchmark"], row["split"], row["n_more"]), {})
        keys = by_plain.setdefault(_plain(row["key"]), {})
        keys.setdefault(row["key"], row["id"])
    notes: dict[tuple[str, str], str] = {}
    for (benchmark, split, n_more), by_plain in alike.items():
        twins = [ids for ids in by_plain.values() if len(ids) > 1]
        if 2 * len(twins) < max(n_more, 1):
            continue
        (both,) = store.rows(
            query_text("store", "runs_with_both"), {"prompts": [*twins[0].values()]}
        )
        if not both["n"]:
            notes[benchmark, split] = _on_ids(benchmark, len(twins), *sorted(twins[0]))
    of_split: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in store.rows(
        query_text("store", "models_apart"),
        {"first_run": min(new), "last_prompt": before},
    ):
        of_split.setdefault((row["benchmark"], row["split"]), []).append(row)
    for benchmark_split, rows in of_split.items():
        pair = _lone_pair(rows)
        if pair is not None:
            notes.setdefault(benchmark_split, _on_lone(*pair, sum(map(_is_lone, rows))))
    return [*notes.values()]


#: Prompts of a model below which others may well be others by design.
_FEWEST_ALONE = 5


def _lone_pair(
    rows: Sequence[Mapping[str, Any]],
) -> tuple[Mapping[str, Any], Mapping[str, Any]] | None:
    """The first model that shares next to no prompt, and one that has as many."""
    for lone in filter(_is_lone, rows):
        for other in rows:
            if lone is not other and _are_of_one_size(lone, other):
                return lone, other
    return None


def _is_lone(row: Mapping[str, Any]) -> bool:
    """True if a model has next to no prompt that another has."""
    return bool(
        row["n_found"] >= _FEWEST_ALONE and 20 * row["n_own"] >= 19 * row["n_found"]
    )


def _are_of_one_size(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    """True if two models have about as many prompts, as they have of the same
    questions."""
    few, many = sorted((a["n_found"], b["n_found"]))
    return bool(5 * few >= 4 * many)


def _on_lone(row: Mapping[str, Any], other: Mapping[str, Any], n_lone: int) -> str:
    more = ""
    if n_lone > 2:
        more = f", nor do {n_lone - 2} more models with others"
    return (
        f"{row['benchmark']}: {row['model']} ({row['n_found']} prompts) and "
        f"{other['model']} ({other['n_found']}) share next to none{more}, so that "
        "nothing compares them; if these are the same questions, their ids do not say "
        "so (rows numbered through all models, ids drawn for each run, a text that the "
        "model wrote): `warehouse forget` the sources, and ingest again with a mapping "
        "that has another prompt_id or key"
    )


def _plain(key: str) -> str:
    """An id without how it is written: blanks, case, zeros before it, ``.0`` behind it,
    forms of letters."""
    return re.sub(
        r"^0+(?=.)|[.]0+$", "", unicodedata.normalize("NFKC", key).strip().casefold()
    )


def _on_ids(benchmark: str, n: int, one: str, other: str, *_: str) -> str:
    return (
        f"{benchmark}: {n} prompts have ids that others write otherwise, such as {one!r} and {other!r}: models share no"
        " prompt by these; `warehouse forget` one of the sources, and ingest it again with a mapping that writes them"
        " alike (`prompt_id = { path = …, pattern = … }`)"
    )


#: Prompts of a benchmark up to which their ids are held against one another.
_MOST_PROMPTS = 100_000
#: Runs that were there before whose scores are held against new ones.
_MOST_BEFORE = 20


def notes_on_scales(store: Store, reports: Sequence[LoadReport]) -> list[str]:
    """Which sources give one metric of one benchmark as shares of 1 and which, it
    seems, in per cent, where one of them is new."""
    new = set(
        chain.from_iterable(report.run_ids for report in reports if report.n_runs)
    )
    if not new or not store.rows(query_text("store", "may_share"))[0]["has_unbounded"]:
        return []
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
        for key, shares, percents in mixed[:_MOST_NAMED]
    ]
    if len(mixed) > _MOST_NAMED:
        notes.append(f"metrics on two scales: {len(mixed) - _MOST_NAMED} more")
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
        f"warehouse forget {number}" for number in [*other][:_MOST_NAMED]
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
        f"{metric} on {benchmark}: scores from 0 to 1 in {_some([*given.values()])}, "
        f"from {low:g} to {high:g} in {_some([*other.values()])}: if these are per "
        f"cent, nothing compares the two; {forget}, then ingest again with {again}"
    )


def _on_corrected(path: str, ids: Sequence[int]) -> str:
    noun = "source"
    if len(ids) > 1:
        noun = "sources"
    sources = f"{noun} {', '.join(map(str, ids))}"
    forget = " && ".join(f"warehouse forget {number}" for number in ids)
    return (
        f"{path} was read before with other content ({sources}): all count, as "
        f"repeats; if this corrects it: {forget}"
    )


def _some(parts: Sequence[str]) -> str:
    more = []
    if len(parts) > _MOST_NAMED:
        more = [f"{len(parts) - _MOST_NAMED} more"]
    return ", ".join([*parts[:_MOST_NAMED], *more])
