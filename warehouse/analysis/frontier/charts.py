"""Scores against costs, as pictures."""

from __future__ import annotations

from warehouse.analysis.frontier.view import FrontierReport
from warehouse.charts.picture import Picture
from warehouse.charts.scatter import Spot, by_cost
from warehouse.tables.words import decimals


def frontier_pictures(report: FrontierReport) -> list[Picture]:
    """Score against cost of each group of rows, with intervals both ways."""
    drawn = []
    for rows in report.groups():
        first = rows[0]
        spots = [
            Spot(
                row.label,
                row.mean_cost,
                f"{row.mean_cost:.4g}",
                row.estimate,
                False,
                *row.intervals,
            )
            for row in rows
        ]
        drawn.append(
            by_cost(
                f"Score against cost on {first.benchmark}",
                spots,
                x=f"{report.unit} an answer",
                y=first.metric,
                n_decimals=decimals(row.standard_error for row in rows),
                note=f"{first.benchmark}, {first.metric} and {first.cost_metric}",
                higher_is_better=report.higher_is_better,
            )
        )
    return [picture for picture in drawn if picture]
