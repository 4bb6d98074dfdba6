"""What a store says, by natural keys only: two stores are the same if their pictures
are equal."""

from __future__ import annotations

import json
from typing import Any

from warehouse.analysis.leaderboard.answer import leaderboard
from warehouse.errors import MisuseError
from warehouse.store.connection import Store

_RUNS = """
select run.condition_key, run.content_digest, run.status, run.n_found, run.n_scores
from run
where run.superseded_by is null
"""
_PROMPTS = """
select benchmark.name, prompt.split, prompt.key, prompt.occurrence, prompt.text_hash,
    prompt.target, prompt.choices, prompt.metadata
from prompt
join benchmark on benchmark.id = prompt.benchmark_id
"""
_METRICS = """
select benchmark.name as benchmark, metric.name as metric, metric.filter, scorer.name as scorer,
    scorer.judge_model, scorer.parameters_key, metric.unit, metric.link,
    described.kind, described.low, described.high,
    described.higher_is_better, described.chance_level, headline_metric.is_default,
    headline_metric.n_runs
from benchmark_metric described
join benchmark on benchmark.id = described.benchmark_id
join metric on metric.id = described.metric_id
join scorer on scorer.id = metric.scorer_id
join headline_metric on headline_metric.benchmark_id = described.benchmark_id
    and headline_metric.metric_id = described.metric_id
"""
_CLUSTERS = """
select benchmark.name as benchmark, clustering.name, clustering.kind, cluster.label, prompt.split,
    prompt.key, prompt.occurrence
from prompt_cluster
join clustering on clustering.id = prompt_cluster.clustering_id
join cluster on cluster.id = prompt_cluster.cluster_id
join prompt on prompt.id = prompt_cluster.prompt_id
join benchmark on benchmark.id = clustering.benchmark_id
"""
_BENCHMARKS = """
select benchmark.name, parent.name as parent, benchmark.fingerprint, clustering.name as clustering
from benchmark
left join benchmark parent on parent.id = benchmark.parent_id
left join clustering on clustering.id = benchmark.default_clustering_id
"""
_MODELS = "select name, family, developer, parameter_count from model"

#: What draws at random, in the order in which prompts are stored: not the same to the
#: last digit.
_BY_CHANCE = {"rank_low", "rank_high", "run_ids"}

Picture = dict[str, Any]


def picture(store: Store, *, boards: int | None = None) -> Picture:
    """Runs, prompts, headline metrics, clusterings and leaderboards, without any id.

    Args:
        boards: leaderboards at most, spread over the benchmarks by name; default: all.
    """
    return {
        "runs": _rows(store, _RUNS),
        "prompts": _prompts(store),
        "metrics": _rows(store, _METRICS),
        "clusters": _rows(store, _CLUSTERS),
        "benchmarks": _rows(store, _BENCHMARKS),
        "models": _rows(store, _MODELS),
        "figures": _rows(
            store, "select * from score_summary", drop=("run_id", "metric_id")
        ),
        "leaderboards": _boards(store, boards),
    }


def differences(one: Picture, other: Picture) -> list[str]:
    """What is in one picture only, in words; empty if they are equal."""
    lines = []
    for part, rows in one.items():
        mine, theirs = set(rows), set(other[part])
        lines += [f"{part}: only first: {row}" for row in sorted(mine - theirs)[:3]]
        lines += [f"{part}: only second: {row}" for row in sorted(theirs - mine)[:3]]
    return lines


def _rows(store: Store, sql: str, drop: tuple[str, ...] = ()) -> list[str]:
    return sorted(
        _text({key: _rounded(row[key]) for key in row if key not in drop})
        for row in store.arrow(sql).to_pylist()
    )


def _text(row: Any) -> str:
    return json.dumps(row, sort_keys=True, default=str)


def _rounded(value: Any) -> Any:
    return float(f"{value:.9g}") if isinstance(value, float) else value


def _prompts(store: Store) -> list[str]:
    rows = store.arrow(_PROMPTS).to_pylist()
    for row in rows:
        for name in ("choices", "metadata"):
            row[name] = json.loads(row[name]) if row[name] else None
        if isinstance(row["metadata"], dict):  # null: not known
            row["metadata"] = {
                k: v for k, v in row["metadata"].items() if v is not None
            } or None
    return sorted(map(_text, rows))


def _boards(store: Store, most: int | None) -> list[str]:
    names = sorted(
        store.arrow("select distinct benchmark from run_current").column(0).to_pylist()
    )
    names = names[:: -(-len(names) // most)] if most else names
    lines = []
    for name in names:
        try:
            board = leaderboard(store, name, n_resamples=0)
        except MisuseError as error:
            lines.append(f"{name}: {error}")
            continue
        head = [
            board.benchmark,
            board.metric,
            board.higher_is_better,
            *map(str, board.others),
        ]
        lines.append(_text([*head, *board.notes, *board.basis]))
        for row in board.rows:
            shown = {
                key: _rounded(value)
                for key, value in row.to_dict().items()
                if key not in _BY_CHANCE
            }
            lines.append(_text([name, shown]))
    return sorted(lines)
