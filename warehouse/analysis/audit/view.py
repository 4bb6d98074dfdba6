"""An audit of keys as people are shown it: suspects, people's verdicts, and scores
without the suspects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from warehouse.analysis.audit.rows import (
    AuditAgreementRow,
    AuditRow,
    EffectRow,
    JudgedRow,
)
from warehouse.tables.view import Part, Table
from warehouse.tables.words import decimals, excerpt, interval, number, percentage

#: Characters of an answer and of a question.
_ANSWER, _ANSWER_WIDE, _QUESTION = 14, 40, 50
#: Columns of suspects that a narrow terminal does without, the first of them first, and
#: those that may be empty.
_MINOR = ("question", "unparsed", "rate", "stratum", "id")
_HIDDEN = ("stratum", "rate", "unparsed", "audit", "beside", "question", "recalibrated")


def suspects_table(
    rows: Sequence[AuditRow], *, has_strata: bool, verbose: bool
) -> Table:
    """The listed keys with what the models voted for; answers in some length where all
    is wanted."""
    width = _ANSWER
    if verbose:
        width = _ANSWER_WIDE
    cells = [
        {
            "prompt": row.prompt,
            "id": excerpt(row.key, _ANSWER_WIDE),
            "P(wrong)": number(row.posterior, 2),
            "recalibrated": number(row.recalibrated, 2),
            "key": excerpt(row.recorded, width),
            "rival": excerpt(row.rival, width) or "none voted for",
            "votes": f"{row.votes_key:.3g}:{row.votes_rival:.3g} of {row.n_models}",
            "unparsed": number(row.votes_unparsed, 1),
            "stratum": row.stratum,
            "rate": percentage(row.stratum_rate) if has_strata else None,
            "audit": None if row.wrong is None else "wrong" if row.wrong else "right",
            "beside": ", ".join(_other_evidence(row)),
            "question": excerpt(row.text, _QUESTION),
        }
        for row in rows
    ]
    return Table.of(cells, hide_empty=_HIDDEN, minor=_MINOR)


def brief_suspects(rows: Sequence[AuditRow]) -> Table:
    """The listed keys as people read them first: what the key says, what models say."""
    cells = [
        {
            "prompt": row.prompt,
            "P(wrong)": number(row.posterior, 2),
            "key": excerpt(row.recorded, _ANSWER),
            "models say": excerpt(row.rival, _ANSWER) or "none voted for",
            "key : rival": f"{row.votes_key:.3g} : {row.votes_rival:.3g}",
            "audit": _verdict(row),
            "beside": ", ".join(_other_evidence(row)),
            "question": excerpt(row.text, _QUESTION),
        }
        for row in rows
    ]
    if any(row.wrong is not None for row in rows):
        for own in cells:
            del own["beside"]
    return Table.of(cells, hide_empty=_HIDDEN, minor=("question", "beside"))


def _verdict(row: AuditRow) -> str:
    """What people say of a key; empty where they were not asked."""
    if row.wrong is None:
        return ""
    if row.wrong:
        return "wrong"
    return "right"


def _other_evidence(row: AuditRow) -> list[str]:
    """Other evidence against the key, in words."""
    words = {
        f"contradicts {row.contradicts}": row.contradicts is not None,
        "negative item": row.negative,
        "constant": row.constant,
        f"data map ({row.datamap_models})": row.datamap_models,
        f"{row.cluster_listed} of {row.cluster_size} in cluster": (
            row.cluster_size or 0
        )
        > 1
        and (row.cluster_listed or 0) > 1,
    }
    return [word for word, holds in words.items() if holds]


#: Columns of scores without the suspects that tell how they are made.
_OF_ERRORS = ("to leader", "without ")


def effect_parts(
    rows: Sequence[EffectRow], n_listed: int, level: float, *, verbose: bool
) -> list[Part]:
    """Scores and ranks with all prompts and without the suspects.

    Args:
        verbose: with the differences from the first, and their intervals.
    """
    changes = [row.change for row in rows if row.change is not None]
    moved = sum(row.rank != row.rank_kept for row in rows)
    ranked = sum(row.rank is not None for row in rows)
    n_decimals = decimals(
        [
            row.ci_high - row.difference
            for row in rows
            if row.difference is not None and row.ci_high
        ]
    )
    parts: list[Part] = []
    if changes:
        parts.append(
            f"Without the {n_listed} suspects scores change by "
            f"{min(changes):+.{n_decimals}f} to {max(changes):+.{n_decimals}f}; "
            f"{moved} of {ranked} ranks change."
        )
    name = f"{100 * level:g}%"
    cells = _effect_cells(rows, name, n_decimals)
    table = Table.of(cells, hide_empty=("flags",), minor=(name, "flags"))
    if not verbose:
        table = table.without((*_OF_ERRORS, name, f"{name} "))
    return [*parts, "", table]


def _effect_cells(
    rows: Sequence[EffectRow], name: str, n_decimals: int
) -> list[dict[str, Any]]:
    """Each score and rank, before and without the suspects.

    Args:
        name: heading of the intervals.
    """
    return [
        {
            "rank": _arrow(row.rank, row.rank_kept),
            "model": f"{row.model} ({row.condition})" if row.condition else row.model,
            "score": number(row.estimate, n_decimals),
            "without": number(row.estimate_kept, n_decimals),
            "to leader": number(row.difference, n_decimals, sign=True),
            name: interval(row.ci_low, row.ci_high, n_decimals),
            "without ": number(row.difference_kept, n_decimals, sign=True),
            f"{name} ": interval(row.ci_low_kept, row.ci_high_kept, n_decimals),
            "flags": row.flags,
        }
        for row in rows
    ]


def _arrow(before: int | None, after: int | None) -> str:
    """A rank, and what becomes of it."""
    if before is None or after is None:
        return "-"
    if before == after:
        return f"{before}"
    return f"{before} > {after}"


#: Figures of agreement in words.
_WORDS = {
    "auc": "AUC",
    "average_precision": "average precision",
    "precision_at": "precision at",
    "auc_within": "AUC within strata",
    "average_precision_within": "average precision within strata",
    "auc_without_largest": "AUC without the largest stratum",
    "average_precision_without_largest": "average precision without it",
}


def agreement_parts(rows: Sequence[AuditAgreementRow]) -> list[Part]:
    """How well the list agrees with the people's audit, and what its thresholds are
    worth."""
    first = rows[0]
    head = (
        f"Against the audit: {first.n_wrong} of {first.n} keys are wrong, "
        f"{100 * first.n_wrong / first.n:.1f} %."
    )
    return [head, "", Table.of(_orders(rows)), "", Table.of(_thresholds(rows))]


#: Columns of what orders the list.
_SCORES = {
    "posterior": "posterior",
    "share_wrong": "1 - p",
    "rival_votes": "rival votes",
}


def _orders(rows: Sequence[AuditAgreementRow]) -> list[dict[str, Any]]:
    """A line for each figure of an order, beside that of a random one."""
    figures: dict[str, dict[str, Any]] = {}
    for row in rows:
        if row.figure in _WORDS:
            at = ""
            if row.at is not None:
                at = f" {row.at:g}"
            name = _WORDS[row.figure] + at
            cells = figures.setdefault(
                name, {"figure": name, **dict.fromkeys(_SCORES.values())}
            )
            cells |= {
                _SCORES[row.score]: number(row.value, 3),
                "random": number(row.random, 3),
            }
    return list(figures.values())


def _thresholds(rows: Sequence[AuditAgreementRow]) -> list[dict[str, Any]]:
    """A line for each threshold: the share of right keys among the listed, expected and
    found."""
    expected = {row.at: row for row in rows if row.figure == "expected_fdr"}
    return [
        {
            "threshold": number(row.at, 2),
            "listed": row.n,
            "wrong": row.n_wrong,
            "mean of 1 - P(wrong)": number(expected[row.at].value, 2),
            "found right": number(row.value, 2),
            "95% interval": interval(row.low, row.high, 2),
        }
        for row in rows
        if row.figure == "observed_fdr"
    ]


def judged_parts(
    rows: Sequence[JudgedRow], level: float, not_recalibrated: str, *, verbose: bool
) -> list[Part]:
    """The keys as a whole, by people's verdicts on a random sample.

    Args:
        verbose: with what recalibrates P(wrong), and how well it orders keys.
    """
    rates = [row for row in rows if row.figure in ("wrong_rate", "calibration")]
    everything = rates[0]
    missing = ""
    if everything.n_missing:
        missing = f", {everything.n_missing} more have no verdict"
    table = Table.of(
        _rates(rates, level),
        hide_empty=_MAY_BE_EMPTY,
        minor=("whatever is missing",),
    )
    head = (
        f"{everything.n_judged} keys judged, {everything.n_wrong} of them "
        f"wrong{missing}. Of all {everything.n}:"
    )
    if not verbose:
        return [head, "", table.without(("said", "recalibrated"))]
    parts: list[Part] = [
        head,
        "",
        table,
        "share: wrong keys of all these keys, by those judged; said: their mean "
        "P(wrong).",
        "",
        _recalibrated(rows, not_recalibrated),
    ]
    orders: dict[str, dict[str, Any]] = {}
    for row in rows:
        if row.figure in _ORDERS and row.score is not None:
            cells = orders.setdefault(row.figure, {"AUC": _ORDERS[row.figure]})
            cells[_JUDGED[row.score]] = number(row.value, 2)
    if orders:
        parts += ["", Table.of(orders.values())]
    return parts


def _rates(rates: Sequence[JudgedRow], level: float) -> list[dict[str, Any]]:
    """Shares of wrong keys by what the posterior says of them."""
    uppers = [row.at for row in rates if row.figure == "calibration"][1:]
    ends = iter([*uppers, 1.0])
    cells = []
    for row in rates:
        if row.at is None:
            said = "all"
        elif row.figure == "wrong_rate":
            said = f"from {row.at:g}"
        else:
            said = f"{row.at:g} to {next(ends):g}"
        if row.n:
            cells.append(
                {
                    "P(wrong)": said,
                    "keys": row.n,
                    "judged": row.n_judged,
                    "wrong": row.n_wrong,
                    "share": percentage(row.value),
                    f"{100 * level:g}%": _shares(row.low, row.high),
                    "whatever is missing": _shares(row.bound_low, row.bound_high),
                    "said": percentage(row.expected),
                    "recalibrated": percentage(row.recalibrated),
                }
            )
    return cells


#: Columns of rates that are left out where they say nothing.
_MAY_BE_EMPTY = ("whatever is missing", "said", "recalibrated")
#: Columns of what orders the keys, and pairs of keys that are held against each other.
_JUDGED = {"posterior": "P(wrong)", "share_wrong": "1 - p"}
_ORDERS = {
    "auc": "all keys",
    "auc_within": "within strata",
    "auc_between": "between strata",
}


def _shares(low: float | None, high: float | None) -> str | None:
    if low is None or high is None:
        return None
    return f"[{percentage(low)}, {percentage(high)}]"


def _recalibrated(rows: Sequence[JudgedRow], not_recalibrated: str) -> str:
    """The recalibration in words."""
    figures = {
        row.figure: f"{row.value:.2f} ± {row.standard_error:.2f}"
        for row in rows
        if row.standard_error
    }
    if "slope" not in figures:
        return f"P(wrong) is not recalibrated: {not_recalibrated}."
    return (
        f"Log odds of a wrong key: slope {figures['slope']} on those of P(wrong) (1: "
        f"calibrated), intercept {figures['intercept']}."
    )


def reasons_of(rows: Sequence[AuditRow]) -> str:
    """Why keys cannot be judged, with how many each; empty where all can."""
    reasons = Counter(row.reason for row in rows if row.reason)
    return ", ".join(f"{reason} ({n})" for reason, n in reasons.most_common())
