"""What one would ask next after an answer: one line below it, for people at a terminal.

:data:`STEPS` is the one place that says which answer is followed by what. A command calls :func:`say_next`; the words
of the line come from the figures of its answer, and can be pasted.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

from warehouse.questions.options import Selected
from warehouse.questions.question import options

from ..state import State
from .output import Output
from .questions import flags_of
from .table import visible

#: Why one would ask it, and the words of the command.
Step = tuple[str, list[str]] | None
_FLIPS = "the prompts on which they differ most"
_CLAIM = "a file by which others check it"


def say_next(state: State, output: Output, answer: Any, question: Any = None) -> None:
    """Print the next step on standard error, where that is a terminal: never beside what programs read, nor with -q.

    Args:
        answer: what was printed.
        question: that it answers: what it selects holds for the next one too.
    """
    if state.quiet or not output.for_people or not sys.stderr.isatty():
        return
    step = STEPS[type(answer).__name__](answer, question)
    if step is not None:
        why, words = step
        line = f"next, {why}: {shlex.join(['warehouse', *_store(state), *words])}"
        print(visible(line), file=sys.stderr)  # unbroken, so that it can be pasted


def _store(state: State) -> list[str]:
    from warehouse.store.engines import shown_text

    if state.db is None:
        return []
    return ["--db", shown_text(state.db) if "://" in state.db else state.db]


def _selected(question: Any) -> list[str]:
    """Options by which a question chose its scores, for another one of them."""
    words: list[str] = []
    for name, option in options(Selected).items():
        value = getattr(question, name, option.default)
        if value != option.default:
            flag = max(flags_of(name, option), key=len)
            words += chain.from_iterable([flag] if one is True else [flag, one] for one in _each(value))
    return words


def _each(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else (value,)


def _power(a: str, b: str, benchmark: str, split: str, difference: float, question: Any) -> Step:
    """How many prompts would decide; where two figures are equal, on which prompts they are not."""
    words = [a, b, "--benchmark", benchmark, *_selected(question), *(["--where", f"split={split}"] if split else [])]
    if not difference:
        return _FLIPS, ["compare", *words, "--flips"]
    return "prompts that would decide if this is the difference", [
        *("power", "--from", *words, "--delta", f"{abs(difference):.3g}")
    ]


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
    tested = [row for row in rows if row.group]
    if len(tested) > 2:
        return "every two of them, by one family of tests", ["pairs", board.benchmark, *_selected(question)]
    if len(tested) == 2:
        names = [_named(row, board.rows) for row in tested]
        return _FLIPS, ["compare", *names, "--benchmark", board.benchmark, *_selected(question), "--flips"]
    scored = [row for row in board.rows if row.n_prompts and row.method != "published" and row.run_ids]
    return ("prompt by prompt", ["show", f"run:{scored[0].run_ids[0]}"]) if scored else None


def _after_leaderboards(boards: Any, question: Any) -> Step:
    if len(boards.boards) == 1:
        return _after_leaderboard(boards.boards[0], question)
    ties = (_after_tie(board, question) for board in boards.boards)
    return next(filter(None, ties), ("all of this as a page with pictures", ["report"]))


def _after_suite(board: Any, question: Any) -> Step:
    rows = _ranked(board)
    if len(rows) < 2 or not rows[0].group:
        return None
    if set(rows[0].group) & set(rows[1].group) and rows[0].model != rows[1].model:
        return "benchmark by benchmark", ["compare", rows[0].model, rows[1].model, *_selected(question)]
    return _claimed("leaderboard", board.suite, *_selected(question))


def _claimed(*words: str) -> Step:
    return _CLAIM, ["claim", shlex.join(words), "-o", "claim.json"]


def _after_comparison(comparison: Any, question: Any) -> Step:
    from warehouse.analysis.comparison.words import better_in_words

    two = comparison.a, comparison.b
    tied = [row for row in comparison.rows if better_in_words(row) == "neither" and row.standard_error]
    if tied and not question.across_links:
        row = max(tied, key=lambda one: abs(one.difference) / one.standard_error)  # the closest to a decision
        split = row.split if sum(one.benchmark == row.benchmark for one in comparison.rows) > 1 else ""
        return _power(*two, row.benchmark, split, row.difference, question)
    chosen = ["--benchmark", question.benchmark] if question.benchmark else []
    if not question.flips:
        return _FLIPS, ["compare", *two, *chosen, *_selected(question), "--flips"]
    return _claimed("compare", *two, *chosen, *_selected(question))


def _after_pairs(pairs: Any, question: Any) -> Step:
    from warehouse.analysis.comparison.words import better_in_words

    row = pairs.rows[0]
    if better_in_words(row) == "neither" and row.standard_error and row.model_a != row.model_b:
        split = row.split if len({one.split for one in pairs.rows}) > 1 else ""
        return _power(row.model_a, row.model_b, pairs.benchmark, split, row.difference, question)
    return _claimed("pairs", pairs.benchmark, *_selected(question))


def _after_gate(decision: Any, question: Any) -> Step:
    two = decision.candidate, decision.baseline
    for row in decision.rows:
        if row.verdict == "fail":
            on = ["--benchmark", row.benchmark, *_selected(question)]
            return "the prompts that it lost", ["compare", *two, *on, "--flips"]
    waiting = [row for row in decision.rows if row.prompts_if_equal and row.margin]
    if not waiting:
        return None
    row = max(waiting, key=lambda one: one.prompts_if_equal)
    _why, words = _power(*two, row.benchmark, row.split, row.margin, question) or ("", [])
    alpha = f"{2 * decision.alpha / decision.n_tests:.3g}"  # one-sided, as the gate's
    return "prompts with which a candidate as good as the baseline passes", [*words, "--alpha", alpha]


def _after_run(view: Any, _question: Any) -> Step:
    if not view.rows:
        return None
    first = view.rows[0]
    return "one prompt, with what was answered", [
        "show",
        f"run:{view.run['run_id']}",
        str(first.tool_id or first.prompt_id),
    ]


#: What follows each kind of answer.
STEPS: dict[str, Callable[[Any, Any], Step]] = {
    "IngestReport": lambda _report, _question: ("the scores with their errors", ["leaderboard"]),
    "Leaderboard": _after_leaderboard,
    "Leaderboards": _after_leaderboards,
    "SuiteBoard": _after_suite,
    "Comparison": _after_comparison,
    "Pairs": _after_pairs,
    "Gate": _after_gate,
    "RunView": _after_run,
}
