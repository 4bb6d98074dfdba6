"""Answers against targets in a report, and as charts."""

from __future__ import annotations

import re

from tests.analysis.answers.test_answers import ask, build  # noqa: F401  # the store of `world`
from tests.support.html import Reader
from warehouse.analysis.report_data.report import read_report
from warehouse.report.page import render
from warehouse.store.connection import Store


def _rows(page: str, benchmark: str) -> list[dict[str, str]]:
    label = f'aria-label="Answers on {benchmark}"'
    assert label in page
    own = Reader(page[page.index(label) - 40 :].partition("</table>")[0] + "</table>")
    head, *rows = own.tables[0]
    return [dict(zip(head, row, strict=True)) for row in rows]


def test_a_report_holds_answers_against_targets_of_few_classes(world: Store) -> None:
    page = render(read_report(world, ["bool"], n_resamples=0))
    rows = _rows(page, "bool")
    found = ask(world, "bool", latest=True)
    assert [row["Model"] for row in rows] == [row.model for row in found.ranked]
    first = found.ranked[0]
    assert first.estimate is not None and first.ci_low is not None
    assert float(rows[0]["macro F1, %"]) == round(100 * first.estimate, 1)
    assert float(rows[0]["Low"]) == round(100 * first.ci_low, 1)
    assert "the highest macro F1" in page or "leads" in page


def test_targets_of_many_texts_have_no_such_part(world: Store) -> None:
    for name in ("free", "letters", "sizes"):
        assert "Answers on" not in render(read_report(world, [name], n_resamples=0))


def test_what_was_asked_is_drawn(world: Store) -> None:
    (board,) = ask(world, "bool").charts()
    assert board is not None and "macro F1 on bool" in board.title
    (confusion,) = ask(world, "bool", "org/good").charts()
    assert confusion is not None and "target (row)" in confusion.title
    (differences,) = ask(world, "bool", "org/good", "org/poor").charts()
    assert differences is not None
    assert re.match(r"org/good less org/poor on bool", differences.title)
