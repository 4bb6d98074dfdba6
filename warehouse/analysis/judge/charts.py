"""Agreement of a judge with people, and whom it favours, as pictures."""

from __future__ import annotations

from warehouse.analysis.judge.view import JudgeReport
from warehouse.charts.picture import Picture
from warehouse.charts.pictures import Interval, forest


def judge_pictures(report: JudgeReport) -> list[Picture]:
    """Agreement by model with intervals, and below it whom the judge favours."""
    note = f"{report.judge} against {report.human} on {report.benchmark}"
    agreement = [
        Interval(
            f"{row.model or 'all'} {row.condition}".strip(),
            row.agreement,
            row.agreement_low,
            row.agreement_high,
        )
        for row in report.rows
        if row.agreement is not None
    ]
    bias = [
        Interval(
            f"{row.model} {row.condition}".strip(),
            row.bias,
            row.bias_low,
            row.bias_high,
            row.is_favoured,
        )
        for row in report.rows[1:]
        if row.bias is not None
    ]
    bias_note = f"{note}; filled: told from none, over all models at once"
    drawn = [
        forest(
            "Share on which judge and people agree",
            agreement,
            figure="agreement",
            n_decimals=3,
            note=note,
        ),
        forest(
            "Judge minus people",
            bias,
            figure="bias",
            n_decimals=3,
            note=bias_note,
            zero=True,
        ),
    ]
    return [picture for picture in drawn if picture]
