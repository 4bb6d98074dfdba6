"""What one would ask next where people are to judge: labels for a judge, keys of a
benchmark."""

from __future__ import annotations

from typing import Any

#: Why one would ask it, and the command.
Step = tuple[str, str] | None
#: Keys for people to judge.
_SAMPLE = 100


def after_judge(report: Any, question: Any) -> Step:
    """Labels that count, or how many would halve the widest interval; of votes nothing."""
    from warehouse.analysis.judge.question import NextLabels, PlanLabels

    if report.of != "scores" or question.rogan_gladen is not None:
        return None
    chosen = {
        name: getattr(question, name)
        for name in ("benchmark", "metric", "where", "latest")
    }
    if any("labels_not_random" in row.flags for row in report.rows):
        drawn = NextLabels(**chosen, judge=report.judge, n=100)
        return "labels drawn by known chance", f"{drawn.command()} --out sheet.csv"
    widths = [
        row.high - row.low
        for row in report.rows
        if row.low is not None and row.high is not None
    ]
    if not widths or max(widths) == 0:
        return None
    width = float(f"{max(widths) / 2:.2g}")
    planned = PlanLabels(**chosen, judge=report.judge, human=report.human, width=width)
    return "how many labels an interval half as wide takes", planned.command()


def after_plan(plans: Any, question: Any) -> Step:
    """As many as the model takes that takes most, without those that there are."""
    from warehouse.analysis.judge.question import NextLabels

    left = [
        row.n_labels - row.n_pilot for row in plans.rows if row.n_labels is not None
    ]
    if not left or max(left) < 1:
        return None
    chosen = {
        name: getattr(question, name)
        for name in ("benchmark", "metric", "where", "latest", "judge")
    }
    return "draw them", f"{NextLabels(**chosen, n=max(left)).command()} --out sheet.csv"


def after_corrected(figures: Any, question: Any) -> Step:
    """The first two of a board of one group, compared."""
    from warehouse.analysis.judge.question import CorrectedComparison

    rows = [row for row in figures.rows if row.estimate is not None]
    if len(rows) < 2 or len({row.model_a for row in rows}) < len(rows):
        return None
    two = {"a": rows[0].model_a, "b": rows[1].model_a, "benchmark": question.benchmark}
    chosen = {
        name: getattr(question, name)
        for name in ("metric", "where", "latest", "judge", "human")
    }
    return "whether the first two differ", CorrectedComparison(
        **two, **chosen
    ).command()


def after_audit(report: Any, question: Any) -> Step:
    """A sample for people to judge, which alone says how many keys are wrong."""
    if report.judged or report.agreement or report.n_judged <= _SAMPLE:
        return None
    from warehouse.analysis.audit.question import Audit

    kept = ("metric", "where", "latest", "cluster", "strata", "n_options")
    chosen = {name: getattr(question, name) for name in kept if hasattr(question, name)}
    drawn = Audit(benchmark=question.benchmark, **chosen, sample=_SAMPLE)
    return (
        "how many are wrong: people judge a sample",
        f"{drawn.command()} --out sample.csv",
    )
