"""Figures of a model as the Hugging Face Hub reads them: the ``model-index`` of a model
card, which `huggingface_hub` reads as ``EvalResult``, and files of ``.eval_results/``.

Both hold the number in the unit in which it was published or scored; the unit is said
beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml

from warehouse.errors import MisuseError
from warehouse.interchange.every_eval_ever_results import parsed
from warehouse.records.answer_text import without_surrogates
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

Row = Mapping[str, Any]

#: A data set of the Hub, and its task after a colon.
_DATASET = re.compile(r"(?P<id>[\w.-]+/[\w.-]+)(?::(?P<task>[^\s:]+))?")
#: Where tools keep it: lm_eval, Inspect.
_KEPT = (("task", "dataset_path"), ("eval", "dataset", "location"))
#: What is said of a figure, under the names of ``--json``: with the metric, as
#: `huggingface_hub` writes figures of one data set, configuration and split as one,
#: with the data set of the first.
_ARGUMENTS = (
    *(
        "unit",
        "standard_error",
        "ci_low",
        "ci_high",
        "level",
        "n_prompts",
        "n_clusters",
        "n_draws",
        "method",
        "flags",
    ),
    *(
        "benchmark",
        "condition",
        "checkpoint",
        "training_seed",
        "fewshot",
        "temperature",
        "harness",
        "date",
    ),
)


def datasets_of(store: Store, rows: Sequence[Row]) -> dict[str, tuple[str, str]]:
    """The data set of the Hub behind each benchmark of a card, where its tool says so,
    and the configuration of it."""
    benchmarks = {row["run_ids"][-1]: row["benchmark"] for row in rows}
    found = {}
    for row in store.rows(
        query_text("analysis", "run_settings"), {"run_ids": list(benchmarks)}
    ):
        settings = parsed(row["configuration"])
        names = (_at(settings, path) for path in _KEPT)
        dataset_name = next(
            (
                name
                for name in names
                if isinstance(name, str) and _DATASET.fullmatch(name)
            ),
            None,
        )
        if dataset_name:
            found[benchmarks[row["run_id"]]] = (
                dataset_name,
                str(_at(settings, ("task", "dataset_name")) or ""),
            )
    return found


def named_datasets(given: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Data set and task (which mostly is the configuration) of benchmarks, given as
    ``OWNER/NAME[:TASK]``.

    Raises:
        MisuseError: another form.
    """
    found = {}
    for benchmark, text in given.items():
        match = _DATASET.fullmatch(text)
        if match is None:
            raise MisuseError(
                f"{benchmark}: {text!r} is no data set of the Hub; expected OWNER/NAME "
                "or OWNER/NAME:TASK"
            )
        found[benchmark] = (match["id"], match["task"] or "")
    return found


def model_index(
    model: str, rows: Sequence[Row], datasets: Mapping[str, tuple[str, str]], made: str
) -> str:
    """The metadata block of a model card.

    Args:
        rows: of a card, by name of column, with figures.
        datasets: data set of the Hub and its configuration, by benchmark.
        made: what made it; a comment.
    """
    results = [_result(row, *datasets.get(row["benchmark"], ("", ""))) for row in rows]
    return (
        "---\n"
        f"{_comment(made)}{_yaml({'model-index': [{'name': model, 'results': results}]})}---\n"
    )


def _result(row: Row, dataset: str, configuration: str) -> dict[str, Any]:
    unit = ""
    if row["unit"]:
        unit = f" ({row['unit']})"
    if row["fewshot"] is None:
        shots = {}
    else:
        shots = {"num_few_shot": row["fewshot"]}
    where = {"config": configuration, "split": row["split"], "args": shots}
    arguments = {name: row[name] for name in _ARGUMENTS} | {
        "n_draws": row["n_draws"] or None
    }
    name = ", ".join(filter(None, (f"{row['metric']}{unit}", row["condition"])))
    return {
        "task": {
            "type": "feature-extraction"
            if row["harness"].startswith("mteb")
            else "text-generation"
        },
        "dataset": {
            "type": dataset or row["benchmark"],
            "name": row["benchmark"],
            **_present(where),
        },
        "metrics": [
            {
                "type": row["metric"],
                "value": row["estimate"],
                "name": name,
                "args": _present(arguments),
            }
        ],
    }


def eval_results(
    rows: Sequence[Row], datasets: Mapping[str, tuple[str, str]], made: str
) -> str:
    """A file of ``.eval_results/``; benchmarks without a known data set of the Hub are
    left out.

    Raises:
        MisuseError: none is left.
    """
    entries = [
        {
            "dataset": {
                "id": datasets[row["benchmark"]][0],
                "task_id": datasets[row["benchmark"]][1] or "default",
            },
            "value": row["estimate"],
            **_present({"date": row["date"]}),
            "notes": ", ".join(_notes(row)),
        }
        for row in rows
        if row["benchmark"] in datasets
    ]
    if not entries:
        raise MisuseError(
            "no benchmark has a known data set of the Hub; name it: --dataset "
            "BENCHMARK=OWNER/NAME:TASK"
        )
    return f"{_comment(made)}{_yaml(entries)}"


def _notes(row: Row) -> Iterator[str]:
    metric, unit = row["metric"], row["unit"]
    if unit:
        yield f"{metric} ({unit})"
    else:
        yield f"{metric}"
    if row["ci_low"] is not None and row["ci_high"] is not None:
        yield (
            f"{100 * row['level']:g}% interval [{row['ci_low']:.4g}, "
            f"{row['ci_high']:.4g}]"
        )
    if row["n_prompts"]:
        yield f"{row['n_prompts']} prompts"
    if row["fewshot"] is not None:
        yield f"{row['fewshot']}-shot"
    yield from filter(None, (row["condition"], row["harness"], *row["flags"]))


def _present(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value for name, value in values.items() if value not in (None, "", [], {})
    }


def _at(settings: Any, path: Sequence[str]) -> Any:
    for name in path:
        if isinstance(settings, Mapping):
            settings = settings.get(name)
        else:
            settings = None
    return settings


def _comment(made: str) -> str:
    return f"# {ascii(' '.join(made.split()))[1:-1]}\n"


def _yaml(content: Any) -> str:
    return yaml.safe_dump(
        without_surrogates(content),
        sort_keys=False,
        allow_unicode=True,
        width=1_000_000,
    )
