"""The evaluation of a run: what was measured how, and its figures."""

from __future__ import annotations

import json
from typing import Any

from warehouse.interchange.every_eval_ever_run import Run
from warehouse.store.connection import Store

#: Where details stand that the format has no field for.
DETAILS = "eval_warehouse"
SCHEMA_VERSION = "0.3.0"

_FIGURES = """
select metric_id, estimate, standard_error, n_prompts, n_clusters, n_draws, n_unscored, method
from score_summary where run_id = :run
"""
_AS_DETAILS = (
    "revision",
    "step",
    "epoch",
    "tokens",
    "base_checkpoint",
    "training_seed",
    "parameter_count",
    "agent",
    "agent_version",
)

Row = dict[str, Any]


def result_id(metric: str, filter_name: str) -> str:
    """Id of a result inside its evaluation: metric and filter."""
    return f"{metric},{filter_name}" if filter_name else metric


def aggregate(store: Store, run: Run, now: float) -> Row:
    """The JSON document of a run.

    Args:
        store: an open store.
        run: the run.
        now: time of the export, in Unix seconds.
    """
    header = run.header
    figures = {row["metric_id"]: row for row in store.rows(_FIGURES, {"run": run.id})}
    results = (_result(run, metric, figures.get(metric["id"])) for metric in run.metrics)
    when = {"evaluation_timestamp": f"{header['started_at']}+00:00"} if ("started_at" in header) else {}
    model = run.model_id
    number = f"{model.replace('/', '_')}/{run.content_digest[:16]}"
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": f"{header['benchmark']}/{number}",
        "retrieved_timestamp": repr(now),
        **when,
        "source_metadata": {
            "source_name": header["harness"],
            "source_type": "evaluation_run" if figures else "documentation",
            "source_organization_name": "unknown",
            "evaluator_relationship": "other",
        },
        "eval_library": {
            "name": header["harness"],
            "version": header.get("harness_version") or "unknown",
            "additional_details": {DETAILS: json.dumps(header, sort_keys=True, allow_nan=False)},
        },
        "model_info": _model(run, model),
        "evaluation_results": [item for item in results if item is not None],
    }


def _model(run: Run, model: str) -> Row:
    header = run.header
    details = {name: str(header[name]) for name in _AS_DETAILS if name in header}
    info = {
        "name": str(header["model"]),
        "id": model,
        "additional_details": {**details, "deployment_type": "unknown", "model_availability": "unknown"},
    }
    named = {"developer": header.get("developer"), "inference_platform": header.get("endpoint")}
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
    """The figure from the samples; where they give none, the published mean, else any other."""
    if figure is not None and figure["estimate"] is not None:
        uncertainty: Row = {"num_samples": figure["n_prompts"]}
        if figure["standard_error"] is not None:
            uncertainty["standard_error"] = {
                "value": figure["standard_error"],
                "method": f"analytic ({figure['method']})",
            }
        counts = {
            name: str(figure[name]) for name in ("n_clusters", "n_draws", "n_unscored") if figure[name] is not None
        }
        return {"score": figure["estimate"], "details": counts, "uncertainty": uncertainty}
    known = [row for row in run.published if row["metric_id"] == metric["id"] and row["value"] is not None]
    ranked = sorted(known, key=lambda row: (row["statistic"] != "mean", bool(row["perturbation"])))
    if not ranked:
        return None
    first = ranked[0]
    details: Row = {} if first["n"] is None else {"num_samples": first["n"]}
    if first["standard_error"] is not None:
        details["standard_error"] = {"value": first["standard_error"], "method": "as published"}
    return {
        "score": first["value"],
        "details": {"statistic": first["statistic"]},
        **({"uncertainty": details} if details else {}),
    }


def _config(metric: Row) -> Row:
    better = metric["higher_is_better"]
    unit, judge = metric["unit"], metric["judge_model"]
    details = {"link": metric["link"], "filter": metric["filter"], "scorer": metric["scorer"]}
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
        config["llm_scoring"] = {"judges": [{"model_info": info}], "input_prompt": "unknown"}
    return config


def _generation(header: Row) -> Row:
    stated: Row = {name: header[name] for name in ("temperature", "top_p") if name in header}
    if header.get("max_tokens", 0) >= 1:
        stated["max_tokens"] = header["max_tokens"]
    rest = {
        name: header[name]
        for name in ("formulation", "fewshot", "fewshot_seed", "reasoning_effort", "sampling_seed", "sampling")
        if name in header
    }
    details = {
        name: value if isinstance(value, str) else json.dumps(value, sort_keys=True) for name, value in rest.items()
    }
    return {"generation_args": stated, "additional_details": details}
