"""What one would ask next after an answer: one line below it, for people at a terminal.

:data:`STEPS` is the one place that says which answer is followed by what. A command calls :func:`say_next`; the words
of the line come from the figures of its answer, and can be pasted.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from warehouse.questions.comparison import AllPairs, Compare
from warehouse.questions.items import Show
from warehouse.questions.options import Selected
from warehouse.questions.power import PowerFromRuns
from warehouse.questions.question import Question, options

from ..command_table import COMMANDS
from ..state import State
from .output import Output
from .table import visible

#: Why one would ask it, and the command.
Step = tuple[str, str] | None
#: Only where that command is there.
_SERVED: Step = ("the same as pages that follow the store", "warehouse serve") if "serve" in COMMANDS else None
_FLIPS = "the prompts on which they differ most"
#: How many of them.
_MANY = 10


def say_next(state: State, output: Output, answer: Any, question: Any = None) -> None:
    """Print the next step on standard error, where that is a terminal: never beside what programs read, nor with -q.

    Args:
        answer: what was printed.
        question: that it answers: what it selects holds for the next one too.
    """
    if state.quiet or not output.for_people or not reads_along():
        return
    step = STEPS[type(answer).__name__](answer, question)
    if step is not None:
        why, line = step
        line = line.replace("warehouse", shlex.join(["warehouse", *_store(state)]), 1)
        print(visible(f"next, {why}: {line}"), file=sys.stderr)  # unbroken, so that it can be pasted


def reads_along() -> bool:
    """Whether somebody sees what is said beside answers."""
    return sys.stderr.isatty()


def _store(state: State) -> list[str]:
    from warehouse.store.engines import shown_text

    if state.db is None:
        return []
    return ["--db", shown_text(state.db) if "://" in state.db else state.db]


def _line(kind: type[Question], question: Any, split: str = "", **fields: Any) -> str:
    """The command of another question on the scores that a question chose, or on one split of them."""
    chosen = {name: getattr(question, name) for name in options(Selected) if hasattr(question, name)}
    if split:
        chosen["where"] = (*chosen["where"], f"split={split}")
    return kind(**chosen, **fields).command()


def _power(a: str, b: str, benchmark: str, split: str, difference: float, question: Any) -> Step:
    """How many prompts would decide; where two figures are equal, on which prompts they are not."""
    if not difference:
        return _FLIPS, _line(Compare, question, split, a=a, b=b, benchmark=benchmark, flips=_MANY)
    delta = float(f"{abs(difference):.3g}")
    line = _line(PowerFromRuns, question, split, references=(a, b), benchmark=benchmark, delta=delta)
    return "how many prompts would decide", line


def _claimed(question: Question) -> Step:
    asked = question.command().removeprefix("warehouse ")
    return "a file by which others check it", f"warehouse claim {shlex.quote(asked)} -o claim.json"


def _after_leaderboard(board: Any, question: Any) -> Step:
    return _after_tie(board, question) or _after_ranks(board, question)


def _ranked(board: Any) -> list[Any]:
    from warehouse.analysis.leaderboard.words import first_group

    return first_group([row for row in board.rows if row.rank is not None and row.estimate is not None])


def _after_tie(board: Any, question: Any) -> Step:
    """Where the first two were tested, and not told apart."""
    rows = _ranked(board)
    if len(rows) < 2 or not set(rows[0].group) & set(rows[1].group) or "planned" in rows[0].flags + rows[1].flags:
        return None
    a, b = (_named(row, board.rows) for row in rows[:2])
    split = rows[0].split if len({row.split for row in board.rows}) > 1 else ""
    return _power(a, b, board.benchmark, split, rows[0].estimate - rows[1].estimate, question)


def _named(row: Any, rows: Sequence[Any]) -> str:
    """A model by its name, where the name means one row."""
    return row.model if sum(other.model == row.model for other in rows) == 1 else f"run:{row.run_ids[0]}"


def _after_ranks(board: Any, question: Any) -> Step:
    rows = _ranked(board)
    tested = [row for row in rows if row.group and not row.n_not_compared]
    if len(tested) > 2:
        return "every two of them, by one family of tests", _line(AllPairs, question, benchmark=board.benchmark)
    if len(tested) == 2:
        a, b = (_named(row, board.rows) for row in tested)
        return _FLIPS, _line(Compare, question, a=a, b=b, benchmark=board.benchmark, flips=_MANY)
    scored = [row for row in board.rows if row.n_prompts and row.method != "published" and row.run_ids]
    return ("prompt by prompt", Show(f"run:{scored[0].run_ids[0]}").command()) if scored else None


def _after_leaderboards(boards: Any, question: Any) -> Step:
    if len(boards.boards) == 1:
        return _after_leaderboard(boards.boards[0], question)
    ties = (_after_tie(board, question) for board in boards.boards)
    return next(filter(None, ties), ("all of this as a page with pictures", "warehouse report"))


def _after_suite(board: Any, question: Any) -> Step:
    rows = _ranked(board)
    if len(rows) < 2 or not rows[0].group:
        return None
    if set(rows[0].group) & set(rows[1].group) and rows[0].model != rows[1].model:
        return "benchmark by benchmark", _line(Compare, question, a=rows[0].model, b=rows[1].model)
    return _claimed(question) if board.weights == "equal" else None


def _after_comparison(comparison: Any, question: Any) -> Step:
    from warehouse.analysis.comparison.words import better_in_words

    two = comparison.a, comparison.b
    tied = [row for row in comparison.rows if better_in_words(row) == "neither" and row.standard_error]
    if tied and not question.across_links:
        row = max(tied, key=lambda one: abs(one.difference) / one.standard_error)  # the closest to a decision
        split = row.split if sum(one.benchmark == row.benchmark for one in comparison.rows) > 1 else ""
        return _power(*two, row.benchmark, split, row.difference, question)
    if not question.flips:
        return _FLIPS, replace(question, flips=_MANY).command()
    return _claimed(replace(question, flips=0))


def _after_pairs(pairs: Any, question: Any) -> Step:
    from warehouse.analysis.comparison.words import better_in_words

    row = pairs.rows[0]
    if not row.n_prompts:  # nothing in common to compare
        return None
    if better_in_words(row) == "neither" and row.standard_error and row.model_a != row.model_b:
        split = row.split if len({one.split for one in pairs.rows}) > 1 else ""
        return _power(row.model_a, row.model_b, pairs.benchmark, split, row.difference, question)
    return _claimed(question)


def _after_frontier(report: Any, question: Any) -> Step:
    rows = [row for row in report.rows if row.in_frontier_set is not None]
    other = next((row for row in rows[1:] if row.on_frontier and row.difference is not None), None)
    if other is None or len({row.benchmark for row in rows}) > 1:
        return None
    two = {"a": _named(other, rows), "b": _named(rows[0], rows)}
    return _FLIPS, _line(Compare, question, **two, benchmark=other.benchmark, flips=_MANY)


def _after_gate(decision: Any, question: Any) -> Step:
    two = decision.candidate, decision.baseline
    for row in decision.rows:
        if row.verdict == "fail":
            asked = {"a": two[0], "b": two[1], "benchmark": row.benchmark, "flips": _MANY}
            return _FLIPS, _line(Compare, question, **asked)
    waiting = [row for row in decision.rows if row.prompts_if_equal and row.margin]
    if not waiting:
        return None
    row = max(waiting, key=lambda one: one.prompts_if_equal)
    split = row.split if sum(one.benchmark == row.benchmark for one in decision.rows) > 1 else ""
    alpha = float(f"{2 * decision.alpha / decision.n_tests:.3g}")  # one-sided, as the gate's
    planned = {"references": two, "benchmark": row.benchmark, "delta": row.margin, "alpha": alpha}
    return "how many prompts an equal candidate needs to pass", _line(PowerFromRuns, question, split, **planned)


def _after_run(view: Any, _question: Any) -> Step:
    if not view.rows:
        return None
    first = view.rows[0]
    shown = Show(f"run:{view.run['run_id']}", str(first.tool_id or first.prompt_id))
    return "one prompt, with what was answered", shown.command()


#: What follows each kind of answer.
STEPS: dict[str, Callable[[Any, Any], Step]] = {
    "IngestReport": lambda _report, _question: ("the scores with their errors", "warehouse leaderboard"),
    "Leaderboard": _after_leaderboard,
    "Leaderboards": _after_leaderboards,
    "SuiteBoard": _after_suite,
    "Comparison": _after_comparison,
    "Pairs": _after_pairs,
    "FrontierReport": _after_frontier,
    "Gate": _after_gate,
    "RunView": _after_run,
    "Written": lambda _page, _question: _SERVED,
}
