"""The facts of new runs, written in one transaction."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import sqlalchemy as sa

from warehouse.records import MetricSpec, PublishedScore, RunHeader, RunStatus
from warehouse.store import dialects, tables
from warehouse.store.decisions import Decision
from warehouse.store.dimensions import allocate
from warehouse.store.engine import Store
from warehouse.store.identity import digest, scorers_key, spec_of
from warehouse.store.ledger import readable
from warehouse.store.rows import append, as_arrow
from warehouse.store.staging import Measured
from warehouse.store.workbench import Workbench

if TYPE_CHECKING:
    from warehouse.store.loader import Part, _Load


def fingerprints(bench: Workbench) -> list[tuple[int, str]]:
    """Order-free fingerprint of the prompt set of each benchmark that has new prompts."""
    rows = bench.rows(
        "select benchmark_id, count(*), "
        "cast(sum(hash_64(concat_ws(chr(31), split, key, occurrence))) as varchar) "
        "from known_prompt where benchmark_id in (select benchmark_id from new_prompt) "
        "group by benchmark_id"
    )
    return [(benchmark_id, digest([n, total])) for benchmark_id, n, total in rows]


def insert_runs(
    connection: sa.Connection, state: _Load, fresh: Sequence[Decision], run_ids: Mapping[int, int]
) -> None:
    """Rows of ``run``, and the mark on the runs that they supersede."""
    append(
        connection, tables.run,
        [_run_row(state, decision, run_ids[decision.run]) for decision in fresh],
    )  # fmt: skip
    replaced = {old: run_ids[item.run] for item in fresh for old in item.supersedes}
    if replaced:
        connection.execute(
            sa.text(
                "update run set superseded_by = pair.new_id from (select"
                " unnest(cast(:old as bigint[])) as old_id,"
                " unnest(cast(:new as bigint[])) as new_id) as pair where run.id = pair.old_id"
            ),
            {"old": list(replaced), "new": list(replaced.values())},
        )


def _run_row(state: _Load, decision: Decision, run_id: int) -> dict[str, Any]:
    header = state.dump.runs[decision.run]
    found = state.measured.get(decision.run, Measured("", 0, 0, 0, 0))
    status, reason = _status(header, found.n_prompts, _cut(state, decision.run))
    return {
        **state.references[decision.run],
        **{name: getattr(header, name) for name in _COPIED},
        "id": run_id, "sampling": dict(header.sampling) or None,
        "configuration": dict(header.configuration) or None, "tags": list(header.tags) or None,
        "scorers_key": scorers_key(header), "n_found": found.n_prompts,
        "n_generations": found.n_generations, "n_choices": found.n_choices,
        "n_scores": found.n_scores, "status": status, "status_reason": reason,
        "superseded_by": decision.superseded_by,
        "condition_key": decision.condition_key, "run_key": decision.run_key,
        "content_digest": decision.content_digest,
    }  # fmt: skip


_COPIED = (
    "split", "task_version", "benchmark_version", "formulation", "fewshot", "fewshot_seed",
    "template_hash", "system_prompt_hash", "temperature", "top_p", "max_tokens",
    "reasoning_effort", "sampling_seed", "endpoint", "opponent", "n_benchmark", "n_requested",
    "started_at", "note",
)  # fmt: skip


def _cut(state: _Load, run: int) -> str | None:
    """Where a file of a run ends inside a row, if one does: of the run's own file, where the
    header names it, else of any file of the source."""
    part = state.part_of(run)
    places = [item.place for item in part.dump.rejections if item.is_cut]
    files = {header.place for header in part.dump.runs if header.place}
    own = state.dump.runs[run].place
    for place in places:
        named = [name for name in files if name in place]
        if not named or own in named:
            return place
    return None


def _status(header: RunHeader, n_found: int, cut: str | None) -> tuple[RunStatus, str | None]:
    """A run with fewer prompts than it declares is truncated, and one whose file was cut short."""
    declared = header.n_requested
    if header.status == "complete" and cut is not None:
        return "truncated", f"{cut}: the file ends inside a row"
    if header.status == "complete" and n_found and declared is not None and n_found < declared:
        return "truncated", f"{n_found} prompts found, {declared} declared"
    return header.status, None


#: (table, columns that stand under the same name in its scratch table, order of the rows)
_PUSHED = (
    ("generation",
     "prompt_id, variant_id, draw, prompt_hash, response_hash, extracted_answer, finish_reason,"
     " input_tokens, output_tokens, latency, cost, error, explanation",
     "run_id, prompt_id, variant_id, draw"),
    ("choice",
     "prompt_id, variant_id, draw, choice_index, loglikelihood, unconditional_loglikelihood,"
     " is_greedy, n_tokens, n_bytes, is_target",
     "run_id, prompt_id, variant_id, draw, choice_index"),
    ("score",
     "prompt_id, variant_id, draw, metric_id, value, weight, n_draws, raw, status, origin",
     "run_id, metric_id, prompt_id, variant_id, draw"),
    ("prompt_score",
     "prompt_id, metric_id, perturbation, value, weight, n_draws, within_variance, n_scored,"
     " n_unscored, is_binary",
     "run_id, metric_id, prompt_id, perturbation"),
)  # fmt: skip


def push(bench: Workbench, run_ids: Mapping[int, int]) -> None:
    """The facts and texts of new runs, sorted as the store keeps them."""
    if not run_ids:
        return
    bench.put("run_id", pa.table({
        "run": pa.array(list(run_ids), pa.int32()),
        "run_id": pa.array(list(run_ids.values()), pa.int64()),
    }))  # fmt: skip
    for table, columns, order in _PUSHED:
        if bench.value(f"select count(*) from stage_{table} semi join run_id using (run)"):
            bench.push(
                table,
                f"select run_id, {columns} from stage_{table} join run_id using (run) "
                f"order by {order}",
            )
    _push_texts(bench)


def push_run_metrics(
    connection: sa.Connection, bench: Workbench, state: _Load, run_ids: Mapping[int, int]
) -> None:
    """Which metrics each new run has figures of: prompts with a score, or a published figure."""
    counts: dict[tuple[int, int], int] = {}
    if state.n_rows:
        query = (
            "select run, metric_id, count(value) from stage_prompt_score group by run, metric_id"
            " order by run, metric_id"
        )
        counts = {(run, metric): n for run, metric, n in bench.rows(query) if run in run_ids}
    for run in run_ids:
        header = state.dump.runs[run]
        for item in header.published:
            counts.setdefault((run, state.metric_ids[spec_of(header, item.metric, item.filter)]), 0)
    append(connection, tables.run_metric, [
        {"run_id": run_ids[run], "metric_id": metric, "n_scored": n}
        for (run, metric), n in counts.items()
    ])  # fmt: skip


def _push_texts(bench: Workbench) -> None:
    """Those texts that the store does not hold yet."""
    select = "select sha256, text from stage_text"
    if bench.value("select count(*) from stage_fact anti join run_id using (run)"):
        said = "select {0}_hash from stage_generation semi join run_id using (run)"
        new = f"{said.format('prompt')} union all {said.format('response')}"
        select = f"{select} where sha256 in ({new})"  # not the texts of runs that are not stored
    bench.push_new("content", "sha256", select)


# --- metrics of a benchmark ------------------------------------------------------------------


def benchmark_metrics(store: Store, bench: Workbench, state: _Load, runs: Iterable[int]) -> None:
    """Which metrics each benchmark has, their range, and who calls which of them the headline, by
    runs of the dump: of one that is stored already it may know more, such as a direction.

    Most loads change nothing here; one that does keeps the others out until it has committed.
    """
    seen = _ranges(bench) if state.n_rows else {}
    held = _held(bench) if state.n_rows else {}
    by_id = {metric_id: spec for spec, metric_id in state.metric_ids.items()}
    wanted: dict[tuple[int, int], dict[str, Any]] = {}
    directions: dict[tuple[int, int], dict[int, bool]] = {}
    for run in runs:
        header, benchmark_id = state.dump.runs[run], state.references[run]["benchmark_id"]
        scored = [(by_id[metric_id], metric_id) for metric_id in held.get(run, ())]
        for spec, metric_id in _metrics_of(state, header, scored):
            row = _metric_row(spec, seen.get((run, metric_id)))
            key = (benchmark_id, metric_id)
            wanted[key] = _widened(wanted[key], row) if key in wanted else row
            if spec.higher_is_better is not None:
                directions.setdefault(key, {})[run] = spec.higher_is_better
    added, changed, stored = _changes(store.connection, wanted)
    if (added or changed) and dialects.is_shared(store.connection):
        store.dialect.exclusive(store.connection)
        added, changed, stored = _changes(store.connection, wanted)
    _write_metrics(store.connection, added, changed)
    _note_directions(state, by_id, directions, stored)


def _note_directions(
    state: _Load, specs: Mapping[int, MetricSpec],
    directions: Mapping[tuple[int, int], Mapping[int, bool]],
    stored: Mapping[tuple[int, int], bool | None],
) -> None:  # fmt: skip
    """A note to each source that says of a metric the opposite of what another one says.

    Args:
        specs: metrics by id.
        directions: by benchmark and metric, what each run says of it.
        stored: what the store has held of it until now.
    """
    for key, by_run in directions.items():
        words = {*by_run.values(), stored.get(key)} - {None}
        for run, is_higher in by_run.items() if len(words) == 2 else ():
            said, other = ("higher", "lower") if is_higher else ("lower", "higher")
            spec, header = specs[key[1]], state.dump.runs[run]
            label = f"{spec.name},{spec.filter}" if spec.filter else spec.name
            note = (
                f"{header.benchmark}, {label}: {said} is better here, {other} in another source:"
                " lower is better holds"
            )
            if note not in state.part_of(run).dump.notes:
                state.part_of(run).dump.notes.append(note)


def _ranges(bench: Workbench) -> dict[tuple[int, int], tuple[float, float, bool]]:
    """Smallest and largest value, and whether all are 0 or 1, by run and metric."""
    found = bench.rows(
        "select run, metric_id, min(value), max(value), bool_and(value in (0, 1)) "
        "from stage_score where value is not null group by run, metric_id"
    )
    return {(run, metric_id): (low, high, binary) for run, metric_id, low, high, binary in found}


def _held(bench: Workbench) -> dict[int, list[int]]:
    """The metrics that each run has scores of."""
    pairs = "select distinct run, metric_id from stage_score order by run, metric_id"
    held: dict[int, list[int]] = {}
    for run, metric_id in bench.rows(pairs):
        held.setdefault(run, []).append(metric_id)
    return held


def _metrics_of(
    state: _Load, header: RunHeader, scored: Sequence[tuple[MetricSpec, int]]
) -> list[tuple[MetricSpec, int]]:
    """Metrics of one run: those of its header, in that order, published ones, others scored."""
    named = [*header.metrics] + [
        spec_of(header, row.metric, row.filter) for row in header.published if not row.benchmark
    ]
    ids = [(spec, state.metric_ids[spec]) for spec in dict.fromkeys(named)
           if spec in state.metric_ids]  # fmt: skip
    listed = {metric_id for _, metric_id in ids}
    return ids + [(spec, metric_id) for spec, metric_id in scored if metric_id not in listed]


_KINDS = ("binary", "bounded", "continuous")


def _metric_row(spec: MetricSpec, seen: tuple[float, float, bool] | None) -> dict[str, Any]:
    kind, low, high = spec.kind, spec.low, spec.high
    inferred = seen if kind is None else None
    if kind is None and seen is not None:
        inside = seen[0] >= 0 and seen[1] <= 1
        kind = "binary" if seen[2] else "bounded" if inside else "continuous"
    if kind in ("binary", "bounded") and low is None and high is None:
        low, high = 0.0, 1.0
    return {
        "default_by": spec.default_by if spec.is_default else None, "kind": kind,
        "low": low, "high": high, "higher_is_better": spec.higher_is_better,
        "chance_level": spec.chance_level, "is_inferred": inferred is not None,
        "seen": None if inferred is None else inferred[:2],
    }  # fmt: skip


def _widened(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Two descriptions of one metric as one, the same in whatever order they came: the wider range,
    and what either knows else; of two words the mapping's, False and the smaller number."""
    merged = {key: value if value is not None else new.get(key) for key, value in old.items()}
    words = (old["default_by"], new["default_by"])
    merged["default_by"] = next((word for word in ("mapping", "tool") if word in words), None)
    for key in ("higher_is_better", "chance_level"):
        if None not in (old[key], new[key]):
            merged[key] = min(old[key], new[key])
    merged |= _wider_range(old, new)
    return merged | {"seen": _seen_by_both(old, new) if merged["is_inferred"] else None}


def _seen_by_both(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[float, float] | None:
    ranges = [one["seen"] for one in (old, new) if one.get("seen") is not None]
    lows, highs = zip(*ranges, strict=True) if ranges else ((), ())
    return (min(lows), max(highs)) if ranges else None


_RANGE = ("kind", "low", "high", "is_inferred")


def _wider_range(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Kind and bounds of two descriptions: a declared range stays where what was only seen lies
    in it."""
    if old["kind"] is None or new["kind"] is None:
        known = old if new["kind"] is None else new
        return {"is_inferred": known["is_inferred"]}
    is_inferred = bool(old["is_inferred"] and new["is_inferred"])
    wider = _KINDS.index(new["kind"]) - _KINDS.index(old["kind"])
    if wider == 0:
        if None in (old["low"], new["low"], old["high"], new["high"]):
            return {"is_inferred": is_inferred}
        return {"low": min(old["low"], new["low"]), "high": max(old["high"], new["high"]),
                "is_inferred": is_inferred}  # fmt: skip
    for seen, declared in ((new, old), (old, new)):
        if _fits(seen.get("seen"), declared):
            return {key: declared[key] for key in _RANGE}
    return {key: (new if wider > 0 else old)[key] for key in _RANGE}


def _fits(seen: tuple[float, float] | None, declared: Mapping[str, Any]) -> bool:
    """Whether a range that was only inferred lies in one that somebody has declared."""
    return (
        seen is not None and declared["kind"] == "bounded"
        and None not in (declared["low"], declared["high"])
        and bool(declared["low"] <= seen[0] and seen[1] <= declared["high"])
    )  # fmt: skip


def _changes(
    connection: sa.Connection, wanted: Mapping[tuple[int, int], dict[str, Any]]
) -> tuple[
    list[dict[str, Any]], dict[int, dict[str, Any]], dict[tuple[int, int], bool | None]
]:  # fmt: skip
    """Rows that the table lacks, values of its rows that change, by id, and the directions that it
    has held."""
    table = tables.benchmark_metric
    touched = sorted({key[0] for key in wanted})
    found = connection.execute(sa.select(table).where(table.c.benchmark_id.in_(touched)))
    stored = {(row.benchmark_id, row.metric_id): dict(row._mapping) for row in found}
    columns = ("default_by", "higher_is_better", "chance_level", *_RANGE)
    added: list[dict[str, Any]] = []
    changed: dict[int, dict[str, Any]] = {}
    for key, row in wanted.items():
        values = {name: row[name] for name in columns}
        if key not in stored:
            added.append({**values, "benchmark_id": key[0], "metric_id": key[1]})
            continue
        held = {name: stored[key][name] for name in columns}
        if held["is_inferred"] and held["kind"] == "continuous" and row["kind"] == "bounded":
            held["seen"] = _seen(connection, *key)
        merged = _widened(held, row)
        merged.pop("seen", None)
        if any(stored[key][name] != value for name, value in merged.items()):
            changed[int(stored[key]["id"])] = merged
    directions = {key: row["higher_is_better"] for key, row in stored.items()}
    return added, changed, directions


def _seen(connection: sa.Connection, benchmark: int, metric: int) -> tuple[float, float] | None:
    """Range of the stored values of a metric on a benchmark."""
    score, run = tables.score, tables.run
    low, high = connection.execute(
        sa.select(sa.func.min(score.c.value), sa.func.max(score.c.value))
        .join(run, run.c.id == score.c.run_id)
        .where(run.c.benchmark_id == benchmark, score.c.metric_id == metric)
    ).one()
    return None if low is None else (low, high)


def _write_metrics(
    connection: sa.Connection, added: Sequence[dict[str, Any]],
    changed: Mapping[int, dict[str, Any]],
) -> None:  # fmt: skip
    table = tables.benchmark_metric
    for row_id, values in changed.items():
        connection.execute(sa.update(table).where(table.c.id == row_id).values(values))
    if added:
        first = allocate(connection, table.name, len(added))
        append(connection, table, [{**row, "id": first + at} for at, row in enumerate(added)])


# --- published figures and the ledger --------------------------------------------------------


def publish(store: Store, bench: Workbench, state: _Load, run_ids: Mapping[int, int]) -> None:
    """Figures that the source publishes, of new runs and of its groups."""
    from warehouse.store.loader import group_spec

    rows: list[dict[str, Any]] = []
    for part in state.parts:
        fresh = [run for run in part.runs if run in run_ids]
        for run in fresh:
            header = state.dump.runs[run]
            for item in header.published:
                metric = state.metric_ids[spec_of(header, item.metric, item.filter)]
                rows.append(_published_row(state, part, item, run, run_ids[run], metric))
        for item in part.dump.published if fresh else ():
            metric = state.metric_ids[group_spec(part.dump, item)]
            rows.append(_published_row(state, part, item, part.runs[0], None, metric))
    if rows:
        bench.put("published_row", as_arrow(tables.published_score, rows))
        bench.push("published_score", "select * from published_row")
        bench.drop(["published_row"])


def _published_row(
    state: _Load, part: Part, item: PublishedScore, run: int, run_id: int | None, metric_id: int
) -> dict[str, Any]:
    references = state.references[run]
    benchmark = state.benchmark_ids.get(item.benchmark, references["benchmark_id"])
    value = _usable(item.value)
    return {
        "run_group_id": references["run_group_id"], "run_id": run_id,
        "source_id": part.source.id, "benchmark_id": benchmark, "metric_id": metric_id,
        "statistic": item.statistic, "perturbation": item.perturbation,
        "split": item.split or state.dump.runs[run].split, "value": value,
        "standard_error": _usable(item.standard_error), "n": item.n,
        "raw": str(item.value) if item.raw is None and value != item.value else item.raw,
    }  # fmt: skip


def _usable(value: float | None) -> float | None:
    """A figure that every engine can calculate with, as for scores (``stage_score.sql``)."""
    if value is None or not math.isfinite(value) or abs(value) >= 1e140:
        return None
    return value if abs(value) >= 1e-140 else 0.0


def link_sources(
    connection: sa.Connection, state: _Load, decisions: Sequence[Decision],
    run_ids: Mapping[int, int],
) -> None:  # fmt: skip
    """Which runs this source holds, new or seen again."""
    rows = []
    for decision in decisions:
        if decision.action == "skip":
            continue
        run_id = decision.same_as
        if run_id is None:
            place = decision.run if decision.same_in_dump is None else decision.same_in_dump
            run_id = run_ids[place]
        place_in_source = readable(state.dump.runs[decision.run].place) or None
        source_id = state.part_of(decision.run).source.id
        rows.append({"run_id": run_id, "source_id": source_id, "place": place_in_source})
    append(connection, tables.run_source, rows)
