"""The evaluation of a run: what was measured how, and its figures."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from warehouse.records import parse_json
from warehouse.records.canonical_json import sha256_of
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

#: Where details stand that the format has no field for.
DETAILS = "eval_warehouse"
SCHEMA_VERSION = "0.3.0"

_FIGURES = """
select metric_id, estimate, standard_error, n_prompts, n_clusters, n_draws, n_unscored, method
from score_summary where run_id = :run
"""
_AS_DETAILS = (
    *(
        "revision",
        "step",
        "epoch",
        "tokens",
        "base_checkpoint",
        "training_seed",
        "parameter_count",
        "agent",
    ),
    "agent_version",
)

Row = dict[str, Any]


def result_id(metric: str, filter_name: str) -> str:
    """Id of a result inside its evaluation: metric and filter."""
    if filter_name:
        return f"{metric},{filter_name}"
    return metric


def aggregate(store: Store, run: Run, now: float) -> Row:
    """The JSON document of a run.

    Args:
        now: time of the export, in Unix seconds.
    """
    figures = figures_of(store, run)
    results = (
        _result(run, metric, figures.get(metric["id"])) for metric in run.metrics
    )
    number = f"{run.model_id.replace('/', '_')}/{run.content_digest[:16]}"
    return _document(
        run,
        f"{run.header['benchmark']}/{number}",
        [*filter(None, results)],
        bool(figures),
        now,
    )


def _document(
    run: Run, evaluation_id: str, results: list[Row], has_samples: bool, now: float
) -> Row:
    """The evaluation of a run, or of several of one model by one tool, with its
    results."""
    header = run.header
    when = {}
    if "started_at" in header:
        when = {"evaluation_timestamp": f"{header['started_at']}+00:00"}
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": evaluation_id,
        "retrieved_timestamp": repr(now),
        **when,
        "source_metadata": {
            "source_name": header["harness"],
            "source_type": "evaluation_run" if has_samples else "documentation",
            "source_organization_name": "unknown",
            "evaluator_relationship": "other",
        },
        "eval_library": {
            "name": header["harness"],
            "version": header.get("harness_version") or "unknown",
            "additional_details": {
                DETAILS: json.dumps(header, sort_keys=True, allow_nan=False)
            },
        },
        "model_info": _model(run, run.model_id),
        "evaluation_results": results,
    }


def card_documents(
    store: Store, rows: Sequence[Mapping[str, Any]], now: float
) -> list[Row]:
    """The rows of a card as evaluations: one for what one tool measured, or publishes,
    of one checkpoint.

    Args:
        rows: of the card, by name of column, with figures.
        now: time of the export, in Unix seconds.
    """
    newest = {max(row["run_ids"]): row for row in rows}
    groups: dict[tuple[Any, ...], list[tuple[Run, Row]]] = {}
    for run in runs_of(store, set(newest)):
        row = newest[run.id]
        key = (
            row["harness"],
            row["checkpoint"],
            row["training_seed"],
            row["method"] == "published",
        )
        groups.setdefault(key, []).append((run, _card_result(run, row)))
    documents = []
    for (*_, published), members in groups.items():
        digest = sha256_of(" ".join(sorted(run.content_digest for run, _ in members)))[
            :16
        ]
        first = members[0][0]
        name = f"card/{first.model_id.replace('/', '_')}/{digest}"
        document = _document(
            first, name, [result for _, result in members], not published, now
        )
        del document["eval_library"][
            "additional_details"
        ]  # which is of one run, as its time is
        document.pop("evaluation_timestamp", None)
        documents.append(document)
    return documents


def _card_result(run: Run, row: Mapping[str, Any]) -> Row:
    """A row with its interval, whatever its repeats are."""
    metric = next(
        metric
        for metric in run.metrics
        if result_id(metric["name"], metric["filter"]) == row["metric"]
    )
    result = _result(run, metric, {**row})
    assert result is not None  # the row has a figure
    details, uncertainty = (
        result["score_details"],
        result["score_details"]["uncertainty"],
    )
    if row["n_prompts"] is None:
        del uncertainty["num_samples"]
    if row["ci_low"] is not None and row["ci_high"] is not None:
        ends = {"lower": row["ci_low"], "upper": row["ci_high"]}
        uncertainty["confidence_interval"] = {
            **ends,
            "confidence_level": row["level"],
            "method": row["method"],
        }
    notes = {
        "condition": row["condition"],
        "unit": row["unit"],
        "flags": ", ".join(row["flags"]),
    }
    details["details"] |= {name: text for name, text in notes.items() if text}
    when = (
        {"evaluation_timestamp": f"{started}+00:00"}
        if (started := run.header.get("started_at"))
        else {}
    )
    return result | when


def figures_of(store: Store, run: Run) -> dict[int, Row]:
    """The figures that the samples of a run give, by the ids of its metrics."""
    return {row["metric_id"]: row for row in store.rows(_FIGURES, {"run": run.id})}


def _model(run: Run, model: str) -> Row:
    header = run.header
    details = {name: str(header[name]) for name in _AS_DETAILS if name in header}
    info = {
        "name": str(header["model"]),
        "id": model,
        "additional_details": {
            **details,
            "deployment_type": "unknown",
            "model_availability": "unknown",
        },
    }
    named = {
        "developer": header.get("developer"),
        "inference_platform": header.get("endpoint"),
    }
    return info | {name: value for name, value in named.items() if value}


def _result(run: Run, metric: Row, figure: Row | None) -> Row | None:
    """One figure; ``None`` where the run has none of the metric."""
    details = _score(run, metric, figure)
    if details is None:
        return None
    header = run.header
    return {
        "evaluation_result_id": result_id(metric["name"], metric["filter"]),
        "evaluation_name": str(header["benchmark"]),
        "source_data": {
            "dataset_name": str(header["benchmark"]),
            "source_type": "other",
            "additional_details": {"split": str(header["split"])},
        },
        "metric_config": _config(metric),
        "score_details": details,
        "generation_config": _generation(header),
    }


def _score(run: Run, metric: Row, figure: Row | None) -> Row | None:
    """The figure from the samples; where they give none, the published mean, else any
    other."""
    if figure is not None and figure["estimate"] is not None:
        uncertainty: Row = {"num_samples": figure["n_prompts"]}
        if figure["standard_error"] is not None:
            uncertainty["standard_error"] = {
                "value": figure["standard_error"],
                "method": "as published"
                if figure["method"] == "published"
                else f"analytic ({figure['method']})",
            }
        counts = {
            name: str(figure[name])
            for name in ("n_clusters", "n_draws", "n_unscored")
            if figure[name] is not None
        }
        return {
            "score": figure["estimate"],
            "details": counts,
            "uncertainty": uncertainty,
        }
    given = [
        row
        for row in run.published
        if row["metric_id"] == metric["id"] and row["value"] is not None
    ]
    ranked = sorted(
        given, key=lambda row: (row["statistic"] != "mean", bool(row["perturbation"]))
    )
    if not ranked:
        return None
    first = ranked[0]
    details: Row = {} if first["n"] is None else {"num_samples": first["n"]}
    if first["standard_error"] is not None:
        details["standard_error"] = {
            "value": first["standard_error"],
            "method": "as published",
        }
    return {
        "score": first["value"],
        "details": {"statistic": first["statistic"]},
        **({"uncertainty": details} if details else {}),
    }


def _config(metric: Row) -> Row:
    better = metric["higher_is_better"]
    unit, judge = metric["unit"], metric["judge_model"]
    details = {
        "link": metric["link"],
        "filter": metric["filter"],
        "scorer": metric["scorer"],
    }
    if better is None:
        details["direction"] = "unknown"
    config: Row = {
        "metric_id": metric["name"],
        "metric_name": metric["name"],
        "lower_is_better": better is False,
        "score_type": "binary" if metric["kind"] == "binary" else "continuous",
        "min_score": metric["low"],
        "max_score": metric["high"],
        "additional_details": {key: value for key, value in details.items() if value},
    }
    if unit:
        config["metric_unit"] = unit
    if judge:
        unknown = {"deployment_type": "unknown", "model_availability": "unknown"}
        info = {"name": judge, "id": judge, "additional_details": unknown}
        config["llm_scoring"] = {
            "judges": [{"model_info": info}],
            "input_prompt": "unknown",
        }
    return config


def _generation(header: Row) -> Row:
    sampling: Row = {
        name: header[name] for name in ("temperature", "top_p") if name in header
    }
    if header.get("max_tokens", 0) >= 1:
        sampling["max_tokens"] = header["max_tokens"]
    rest = {
        name: header[name]
        for name in (
            "formulation",
            "fewshot",
            "fewshot_seed",
            "reasoning_effort",
            "sampling_seed",
            "sampling",
        )
        if name in header
    }
    details = {
        name: value if isinstance(value, str) else json.dumps(value, sort_keys=True)
        for name, value in rest.items()
    }
    return {"generation_args": sampling, "additional_details": details}


_BENCHMARKS = "select id, name, parent_id from benchmark"
#: Columns of a run that are no header fields.
_APART = (
    "id",
    "condition_key",
    "content_digest",
    "n_scores",
    "benchmark_id",
    "position",
    "position_unit",
)
_JSON = ("sampling", "configuration", "tags", "hyperparameters", "agent_parameters")


@dataclass(frozen=True)
class Run:
    """One current run."""

    id: int  #: id of the run in this store.
    header: Row  #: the fields of its :class:`warehouse.records.RunHeader`, without those of no value.
    metrics: list[Row]  #: its metrics, each with its id.
    #: figures that its source publishes, each with the id of its metric.
    published: list[Row]
    condition_key: str
    content_digest: str

    @property
    def model_id(self) -> str:
        """The model as ``developer/name``."""
        name = str(self.header["model"]).strip("/") or "unknown"
        if "/" in name:
            return name
        return f"{self.header.get('developer') or 'unknown'}/{name}"


def runs_of(store: Store, only: Collection[int] | None = None) -> Iterator[Run]:
    """All current runs, or those of some ids, in the order in which they were read."""
    tree = {row["id"]: row for row in store.rows(_BENCHMARKS)}
    for row in store.rows(query_text("interchange", "runs")):
        if only is not None and row["id"] not in only:
            continue
        bound = {"run": row["id"], "benchmark": row["benchmark_id"]}
        metrics = store.rows(query_text("interchange", "metrics_of_run"), bound)
        published = store.rows(
            query_text("interchange", "published_of_run"), {"run": row["id"]}
        )
        header = _header(row) | {
            "suite": _suite(tree, row["benchmark_id"]),
            "metrics": [_present(item, "id") for item in metrics],
            "published": [_present(item, "metric_id") for item in published],
        }
        yield Run(
            row["id"],
            header,
            metrics,
            published,
            row["condition_key"],
            row["content_digest"],
        )


def parsed(value: Any) -> Any:
    """A JSON column: text on one engine, parsed already on another."""
    if isinstance(value, str):
        return parse_json(value)
    return value


def _header(row: Row) -> Row:
    header = {
        name: parsed(value) if name in _JSON else value for name, value in row.items()
    }
    unit, position = header["position_unit"], header["position"]
    if unit in ("step", "epoch") and position is not None:
        if unit == "step":
            header[unit] = int(position)
        else:
            header[unit] = position
    if header["started_at"] is not None:
        header["started_at"] = header["started_at"].isoformat()
    kept = {name: value for name, value in header.items() if name not in _APART}
    # what may be empty in a header and is no field of no value there
    always = {name: kept[name] for name in ("harness", "model", "benchmark", "split")}
    return {
        name: value for name, value in kept.items() if value not in (None, "", {}, [])
    } | always


def _suite(tree: Mapping[int, Row], benchmark: int) -> list[str]:
    """Names of the groups above a benchmark, outermost first."""
    chain: list[str] = []
    parent = tree[benchmark]["parent_id"]
    while parent is not None and len(chain) < 32:
        chain.insert(0, tree[parent]["name"])
        parent = tree[parent]["parent_id"]
    return chain


def _present(item: Row, own: str) -> Row:
    fields = {
        name: value for name, value in item.items() if name != own and value is not None
    }
    if "scorer_parameters" in fields:
        fields["scorer_parameters"] = parsed(fields["scorer_parameters"]) or {}
    return fields
