"""What one would ask next after an answer: one line below it, for people at a terminal.

:data:`STEPS` is the one place that says which answer is followed by what. A command
calls :func:`say_next`; the words of the line come from the figures of its answer, and
can be pasted. Questions that few ask are imported where a step leads to them: every
answer looks here.
"""

from __future__ import annotations

import math
import shlex
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from warehouse.analysis.compare.question import Compare
from warehouse.analysis.pairs.question import AllPairs
from warehouse.analysis.power.question import PowerFromRuns
from warehouse.errors import WarehouseError
from warehouse.questions.options import AsRows, Selected
from warehouse.questions.question import Question, options

from ..state import State
from .next_labels import Step, after_audit, after_corrected, after_judge, after_plan
from .next_models import (
    after_curves,
    after_irt_abilities,
    after_irt_dimensions,
    after_irt_fit,
    after_irt_next,
    after_irt_scale,
    after_items,
    after_matrix_clusters,
    after_matrix_explanation,
    after_matrix_growth,
    after_matrix_test,
    after_matrix_weights,
)
from .output import Output
from .table import visible

_FLIPS = "the prompts on which they differ most"
#: How many of them.
_MANY = 10


def say_next(state: State, output: Output, answer: Any, question: Any = None) -> None:
    """Print the next step on standard error, where that is a terminal: never beside
    what programs read, nor with -q.

    Args:
        answer: what was printed.
        question: that it answers: what it selects holds for the next one too.
    """
    if state.quiet or not output.for_people or not reads_along():
        return
    step = None
    with suppress(
        WarehouseError
    ):  # what no command can say is no reason to fail after an answer
        after = STEPS.get(type(answer).__name__)
        step = None
        if after:
            step = after(answer, question)
        if step and _is_of_some_prompts(question) and " power " in step[1]:
            step = None  # which plans for all prompts
    lines = []
    if step is not None:
        lines.append(f"next, {step[0]}: {with_store(state, step[1])}")
    if type(answer).__name__ in EXPLAINED and not state.explains:
        line = with_store(state, question.command())
        lines.append(f"how, and every column: {line} --explain")
    for line in lines:
        print(visible(line), file=sys.stderr)  # unbroken, to be pasted


def _is_of_some_prompts(question: Any) -> bool:
    """Whether conditions choose some of the prompts."""
    where = getattr(question, "where", ())
    return any(text.startswith("prompt.") for text in where)


def with_store(state: State, line: str) -> str:
    """A command with the store of this one, or the dumps that it was asked of, where
    these were named."""
    from warehouse.store.engines import shown_text

    if state.dumps:
        db = state.dumps.words()
    elif state.db is None:
        db = []
    else:
        db = ["--db", shown_text(state.db) if "://" in state.db else state.db]
    return line.replace("warehouse", shlex.join(["warehouse", *db]), 1)


def reads_along() -> bool:
    """Whether somebody sees what is said beside answers."""
    return sys.stderr.isatty()


def _line(kind: type[Question], question: Any, split: str = "", **fields: Any) -> str:
    """The command of another question on the scores that a question chose, or on one
    split of them."""
    names = [
        name for name in (*options(Selected), *options(AsRows)) if name in options(kind)
    ]
    chosen = {
        name: getattr(question, name) for name in names if hasattr(question, name)
    }
    if split:
        chosen["where"] = (*chosen["where"], f"split={split}")
    return kind(**chosen, **fields).command()


def _split(row: Any, rows: Sequence[Any]) -> str:
    """The split of a row, where its benchmark has several."""
    return (
        row.split
        if len({other.split for other in rows if other.benchmark == row.benchmark}) > 1
        else ""
    )


def _power(
    a: str,
    b: str,
    row: Any,
    rows: Sequence[Any],
    difference: float,
    n_tests: int,
    question: Any,
) -> Step:
    """How many prompts would decide, by tests as strict as those that did not."""
    plan = {
        "references": (a, b),
        "benchmark": row.benchmark,
        "delta": float(f"{abs(difference):.3g}"),
    }
    plan["alpha"] = float(f"{(1 - row.level) / max(n_tests, 1):.3g}")
    return "how many prompts would decide", _line(
        PowerFromRuns, question, _split(row, rows), **plan
    )


def _claimed(question: Question) -> Step:
    words = question.command().removeprefix("warehouse ")
    return (
        "a file by which others check it",
        f"warehouse claim {shlex.quote(words)} -o claim.json",
    )


def _ranked(board: Any) -> list[Any]:
    from warehouse.analysis.leaderboard.words import first_group

    return first_group(
        [row for row in board.rows if row.rank is not None and row.estimate is not None]
    )


def _after_tie(board: Any, question: Any) -> Step:
    """Where the first two were tested, and not told apart."""
    rows = _ranked(board)
    if (
        len(rows) < 2
        or not set(rows[0].group) & set(rows[1].group)
        or "planned" in rows[0].flags + rows[1].flags
    ):
        return None
    a, b = (_named(row, board.rows) for row in rows[:2])
    difference = rows[0].estimate - rows[1].estimate
    if (
        not difference or not rows[0].ranks.next_has_error
    ):  # of which no plan can be made
        flips = _line(
            Compare,
            question,
            _split(rows[0], board.rows),
            a=a,
            b=b,
            benchmark=board.benchmark,
            flips=_MANY,
        )
        return _FLIPS, flips
    n_tests = math.comb(sum(bool(row.group) for row in rows), 2)
    return _power(a, b, rows[0], board.rows, difference, n_tests, question)


def _named(row: Any, rows: Sequence[Any]) -> str:
    """A model by its name, where the name means one row."""
    return (
        row.model
        if sum(other.model == row.model for other in rows) == 1
        else f"run:{row.run_ids[0]}"
    )


def _after_ranks(board: Any, question: Any) -> Step:
    from warehouse.analysis.show.question import Show

    rows = _ranked(board)
    tested = [row for row in rows if row.group and not row.n_not_compared]
    if len(tested) > 2:
        return "every two of them, by one family of tests", _line(
            AllPairs, question, benchmark=board.benchmark
        )
    if len(tested) == 2:
        a, b = (_named(row, board.rows) for row in tested)
        return _FLIPS, _line(
            Compare, question, a=a, b=b, benchmark=board.benchmark, flips=_MANY
        )
    scored = [
        row
        for row in board.rows
        if row.n_prompts and row.method != "published" and row.run_ids
    ]
    if scored:
        return ("prompt by prompt", Show(f"run:{scored[0].run_ids[0]}").command())
    return None


def _after_leaderboards(boards: Any, question: Any) -> Step:
    shown = getattr(boards, "boards", (boards,))
    ties = (_after_tie(board, question) for board in shown)
    page = "all of this as a page with pictures", "warehouse report"
    return next(filter(None, ties), None) or (
        _after_ranks(shown[0], question) if len(shown) == 1 else page
    )


def _after_across(table: Any, question: Any) -> Step:
    from warehouse.analysis.leaderboard.question import OneLeaderboard

    boards = {board.benchmark: board for board in table.boards}
    single = [column.name for column in table.across.columns if column.name in boards]
    if not single:
        return None
    return "one benchmark in detail", _line(
        OneLeaderboard, question, benchmark=single[0]
    )


def _after_suite(board: Any, question: Any) -> Step:
    rows = _ranked(board)
    if len(rows) < 2 or not rows[0].group:
        return None
    if set(rows[0].group) & set(rows[1].group) and rows[0].model != rows[1].model:
        return "benchmark by benchmark", _line(
            Compare, question, a=rows[0].model, b=rows[1].model
        )
    if board.weights == "equal":
        return _claimed(question)
    return None


def _after_comparison(comparison: Any, question: Any) -> Step:
    from warehouse.analysis.comparison.words import better_in_words

    rows = comparison.rows
    tied = [
        row
        for row in rows
        if better_in_words(row) == "neither" and row.standard_error and row.difference
    ]
    if tied and not question.across_links:
        row = max(
            tied, key=lambda other: abs(other.difference) / other.standard_error
        )  # the closest to a decision
        return _power(
            comparison.a,
            comparison.b,
            row,
            rows,
            row.difference,
            comparison.n_tests,
            question,
        )
    if not question.flips and any(row.difference or row.standard_error for row in rows):
        return _FLIPS, replace(question, flips=_MANY).command()
    if any(row.standard_error for row in rows):
        return _claimed(replace(question, flips=0))
    return None


def _after_pairs(pairs: Any, question: Any) -> Step:
    from warehouse.analysis.comparison.words import better_in_words

    row = pairs.rows[0]
    if not row.standard_error:  # nothing to compare
        return None
    if better_in_words(row) == "neither" and row.difference:
        named = (
            (row.model_a, row.condition_a, row.runs_a),
            (row.model_b, row.condition_b, row.runs_b),
        )
        a, b = (
            f"run:{runs[0]}" if condition else model for model, condition, runs in named
        )
        return _power(a, b, row, pairs.rows, row.difference, row.n_pairs, question)
    return _claimed(question)


def _after_frontier(report: Any, question: Any) -> Step:
    rows = [row for row in report.rows if row.in_frontier_set is not None]
    other = next(
        (row for row in rows[1:] if row.on_frontier and row.difference is not None),
        None,
    )
    if other is None or len({row.benchmark for row in rows}) > 1:
        return None
    two = {"a": _named(other, rows), "b": _named(rows[0], rows)}
    return _FLIPS, _line(
        Compare, question, **two, benchmark=other.benchmark, flips=_MANY
    )


def _after_gate(decision: Any, question: Any) -> Step:
    """How many prompts would decide stands in its table."""
    open_rows = sorted(
        (row for row in decision.rows if row.verdict != "pass"),
        key=lambda row: row.verdict != "fail",
    )
    if not open_rows or not open_rows[0].standard_error:
        return None
    two = {"a": decision.candidate, "b": decision.baseline}
    return _FLIPS, _line(
        Compare, question, **two, benchmark=open_rows[0].benchmark, flips=_MANY
    )


def _after_run(view: Any, _question: Any) -> Step:
    from warehouse.analysis.show.question import Show

    prompt = next((str(row.tool_id or row.prompt_id) for row in view.rows), None)
    shown = Show(f"run:{view.run['run_id']}", prompt)
    if prompt is None:
        return None
    return ("one prompt of it", shown.command())


def _after_horizon(report: Any, question: Any) -> Step:
    """Where three models have a day of release, whether horizons grow."""
    dated = {
        row.model
        for row in report.rows
        if row.release_date and row.estimate is not None
    }
    if question.trend or len(dated) < 3 or question.interval != "ftr":
        return _claimed(replace(question, trend=False))
    return "in how many days horizons double", replace(question, trend=True).command()


def _after_prefer(report: Any, question: Any) -> Step:
    """Of all models of one scorer, whether the first two differ."""
    if len(report.rows) < 3 or question.models or question.by or question.reference:
        return _claimed(question)
    two = tuple(row.model for row in report.rows[:2])
    return "whether the first two differ", replace(question, models=two).command()


def _after_ingest(report: Any, _question: Any) -> Step:
    """The leaderboard; of votes alone who is preferred."""
    if report.total("n_votes") and not report.total("n_runs"):
        return "who is preferred, by these votes", "warehouse prefer"
    return "the scores with their errors", "warehouse leaderboard"


#: Answers that say how they were made where that is asked.
EXPLAINED = (
    *("Leaderboard", "Leaderboards", "AcrossBenchmarks", "SuiteBoard"),
    *("Comparison", "Pairs", "Gate", "VarianceReport", "PowerPlan"),
    *("Decisions", "SeedsReport", "RecipesReport"),
    *("UnpairedComparison", "JudgeReport", "PreferenceReport", "FrontierReport"),
    *("LabelPlans", "AuditReport", "DataMap", "TemplatesReport"),
    *("FormulationsReport", "ReliabilityReport", "HorizonReport", "AnchorReport"),
)
#: What follows each kind of answer.
STEPS: dict[str, Callable[[Any, Any], Step]] = {
    "IngestReport": _after_ingest,
    "Leaderboard": _after_leaderboards,
    "Leaderboards": _after_leaderboards,
    "AcrossBenchmarks": _after_across,
    "SuiteBoard": _after_suite,
    "Comparison": _after_comparison,
    "Pairs": _after_pairs,
    "FrontierReport": _after_frontier,
    "Gate": _after_gate,
    "HorizonReport": _after_horizon,
    "PreferenceReport": _after_prefer,
    "JudgeReport": after_judge,
    "LabelPlans": after_plan,
    "CorrectedBoard": after_corrected,
    "AuditReport": after_audit,
    "AnchorReport": lambda _report, question: (
        "the anchors, to ask them",
        f"{question.command()} --ids",
    ),
    "MatrixTest": after_matrix_test,
    "MatrixClusters": after_matrix_clusters,
    "MatrixWeights": after_matrix_weights,
    "MatrixGrowth": after_matrix_growth,
    "MatrixExplanation": after_matrix_explanation,
    "IrtReport": after_irt_fit,
    "AbilityReport": after_irt_abilities,
    "NextReport": after_irt_next,
    "DimensionsReport": after_irt_dimensions,
    "ScaleReport": after_irt_scale,
    "ItemReport": after_items,
    "CurvesReport": after_curves,
    "RunView": _after_run,
    "Written": lambda _page, _question: (
        "the same as pages that follow the store",
        "warehouse serve",
    ),
}
