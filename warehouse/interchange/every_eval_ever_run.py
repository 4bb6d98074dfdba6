"""Current runs of the store as the header fields that they came from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from warehouse.records import parse_json
from warehouse.store.connection import Store

_RUNS = """
select run.id, run.split, run.task_version, run.benchmark_version, run.formulation, run.fewshot,
    run.fewshot_seed, run.template_hash, run.system_prompt_hash, run.temperature, run.top_p,
    run.max_tokens, run.reasoning_effort, run.sampling_seed, run.sampling, run.endpoint,
    run.opponent, run.configuration, run.n_benchmark, run.n_requested, run.started_at, run.status,
    run.tags, run.note, run.condition_key, run.content_digest, run.n_scores,
    run_group.harness, run_group.harness_version, run_group.harness_run_id as run_id,
    run_group.commit_hash as harness_commit, run_group.hardware, run_group.cost,
    model.name as model, model.family, model.developer, model.parameter_count,
    training_seed.label as training_seed, training_seed.recipe,
    training_seed.initialisation_seed, training_seed.data_order_seed,
    training_seed.hyperparameters,
    checkpoint.position, checkpoint.position_unit, checkpoint.tokens, checkpoint.revision,
    checkpoint.base_checkpoint, checkpoint.is_final,
    agent.name as agent, agent.version as agent_version, agent.parameters as agent_parameters,
    benchmark.name as benchmark, benchmark.dataset_revision, run.benchmark_id
from run_current
join run on run.id = run_current.run_id
join run_group on run_group.id = run.run_group_id
join checkpoint on checkpoint.id = run.checkpoint_id
join training_seed on training_seed.id = checkpoint.training_seed_id
join model on model.id = training_seed.model_id
join agent on agent.id = run.agent_id
join benchmark on benchmark.id = run.benchmark_id
order by run.id nulls last
"""
_BENCHMARKS = "select id, name, parent_id from benchmark"
_METRICS = """
select metric.id, metric.name, metric.filter, metric.unit, metric.link, scorer.name as scorer,
    scorer.kind as scorer_kind, scorer.judge_model, scorer.parameters as scorer_parameters,
    benchmark_metric.kind, benchmark_metric.low, benchmark_metric.high,
    benchmark_metric.higher_is_better, benchmark_metric.chance_level, headline_metric.is_default
from metric
join scorer on scorer.id = metric.scorer_id
left join benchmark_metric on benchmark_metric.metric_id = metric.id
    and benchmark_metric.benchmark_id = :benchmark
left join headline_metric on headline_metric.metric_id = metric.id
    and headline_metric.benchmark_id = :benchmark
where metric.id in (
    select metric_id from score where run_id = :run
    union select metric_id from published_score where run_id = :run)
order by metric.id nulls last
"""
_PUBLISHED = """
select distinct metric.id as metric_id, metric.name as metric, metric.filter, fact.statistic,
    fact.perturbation, fact.split, fact.value, fact.standard_error, fact.n, fact.raw
from published_score fact
join metric on metric.id = fact.metric_id
where fact.run_id = :run
order by metric.id nulls last, fact.statistic nulls last, fact.perturbation nulls last
"""
#: Columns of a run that are no header fields.
_APART = ("id", "condition_key", "content_digest", "n_scores", "benchmark_id", "position",
          "position_unit")  # fmt: skip
_JSON = ("sampling", "configuration", "tags", "hyperparameters", "agent_parameters")

Row = dict[str, Any]


@dataclass(frozen=True)
class Run:
    """One current run.

    Attributes:
        id: id of the run in this store.
        header: the fields of its :class:`warehouse.records.RunHeader`, without those of no value.
        metrics: its metrics, each with its id.
        published: figures that its source publishes, each with the id of its metric.
    """

    id: int
    header: Row
    metrics: list[Row]
    published: list[Row]
    condition_key: str
    content_digest: str

    @property
    def model_id(self) -> str:
        """The model as ``developer/name``."""
        name = str(self.header["model"]).strip("/") or "unknown"
        return name if "/" in name else f"{self.header.get('developer') or 'unknown'}/{name}"


def runs_of(store: Store) -> Iterator[Run]:
    """All current runs, in the order in which they were read."""
    tree = {row["id"]: row for row in store.arrow(_BENCHMARKS).to_pylist()}
    for row in store.arrow(_RUNS).to_pylist():
        bound = {"run": row["id"], "benchmark": row["benchmark_id"]}
        metrics = store.arrow(_METRICS, bound).to_pylist()
        published = store.arrow(_PUBLISHED, {"run": row["id"]}).to_pylist()
        header = _header(row) | {
            "suite": _suite(tree, row["benchmark_id"]),
            "metrics": [_known(item, "id") for item in metrics],
            "published": [_known(item, "metric_id") for item in published],
        }
        yield Run(row["id"], header, metrics, published, row["condition_key"],
                  row["content_digest"])  # fmt: skip


def parsed(value: Any) -> Any:
    """A JSON column: text on one engine, parsed already on another."""
    return parse_json(value) if isinstance(value, str) else value


def _header(row: Row) -> Row:
    found = {name: parsed(value) if name in _JSON else value for name, value in row.items()}
    unit, position = found["position_unit"], found["position"]
    if unit in ("step", "epoch") and position is not None:
        found[unit] = int(position) if unit == "step" else position
    if found["started_at"] is not None:
        found["started_at"] = found["started_at"].isoformat()
    kept = {name: value for name, value in found.items() if name not in _APART}
    # what may be empty in a header and is no field of no value there
    always = {name: kept[name] for name in ("harness", "model", "benchmark", "split")}
    return {name: value for name, value in kept.items() if value not in (None, "", {}, [])} | always


def _suite(tree: Mapping[int, Row], benchmark: int) -> list[str]:
    """Names of the groups above a benchmark, outermost first."""
    chain: list[str] = []
    parent = tree[benchmark]["parent_id"]
    while parent is not None and len(chain) < 32:
        chain.insert(0, tree[parent]["name"])
        parent = tree[parent]["parent_id"]
    return chain


def _known(item: Row, own: str) -> Row:
    found = {name: value for name, value in item.items() if name != own and value is not None}
    if "scorer_parameters" in found:
        found["scorer_parameters"] = parsed(found["scorer_parameters"]) or {}
    return found
