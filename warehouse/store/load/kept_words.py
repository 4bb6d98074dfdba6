"""Words of people on what a source speaks of, kept where the source is read anew: other
names, headline metrics, directions and bounds, clusterings by a field, linked prompts;
tags, remarks and invalidations of runs.

A reading that replaces another takes out all that rested on it, and what people said
goes with that. It is kept by the names of what it speaks of, and given back where these
are there again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from warehouse.store.alchemy import sa
from warehouse.store.connection import Store
from warehouse.store.curate import aliases
from warehouse.store.curate.field_clusters import declare, extend
from warehouse.store.load import chains, run_tags
from warehouse.store.load.dimensions import allocate
from warehouse.store.load.statements import BOUNDS, EARLIER
from warehouse.store.schema.later import tables
from warehouse.store.sql.query_files import query_text

#: What names a prompt: benchmark, split, key and occurrence.
PromptName = tuple[str, str, str, int]


@dataclass(frozen=True)
class RunWords:
    """Words of people on a run, with what tells which it is."""

    row: Any  #: its row, as :func:`_runs_of` has it.
    tags: dict[str, list[str]]  #: that they put on it and took off it.


@dataclass
class KeptWords:
    """Words of people, by names."""

    #: what each name is shown as.
    names: dict[aliases.Kind, dict[str, str]] = field(default_factory=dict)
    #: label of the metric, by benchmark.
    headlines: dict[str, str] = field(default_factory=dict)
    #: benchmark, label of the metric, direction.
    directions: list[tuple[str, str, bool]] = field(default_factory=list)
    #: benchmark, label of the metric, lower and upper bound.
    bounds: list[tuple[str, str, float, float]] = field(default_factory=list)
    #: benchmark, fields, whether it is the default one.
    clusterings: list[tuple[str, list[str], bool]] = field(default_factory=list)
    #: with how each was found.
    links: list[tuple[PromptName, PromptName, str]] = field(default_factory=list)
    runs: list[RunWords] = field(default_factory=list)


def words_of_people(connection: sa.Connection, source_ids: Sequence[int]) -> KeptWords:
    """Words of people, before some sources are taken out.

    Args:
        connection: with an open transaction.
        source_ids: of the sources.
    """
    words = KeptWords(
        {kind: aliases.said_names(connection, kind) for kind in aliases.KINDS}
    )
    benchmark = tables.benchmark
    named = {
        row.id: row.name
        for row in connection.execute(sa.select(benchmark.c.id, benchmark.c.name))
    }
    query = sa.select(benchmark.c.name, benchmark.c.headline_metric).where(
        benchmark.c.headline_metric.is_not(None)
    )
    words.headlines = {
        row.name: row.headline_metric for row in connection.execute(query)
    }
    _keep_metrics(connection, words, named)
    words.clusterings = _clusterings(connection, named)
    runs = _runs_of(connection, source_ids)
    words.links = _links(connection, named, sorted({row.benchmark_id for row in runs}))
    is_earlier = _is_earlier(connection, source_ids)
    for row in runs:
        tags = run_tags.of_people(connection, row.id)
        if is_earlier and not tags and row.tags:
            tags = {
                "added": list(row.tags)
            }  # of these it is not known who put them there
        if tags or row.note or row.status == "invalidated":
            words.runs.append(RunWords(row, tags))
    return words


def _is_earlier(connection: sa.Connection, source_ids: Sequence[int]) -> bool:
    """True if a version of this program has loaded some of the sources that did not
    keep who had said what."""
    table = tables.statement
    query = sa.select(table.c.source_id).where(
        table.c.about == EARLIER, table.c.source_id.in_(source_ids)
    )
    return connection.execute(query.limit(1)).first() is not None


def _keep_metrics(
    connection: sa.Connection, words: KeptWords, named: dict[int, str]
) -> None:
    described = tables.benchmark_metric
    metric = tables.metric
    said = tables.statement
    bounds = dict(
        connection.execute(
            sa.select(said.c.subject_id, said.c.said).where(
                said.c.about == BOUNDS, said.c.source_id.is_(None)
            )
        ).all()
    )
    columns = (
        described.c.id,
        described.c.benchmark_id,
        described.c.higher_is_better,
        described.c.direction_by,
    )
    query = sa.select(*columns, metric.c.name, metric.c.filter).join(
        metric, metric.c.id == described.c.metric_id
    )
    for row in connection.execute(query):
        if row.filter:
            label = f"{row.name},{row.filter}"
        else:
            label = row.name
        if row.direction_by == "person":
            words.directions.append(
                (named[row.benchmark_id], label, row.higher_is_better)
            )
        if row.id in bounds:
            low, high = bounds[row.id]
            words.bounds.append((named[row.benchmark_id], label, low, high))


def _clusterings(
    connection: sa.Connection, named: dict[int, str]
) -> list[tuple[str, list[str], bool]]:
    """Clusterings by fields: benchmark, fields, whether it is the default one."""
    clustering, benchmark = tables.clustering, tables.benchmark
    query = sa.select(benchmark.c.default_clustering_id).where(
        benchmark.c.default_clustering_id.is_not(None)
    )
    defaults = {row[0] for row in connection.execute(query)}
    columns = (clustering.c.id, clustering.c.benchmark_id, clustering.c.parameters)
    rows = connection.execute(sa.select(*columns).where(clustering.c.kind == "source"))
    return [
        (named[row.benchmark_id], list(row.parameters["fields"]), row.id in defaults)
        for row in rows
    ]


def _links(
    connection: sa.Connection, named: dict[int, str], benchmarks: Sequence[int]
) -> list[tuple[PromptName, PromptName, str]]:
    """The links of prompts of some benchmarks."""
    link = tables.prompt_link
    here = tables.prompt.alias()
    there = tables.prompt.alias()
    ends = (*_name_columns(here, "a"), *_name_columns(there, "b"))
    query = (
        sa.select(link.c.method, *ends)
        .join(here, here.c.id == link.c.prompt_id)
        .join(there, there.c.id == link.c.canonical_prompt_id)
        .where(
            here.c.benchmark_id.in_(benchmarks) | there.c.benchmark_id.in_(benchmarks)
        )
    )
    found = []
    for method, *parts in connection.execute(query):
        first = parts[:4]
        second = parts[4:]
        one = (named[first[0]], *first[1:])
        other = (named[second[0]], *second[1:])
        found.append((one, other, method))
    return found


def _name_columns(prompt: Any, prefix: str) -> list[Any]:
    names = ("benchmark_id", "split", "key", "occurrence")
    return [prompt.c[name].label(f"{prefix}_{name}") for name in names]


def _runs_of(connection: sa.Connection, source_ids: Sequence[int]) -> list[Any]:
    """The runs that some sources hold, with the names of what they are of."""
    run, links = tables.run, tables.run_source
    columns = (
        "id",
        "benchmark_id",
        "split",
        "content_digest",
        "run_key",
        "execution_key",
        "tags",
        "note",
        "status",
        "status_reason",
    )
    query = (
        sa.select(
            *(run.c[name] for name in columns),
            tables.model.c.name.label("model"),
            tables.benchmark.c.name,
        )
        .join(tables.benchmark, tables.benchmark.c.id == run.c.benchmark_id)
        .join(tables.checkpoint, tables.checkpoint.c.id == run.c.checkpoint_id)
        .join(
            tables.training_seed,
            tables.training_seed.c.id == tables.checkpoint.c.training_seed_id,
        )
        .join(tables.model, tables.model.c.id == tables.training_seed.c.model_id)
        .where(
            run.c.id.in_(
                sa.select(links.c.run_id).where(links.c.source_id.in_(source_ids))
            )
        )
        .order_by(run.c.id)
    )
    return list(connection.execute(query))


def give_back(
    store: Store, connection: sa.Connection, words: KeptWords, source_ids: Sequence[int]
) -> list[str]:
    """Say again what people had said of what is there again, once other sources stand
    in the place of some.

    Args:
        store: the store that is written to.
        connection: with the open transaction of the load.
        words: as :func:`words_of_people` gave them.
        source_ids: of the sources that were read now.

    Returns:
        notes on runs of which nothing that is there now is the like.
    """
    for kind, names in words.names.items():
        aliases.say_names_again(store, connection, kind, names)
    benchmark = tables.benchmark
    columns = (
        benchmark.c.id,
        benchmark.c.name,
        benchmark.c.canonical_id,
        benchmark.c.headline_metric,
    )
    there = {row.name: row for row in connection.execute(sa.select(*columns))}
    _choose_headlines_again(connection, words.headlines, there)
    _describe_metrics_again(connection, words, there)
    _cluster_again(store, connection, words.clusterings, there)
    _link_again(connection, words.links, {name: row.id for name, row in there.items()})
    return _say_of_runs(connection, words.runs, _runs_of(connection, source_ids))


def _choose_headlines_again(
    connection: sa.Connection, headlines: dict[str, str], there: dict[str, Any]
) -> None:
    """Say again which metric is the headline of benchmarks that are there and have none
    said."""
    benchmark = tables.benchmark
    for name, label in headlines.items():
        if name in there and there[name].headline_metric is None:
            change = sa.update(benchmark).where(benchmark.c.id == there[name].id)
            connection.execute(change.values(headline_metric=label))


def _describe_metrics_again(
    connection: sa.Connection, words: KeptWords, there: dict[str, Any]
) -> None:
    """Say again which way metrics point and what their bounds are."""
    shown = {name: row.canonical_id or row.id for name, row in there.items()}
    for name, label, higher in words.directions:
        if name in there:
            values = {"benchmark": shown[name], "metric": label, "higher": higher}
            connection.execute(sa.text(query_text("store", "direct_metric")), values)
    for name, label, low, high in words.bounds:
        if name in there:
            of_metric = {"benchmark": shown[name], "metric": label}
            connection.execute(
                sa.text(query_text("store", "bound_metric")),
                {**of_metric, "low": low, "high": high},
            )
            connection.execute(sa.text(query_text("store", "clear_bounds")), of_metric)
            connection.execute(sa.text(query_text("store", "said_bounds")), of_metric)


def _cluster_again(
    store: Store,
    connection: sa.Connection,
    clusterings: Sequence[tuple[str, list[str], bool]],
    there: dict[str, Any],
) -> None:
    """Cluster benchmarks that are there by the fields that a person named, where they
    are not."""
    names = {row.id: name for name, row in there.items()}
    made = {(name, *fields) for name, fields, _ in _clusterings(connection, names)}
    for name, fields, is_default in clusterings:
        if name in there and (name, *fields) not in made:
            declare(connection, [there[name].id], fields, default=is_default)
            extend(store, [there[name].id])


def _link_again(
    connection: sa.Connection,
    links: Sequence[tuple[PromptName, PromptName, str]],
    benchmarks: dict[str, int],
) -> None:
    if not links:
        return
    link, prompt = tables.prompt_link, tables.prompt
    named: set[str] = set()
    for first, second, _ in links:
        named |= {first[0], second[0]}
    wanted = {benchmarks[name] for name in named if name in benchmarks}
    columns = (
        prompt.c.id,
        prompt.c.benchmark_id,
        prompt.c.split,
        prompt.c.key,
        prompt.c.occurrence,
    )
    query = sa.select(*columns).where(prompt.c.benchmark_id.in_(sorted(wanted)))
    ids = {tuple(row[1:]): int(row[0]) for row in connection.execute(query)}
    linked = {row[0] for row in connection.execute(sa.select(link.c.prompt_id))}
    rows = []
    for first, second, method in links:
        ends = [
            ids.get((benchmarks.get(name), *rest)) for name, *rest in (first, second)
        ]
        if None not in ends and ends[0] not in linked:
            rows.append(
                {"prompt_id": ends[0], "canonical_prompt_id": ends[1], "method": method}
            )
    if rows:
        number = allocate(connection, "prompt_link", len(rows))
        connection.execute(
            sa.insert(link),
            [{"id": number + place, **row} for place, row in enumerate(rows)],
        )


def _say_of_runs(
    connection: sa.Connection, words: Sequence[RunWords], runs: Sequence[Any]
) -> list[str]:
    notes = []
    for said in words:
        like = _like(said.row, runs)
        if like is None:
            notes.append(_lost(said))
            continue
        if said.tags:
            run_tags.say(
                connection,
                like.id,
                said.tags.get("added", []),
                said.tags.get("removed", []),
            )
        if said.row.note and not like.note:
            connection.execute(
                sa.update(tables.run)
                .where(tables.run.c.id == like.id)
                .values(note=said.row.note)
            )
        if said.row.status == "invalidated" and like.status != "invalidated":
            chains.invalidate(connection, like, said.row.status_reason)
    return notes


def _like(old: Any, runs: Sequence[Any]) -> Any | None:
    """The run that is read now in place of one that was: of the same values, else under
    the same id of the tool."""
    of_same = [
        run
        for run in runs
        if (run.model, run.name, run.split) == (old.model, old.name, old.split)
    ]
    same_values = [run for run in of_same if run.content_digest == old.content_digest]
    same_execution = [
        run for run in same_values if run.execution_key == old.execution_key
    ]
    same_id = [
        run for run in of_same if old.run_key is not None and run.run_key == old.run_key
    ]
    renamed = [
        run
        for run in runs
        if (run.name, run.content_digest) == (old.name, old.content_digest)
    ]
    for alike in (same_execution, same_values, same_id, renamed):
        if len(alike) == 1:
            return alike[0]
    return None


def _lost(said: RunWords) -> str:
    parts = []
    if said.tags.get("added"):
        parts.append(f"the tags {', '.join(said.tags['added'])}")
    if said.row.note:
        parts.append("a remark")
    if said.row.status == "invalidated":
        parts.append(f"been invalidated ({said.row.status_reason})")
    what = " and ".join(parts) or "tags taken off"
    return (
        f"run {said.row.id} of {said.row.model} on {said.row.name} had {what}; no run "
        "that is read now is surely the same: say it again (warehouse fix tag run:ID "
        "NAME, warehouse fix invalidate run:ID --reason TEXT)"
    )
