"""``variance``: what programs get of draws, pass@k and seeds, and what is refused (for people: `test_golden.py`)."""

from __future__ import annotations

from dataclasses import fields

from tests.support.cli import Caller
from warehouse.analysis.variance.pass_report import PassRow
from warehouse.analysis.variance.row import VarianceRow
from warehouse.analysis.variance.seed_report import SeedRow
from warehouse.api import connect


def test_programs_get_the_librarys_rows(run: Caller, url: str) -> None:
    found = connect(url)
    cases = [
        (("quiz",), VarianceRow, found.variance("quiz")),
        (("quiz", "--pass-at", "1,2", "--pass-hat", "2"), PassRow, found.pass_rates("quiz", at=[1, 2], hat=[2])),
        (("probe", "--seeds"), SeedRow, found.seed_variance("probe")),
    ]
    for arguments, kind, report in cases:
        rows = run("variance", *arguments, "--json", db=url).rows
        assert rows == report.to_dict()["rows"] and len(rows) > 1
        assert list(rows[0]) == [item.name for item in fields(kind)]
        header = run("variance", *arguments, "--csv", db=url).out.splitlines()[0]
        assert header.split(",") == list(rows[0])


def test_mistakes_are_misuse(run: Caller, url: str) -> None:
    run("variance", "quizz", db=url).fails(2, "quizz", "benchmark")
    run("variance", "quiz", "--pass-at", "0", db=url).fails(2, "below 1")
    run("variance", "quiz", "--pass-at", "two", db=url).fails(2, "two")
    run("variance", "quiz", "--seeds", "--pass-at", "1", db=url).fails(2, "--pass-at does not go with --seeds")
    run("variance", "quiz", "--estimand", "prompts-fixed", db=url).fails(2, "--pass-at")
    run("variance", "quiz", "--seeds", db=url).fails(2, "two training seeds")
    run("variance", db=url).fails(2, "RUN|BENCHMARK")
