"""lm-evaluation-harness: stop an evaluation once it is settled how it compares with a
model of the store.

    from warehouse.integrations.lm_eval import run_until_settled

    run_until_settled("gsm8k", "evals.duckdb", "my/last", model="hf",
    model_args="pretrained=my/new", margin=0.02)

or ``python -m warehouse.integrations.lm_eval --help``. Needs ``pip install
eval-warehouse[lm-eval]``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import orjson
from lm_eval import simple_evaluate
from lm_eval.api.registry import get_model
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager
from lm_eval.utils import handle_non_serializable, simple_parse_args_string

from warehouse.analysis.selection.selection import Selection, as_conditions
from warehouse.analysis.sequential.plan import (
    Baseline,
    LiveTest,
    first_occurrences,
    plan_for,
    read_baseline,
)
from warehouse.analysis.sequential.question import SequentialSettings
from warehouse.analysis.sequential.stopped import PromptKey
from warehouse.errors import MisuseError, WarehouseError
from warehouse.importers.common.json_fields import compact, number_or_none
from warehouse.importers.lm_eval.layout import model_fields
from warehouse.importers.lm_eval.metrics import filter_label
from warehouse.importers.lm_eval.rows import target_text
from warehouse.records.canonical_json import content_key
from warehouse.store.open import open_store

#: Arguments of `simple_evaluate` that are given here in another way, or would change
#: which prompts are asked.
OURS = frozenset(
    "model model_args tasks limit samples log_samples evaluation_tracker bootstrap_iters predict_only verbosity".split()
)
#: Prompts between two looks.
PIECE = 50


@dataclass(frozen=True, eq=False)
class SettledRun:
    """A run of lm-eval that a sequential test watched."""

    #: as ``simple_evaluate`` returns them, over all pieces, without error estimates.
    results: dict[str, Any]
    #: verdict, interval, reason and settings, as the log has them under
    #: ``early_stopping``.
    record: dict[str, Any]
    folder: Path | None  #: where the log was written; None if it was not.


def run_until_settled(
    task: str,
    store: str | Path | None,
    baseline: str,
    *,
    model: str,
    model_args: str = "",
    margin: float,
    n_max: int | None = None,
    alpha: float = 0.05,
    seed: int = 0,
    benchmark: str | None = None,
    metric: str | None = None,
    where: Sequence[str] = (),
    latest: bool = False,
    use_history: bool = True,
    piece: int = PIECE,
    output_path: str | Path | None = None,
    options: Mapping[str, Any] | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> SettledRun:
    """Run a task of lm-eval piece by piece in the declared order, until there is a
    verdict.

    The verdict is that of ``warehouse gate --sequential`` on the full benchmark. The
    log is one of lm-eval's own; it says why the run was stopped, and the store that
    reads it knows the run for one.

    Args:
        task: name of one task, whose documents are the prompts of the baseline.
        store: URL or file of the store; None: the default.
        baseline: reference of a model of the store that has scores of all documents.
        model: kind of model, as lm-eval calls it (``hf``, ``vllm``,
            ``local-completions`` …).
        model_args: its arguments, ``name=value`` with commas between.
        margin: loss that is tolerated, from 0, in the unit of the metric.
        n_max: the most documents that are asked; None: all.
        alpha: chance of a wrong verdict, both sides together.
        seed: of the order of the documents.
        benchmark: its name in the store; None: the name of the task.
        metric: ``name`` or ``name,filter``; None: the benchmark's headline metric.
        where: conditions ``field=value`` on the baseline's runs.
        latest: where the reference means several conditions, take the one that ran
            last.
        use_history: predict scores by other models of the store, besides the baseline.
        piece: documents between two looks.
        output_path: folder of the log, as ``--output_path``; None: no log.
        options: further arguments of ``simple_evaluate`` (``num_fewshot``,
            ``batch_size``, ``task_manager`` …).
        say: told of the state after each piece.

    Raises:
        MisuseError: a group of tasks, documents that the baseline does not have or the
            other way round, a baseline that cannot be one, options that would change
            which documents are asked, several processes.
        StatisticsError: a number out of range.
        StoreError: there is no store.
    """
    settings = SequentialSettings(
        margin, n_max=n_max, alpha=alpha, seed=seed, use_history=use_history
    )
    given = _checked_options(options or {}, piece)
    loaded = _one_task(task, model_args, given)
    document = {
        "config": {"model": model, "model_args": model_args},
        "model_name": None,
    }
    candidate = str(model_fields(document, Path())["model"])
    selection = Selection(
        benchmark or task, metric, as_conditions(where), latest=latest
    )
    with open_store(None if store is None else str(store)) as opened:
        base = read_baseline(opened, baseline, selection)
        plan = plan_for(opened, base, settings, candidate=candidate)
    test = LiveTest(plan, settings, base.condition.model)
    keys = document_keys(loaded)
    order = _in_order(keys, test, base)
    lm = _model(model, model_args, given)
    if lm.world_size > 1:
        raise MisuseError(
            f"the run has {lm.world_size} processes; a run that stops early has one"
        )
    pieces: list[dict[str, Any]] = []
    try:
        for start in range(0, plan.design.n_max, piece):
            if test.is_over:
                break
            positions = {
                order[index]: index
                for index in range(start, min(start + piece, plan.design.n_max))
            }
            done = simple_evaluate(
                lm,
                model_args,
                [loaded],
                samples={task: sorted(positions)},
                log_samples=True,
                bootstrap_iters=0,
                **given,
            )
            _take(test, done["samples"][task], positions, keys, base)
            pieces.append(done)
            result = test.result()
            say(f"{result.n_prompts} of at most {plan.design.n_max}: {result.verdict}")
    finally:
        if pieces:
            results, samples = _merged(pieces, loaded, task, model, given)
            record = test.record()
            results["early_stopping"] = {task: record}
            folder = None
            if output_path is not None:
                folder = _write(
                    output_path, results, samples, model, model_args, lm, given
                )
    return SettledRun(results | {"samples": {task: samples}}, record, folder)


def document_keys(task: Any) -> list[PromptKey]:
    """The keys that the importer of lm-eval's logs will give the documents of a task."""
    rows = [
        _plain({"doc": doc, "target": target_text(task.doc_to_target(doc))})
        for doc in task.eval_docs
    ]
    return first_occurrences([content_key(compact(row)) for row in rows])


def _plain(value: Any) -> Any:
    """As a log has it."""
    return orjson.loads(
        orjson.dumps(
            value, default=handle_non_serializable, option=orjson.OPT_SERIALIZE_NUMPY
        )
    )


def _checked_options(options: Mapping[str, Any], piece: int) -> dict[str, Any]:
    if taken := sorted(OURS & set(options)):
        raise MisuseError(
            f"{', '.join(taken)} is no further option of lm-eval here; see "
            "run_until_settled()"
        )
    if type(piece) is not int or piece < 1:
        raise MisuseError(f"a piece has at least 1 document, found {piece!r}")
    return dict(options)


def _one_task(name: str, model_args: str, options: dict[str, Any]) -> Any:
    """The task, and a task manager among the options."""
    if options.get("task_manager") is None:
        metadata = simple_parse_args_string(model_args) | (
            options.get("metadata") or {}
        )
        options["task_manager"] = TaskManager(metadata=metadata)
    try:
        loaded = options["task_manager"].load([name])
    except (KeyError, ValueError) as error:
        raise MisuseError(f"lm-eval has no task {name!r}: {error}") from None
    if loaded["groups"] or list(loaded["tasks"]) != [name]:
        raise MisuseError(
            f"{name} is a group of tasks; a run that stops early is of one task"
        )
    return loaded["tasks"][name]


def _model(name: str, arguments: str, options: Mapping[str, Any]) -> Any:
    try:
        kind = get_model(name)
    except (KeyError, ValueError) as error:
        raise MisuseError(f"lm-eval has no kind of model {name!r}: {error}") from None
    more = {
        option: options.get(option)
        for option in ("batch_size", "max_batch_size", "device")
    }
    return kind.create_from_arg_string(arguments, more)


def _in_order(keys: Sequence[PromptKey], test: LiveTest, base: Baseline) -> list[int]:
    """Row numbers of the documents in the declared order."""
    positions = [test.position(key) for key in keys]
    n, n_placed = test.plan.order.n, sum(index is not None for index in positions)
    if n_placed < len(keys) or n_placed < n:
        raise MisuseError(
            f"the task has {len(keys)} documents, of which {base.condition.model} has "
            f"{n_placed} of its {n} on {base.condition.benchmark_split[0]}; expected "
            "the same documents and targets"
        )
    return sorted(range(len(keys)), key=lambda number: positions[number] or 0)


def _take(
    test: LiveTest,
    samples: Sequence[Mapping[str, Any]],
    positions: Mapping[int, int],
    keys: Sequence[PromptKey],
    base: Baseline,
) -> None:
    """Tell the test the scores of a piece."""
    own = [
        sample
        for sample in samples
        if filter_label(str(sample["filter"])) == base.metric.filter
    ]
    if {int(sample["doc_id"]) for sample in own} != set(positions) or any(
        base.metric.name not in sample for sample in own
    ):
        seen: set[str] = set()
        for sample in samples:
            seen |= {f"{name},{sample['filter']}" for name in sample["metrics"]}
        raise MisuseError(
            f"the task gives no {base.metric.label} of each document; it gives "
            f"{', '.join(sorted(seen))}"
        )
    for sample in own:
        number = int(sample["doc_id"])
        row = _plain({"doc": sample["doc"], "target": target_text(sample["target"])})
        if content_key(compact(row)) != keys[number][0]:
            raise MisuseError(
                f"document {number} of the task was changed while it ran: its prompt "
                "is not known"
            )
        test.tell(positions[number], number_or_none(_plain(sample[base.metric.name])))


def _merged(
    pieces: Sequence[dict[str, Any]],
    task: Any,
    name: str,
    model: str,
    options: Mapping[str, Any],
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The pieces as one run of lm-eval; errors for a fixed number of documents do not
    hold and are left out."""
    samples = list(chain.from_iterable(piece["samples"][name] for piece in pieces))
    filters = list(dict.fromkeys(sample["filter"] for sample in samples))
    samples.sort(key=lambda sample: (filters.index(sample["filter"]), sample["doc_id"]))
    values: dict[tuple[str, str], list[Any]] = {}
    for sample in samples:
        for metric in sample["metrics"]:
            values.setdefault((metric, sample["filter"]), []).append(sample[metric])
    n = len({sample["doc_id"] for sample in samples})
    figures: dict[str, Any] = {
        "alias": pieces[0]["results"][name].get("alias", name),
        "sample_len": n,
    }
    rules = task.aggregation()
    for (metric, kind), items in values.items():
        if metric in rules:
            figures |= {
                f"{metric},{kind}": rules[metric](items),
                f"{metric}_stderr,{kind}": "N/A",
            }
    results = {key: value for key, value in pieces[0].items() if key != "samples"}
    results["results"] = {name: figures}
    results["n-samples"] = {name: {"original": len(task.eval_docs), "effective": n}}
    results["config"] = pieces[0]["config"] | {
        "model": model,
        "batch_size": options.get("batch_size"),
    }
    return results, samples


def _write(
    path: str | Path,
    results: dict[str, Any],
    samples: list[dict[str, Any]],
    model: str,
    model_args: str,
    lm: Any,
    options: Mapping[str, Any],
) -> Path:
    """Write the log as the harness does; the folder that it is in."""
    tracker = EvaluationTracker(output_path=str(path))
    chat = options.get("apply_chat_template", False)
    tracker.general_config_tracker.log_experiment_args(
        model_source=model,
        model_args=model_args,
        system_instruction=options.get("system_instruction"),
        chat_template=lm.chat_template(chat) if chat else None,
        fewshot_as_multiturn=options.get("fewshot_as_multiturn", True),
    )
    (task,) = results["results"]
    tracker.save_results_aggregated(dict(results), {task: samples})
    if not hasattr(tracker, "date_id"):  # the harness only warns
        raise MisuseError(f"lm-eval could not write its results to {path}")
    tracker.save_results_samples(task, [dict(sample) for sample in samples])
    return Path(path) / str(tracker.general_config_tracker.model_name_sanitized)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; exit code 0 pass, 1 fail, 5 undecided, 2 misuse."""
    parser = argparse.ArgumentParser(
        prog="python -m warehouse.integrations.lm_eval",
        description=(
            "Run a task of lm-eval until it is settled how the model compares with one "
            "of the store."
        ),
    )
    parser.add_argument(
        "--db", help="URL or file of the store; default: as of warehouse"
    )
    parser.add_argument(
        "--baseline",
        required=True,
        help="MODEL of the store that has scores of all documents",
    )
    parser.add_argument(
        "--margin", type=float, required=True, help="loss that is tolerated"
    )
    parser.add_argument(
        "--n-max", type=int, help="the most documents that are asked; default: all"
    )
    parser.add_argument(
        "--alpha", type=float, default=0.05, help="chance of a wrong verdict (0.05)"
    )
    parser.add_argument(
        "--order-seed", type=int, default=0, help="of the order of the documents (0)"
    )
    parser.add_argument(
        "--piece",
        type=int,
        default=PIECE,
        help=f"documents between two looks ({PIECE})",
    )
    parser.add_argument(
        "--metric", help="NAME or NAME,FILTER; default: the benchmark's headline metric"
    )
    parser.add_argument(
        "--benchmark", help="its name in the store; default: the task's"
    )
    parser.add_argument(
        "--no-history", action="store_true", help="predict scores by the baseline alone"
    )
    for name, text in (
        ("--model", "as of lm_eval run"),
        ("--tasks", "one task"),
        ("--output_path", "folder"),
    ):
        parser.add_argument(name, required=True, help=text)
    for name in ("--model_args", "--gen_kwargs", "--include_path"):
        parser.add_argument(name, default="", help="as of lm_eval run")
    for name in ("--batch_size", "--device", "--system_instruction"):
        parser.add_argument(name, help="as of lm_eval run")
    parser.add_argument("--num_fewshot", type=int, help="as of lm_eval run")
    parser.add_argument(
        "--apply_chat_template", action="store_true", help="as of lm_eval run"
    )
    chosen = parser.parse_args(arguments)
    names = ("num_fewshot", "batch_size", "device", "system_instruction")
    options = {
        name: getattr(chosen, name)
        for name in names
        if getattr(chosen, name) is not None
    }
    options |= {
        "gen_kwargs": chosen.gen_kwargs or None,
        "apply_chat_template": chosen.apply_chat_template,
    }
    try:
        if chosen.include_path:
            metadata = simple_parse_args_string(chosen.model_args)
            options["task_manager"] = TaskManager(
                include_path=chosen.include_path, metadata=metadata
            )
        run = run_until_settled(
            chosen.tasks,
            chosen.db,
            chosen.baseline,
            model=chosen.model,
            model_args=chosen.model_args,
            margin=chosen.margin,
            n_max=chosen.n_max,
            alpha=chosen.alpha,
            seed=chosen.order_seed,
            benchmark=chosen.benchmark,
            metric=chosen.metric,
            use_history=not chosen.no_history,
            piece=chosen.piece,
            output_path=chosen.output_path,
            options=options,
            say=lambda text: print(text, file=sys.stderr, flush=True),
        )
    except WarehouseError as error:
        print(f"Error: {error}", file=sys.stderr)
        return error.exit_code
    low, high = run.record["interval"]
    print(
        f"{run.record['reason']}; difference {run.record['difference']:+.4f} "
        f"[{low:+.4f}, {high:+.4f}]"
    )
    print(f"Next: warehouse ingest {run.folder}")
    return {"pass": 0, "fail": 1}.get(run.record["verdict"], 5)


if __name__ == "__main__":
    sys.exit(main())
