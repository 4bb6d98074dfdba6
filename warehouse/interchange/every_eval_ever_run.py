"""Current runs of the store as the header fields that they came from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from warehouse.records import parse_json
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

_BENCHMARKS = "select id, name, parent_id from benchmark"
#: Columns of a run that are no header fields.
_APART = ("id", "condition_key", "content_digest", "n_scores", "benchmark_id", "position", "position_unit")
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
    tree = {row["id"]: row for row in store.rows(_BENCHMARKS)}
    for row in store.rows(query_text("interchange", "runs")):
        bound = {"run": row["id"], "benchmark": row["benchmark_id"]}
        metrics = store.rows(query_text("interchange", "metrics_of_run"), bound)
        published = store.rows(query_text("interchange", "published_of_run"), {"run": row["id"]})
        header = _header(row) | {
            "suite": _suite(tree, row["benchmark_id"]),
            "metrics": [_known(item, "id") for item in metrics],
            "published": [_known(item, "metric_id") for item in published],
        }
        yield Run(row["id"], header, metrics, published, row["condition_key"], row["content_digest"])


def parsed(value: Any) -> Any:
    """A JSON column: text on one engine, parsed already on another."""
    return parse_json(value) if isinstance(value, str) else value


def _header(row: Row) -> Row:
    header = {name: parsed(value) if name in _JSON else value for name, value in row.items()}
    unit, position = header["position_unit"], header["position"]
    if unit in ("step", "epoch") and position is not None:
        header[unit] = int(position) if unit == "step" else position
    if header["started_at"] is not None:
        header["started_at"] = header["started_at"].isoformat()
    kept = {name: value for name, value in header.items() if name not in _APART}
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
    known = {name: value for name, value in item.items() if name != own and value is not None}
    if "scorer_parameters" in known:
        known["scorer_parameters"] = parsed(known["scorer_parameters"]) or {}
    return known
