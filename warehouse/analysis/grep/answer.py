"""Samples whose texts match a pattern: by model and benchmark, and the first of each."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.grep.excerpts import excerpts_of
from warehouse.analysis.grep.patterns import Pattern, pattern_of
from warehouse.analysis.grep.pieces import Wanted, wanted_by
from warehouse.analysis.grep.question import Grep
from warehouse.analysis.grep.read import Hit, Ints, Runs, read_matches
from warehouse.analysis.grep.view import GrepReport, GrepRow, GrepSample
from warehouse.analysis.selection.benchmarks import find_benchmark, runs_on
from warehouse.analysis.selection.conditions import Run, labels_of_runs, read_runs
from warehouse.analysis.selection.prompts import prompts_by_id
from warehouse.analysis.selection.reference import hint_on_values
from warehouse.analysis.selection.reference_text import parse_where
from warehouse.errors import MisuseError
from warehouse.questions.question import answers
from warehouse.stats import estimate_mean
from warehouse.store.connection import Store

#: Confidence level of the intervals.
LEVEL = 0.95
#: Model, label of its condition, benchmark and split of a row.
_Name = tuple[str, str, str, str]


@answers(Grep)
def grep(store: Store, question: Grep) -> GrepReport:
    """Samples whose texts match a pattern, counted, and the first of each model."""
    pattern = pattern_of(question)
    wanted = wanted_by(question)
    chosen = _runs(store, question)
    name_of = _names(store, chosen)
    names = sorted(set(name_of.values()))
    models = sorted({run["model"] for run in chosen})
    most = question.max_count
    if question.count:
        most = 0
    runs = _as_arrays(chosen, name_of, names, models)
    matches = read_matches(store, pattern, wanted, runs, most)
    rows = sorted(_rows(names, *matches.columns()), key=_most_first)
    if not rows:
        raise MisuseError(_nothing_stored(question, len(chosen)))
    in_order = dict.fromkeys(row.model for row in rows)
    numbers = {name: number for number, name in enumerate(models)}
    hits = [matches.hits.get(numbers[name], []) for name in in_order]
    return GrepReport(
        pattern=question.pattern,
        places=tuple(sorted(wanted.places)),
        level=LEVEL,
        rows=tuple(rows),
        samples=_samples(store, chosen, [*chain(*hits)], pattern, wanted),
    )


def _most_first(row: GrepRow) -> tuple[Any, ...]:
    names = (row.model, row.condition, row.benchmark, row.split)
    return -row.share, -row.n_matches, *names


def _names(store: Store, runs: Sequence[Run]) -> dict[int, _Name]:
    """What the row of each run is called, by id: runs of other settings are others."""
    labels = labels_of_runs(store, runs)
    return {
        run["run_id"]: (
            run["model"],
            labels[run["run_id"]],
            run["benchmark"],
            run["split"],
        )
        for run in runs
    }


def _runs(store: Store, question: Grep) -> Sequence[Run]:
    """The runs that are asked for (MisuseError: there is none), by id."""
    if question.benchmark is None:
        runs: Sequence[Run] = read_runs(store, "1 = 1", {})
        where = "the store"
    else:
        benchmark = find_benchmark(store, question.benchmark)
        runs = runs_on(store, benchmark.ids)
        where = benchmark.name
    filters = parse_where(question.where)
    fitting = [run for run in runs if all(item.holds(run) for item in filters)]
    if not fitting:
        narrowed = ""
        if question.where:
            narrowed = f" with {', '.join(question.where)}"
        hint = hint_on_values(filters, runs) or "see: warehouse list runs"
        raise MisuseError(f"{where} has no current run{narrowed}; {hint}")
    return fitting


def _as_arrays(
    runs: Sequence[Run],
    name_of: dict[int, _Name],
    names: list[_Name],
    models: list[str],
) -> Runs:
    row_of = {name: index for index, name in enumerate(names)}
    model_of = {name: index for index, name in enumerate(models)}
    return Runs(
        ids=np.array([run["run_id"] for run in runs], np.int64),
        benchmarks=frozenset(run["benchmark_id"] for run in runs),
        rows=np.array([row_of[name_of[run["run_id"]]] for run in runs], np.int32),
        models=np.array([model_of[run["model"]] for run in runs], np.int32),
    )


def _nothing_stored(question: Grep, n_runs: int) -> str:
    """Why no sample could be looked at."""
    places = ", ".join(
        name.replace("_", "-") for name in sorted(wanted_by(question).places)
    )
    return (
        f"none of {n_runs} runs has a sample whose texts ({places}) are stored; ingest "
        "with --text all stores them, and --in names other texts"
    )


def _rows(
    names: list[_Name],
    rows: Ints,
    prompts: Ints,
    matched: NDArray[np.bool_],
) -> list[GrepRow]:
    """A row for each model and benchmark that has samples.

    Args:
        names: of the rows.
        rows: number of the row of each sample, shape (n,).
        prompts: id of its prompt.
        matched: whether it matches.
    """
    in_order = np.lexsort((prompts, rows))
    rows, prompts, matched = rows[in_order], prompts[in_order], matched[in_order]
    there, starts = np.unique(rows, return_index=True)
    ends = np.append(starts, len(rows))[1:]
    made: list[GrepRow] = []
    for row, start, end in zip(there.tolist(), starts, ends, strict=True):
        made.append(_row(names[row], prompts[start:end], matched[start:end]))
    return made


def _row(name: _Name, prompts: Ints, matched: NDArray[np.bool_]) -> GrepRow:
    """A row from its samples, which stand by prompt. The samples of one prompt are not
    independent: the share is the mean over prompts, and so is its interval."""
    _, starts, n_draws = np.unique(prompts, return_index=True, return_counts=True)
    shares = np.add.reduceat(matched.astype(np.float64), starts) / n_draws
    estimate = estimate_mean(shares, bounds=(0, 1), n_draws=n_draws, level=LEVEL)
    model, condition, benchmark, split = name
    return GrepRow(
        model=model,
        condition=condition,
        benchmark=benchmark,
        split=split,
        n_matches=int(matched.sum()),
        n_samples=len(matched),
        n_prompts=len(starts),
        n_prompts_matching=int((shares > 0).sum()),
        share=estimate.estimate,
        ci_low=estimate.ci_low,
        ci_high=estimate.ci_high,
        method=estimate.method,
    )


def _samples(
    store: Store,
    runs: Sequence[Run],
    hits: Sequence[Hit],
    pattern: Pattern,
    wanted: Wanted,
) -> tuple[GrepSample, ...]:
    """The samples that are shown, in the order of ``hits``."""
    ids = sorted({hit.key[1] for hit in hits})
    prompts: dict[int, dict[str, Any]] = {}
    if ids:
        prompts = prompts_by_id(store, ids)
    by_id = {run["run_id"]: run for run in runs}
    made: list[GrepSample] = []
    excerpts = excerpts_of(store, hits, pattern, wanted, prompts)
    for hit in hits:
        run, prompt, _, draw = hit.key
        excerpt = excerpts.get(hit.key)
        if excerpt is None:  # its text was removed meanwhile
            continue
        made.append(
            GrepSample(
                model=by_id[run]["model"],
                benchmark=by_id[run]["benchmark"],
                run_id=run,
                prompt_id=prompt,
                tool_id=prompts[prompt]["tool_id"],
                draw=draw,
                place=excerpt.place,
                role=excerpt.role,
                tool=excerpt.tool,
                line=excerpt.line,
                before=excerpt.before,
                match=excerpt.match,
                after=excerpt.after,
            )
        )
    return tuple(made)
