"""``variance``: what people and programs get to see of draws, pass@k and seeds."""

from __future__ import annotations

from dataclasses import fields

from tests.support.cli import Caller
from warehouse.analysis.variance.pass_report import PassRow
from warehouse.analysis.variance.row import VarianceRow
from warehouse.analysis.variance.seed_report import SeedRow
from warehouse.api import connect


def line_of(text: str, *words: str) -> str:
    (line,) = [line for line in text.splitlines() if all(word in line for word in words)]
    return line


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


def test_one_run_says_what_to_do(run: Caller, url: str) -> None:
    found = run("variance", "run:3", db=url)
    assert found.out.startswith("draws by acc\nmodel")
    words = line_of(found.out, "org/a").split()
    assert {"72.0%", "28.0%", "2-4", "14"} <= set(words)
    assert "se at 2K" in found.out and "se prompts fixed" in found.out
    assert found.out.splitlines()[-1].startswith("twice the draws would save 14 %")


def test_a_benchmark_has_a_row_for_each_condition(run: Caller, url: str) -> None:
    found = run("variance", "draws", db=url)
    assert found.out.count("org/a") == 2 and "temperature=0" in found.out
    last = found.out.splitlines()[-1]
    assert last.startswith("more draws would save at most 7.2 % (of one)") and "50 %" in last
    assert line_of(found.err, "org/d").endswith("no prompt has two draws")


def test_a_model_is_shown_on_each_of_its_benchmarks(run: Caller, url: str) -> None:
    found = run("variance", "org/a", db=url)
    assert {"quiz", "draws", "essay"} <= set(found.out.split())
    one = run("variance", "org/a", "--benchmark", "quiz", db=url)
    assert one.out.startswith("quiz by acc\n")


def test_pass_rates_name_the_estimand_and_what_is_refused(run: Caller, url: str) -> None:
    call = ("variance", "run:3", "--pass-at", "2,3")
    found = run(*call, db=url)
    assert "prompts sampled" in found.out and "95% interval" in found.out
    assert "too_few_draws" in line_of(found.out, "pass@3") and "over all" in found.out
    assert "over the 3 of 4 prompts that have 3 draws (the fewest: 2)" in found.err
    fixed = run(*call, "--estimand", "prompts-fixed", "--level", "0.9", db=url)
    assert "only the draws are random" in fixed.out and "90% interval" in fixed.out
    assert "needs more than k = 2 draws of every prompt: 1 of 4" in fixed.err


def test_seeds_have_an_error_under_each_estimand(run: Caller, url: str) -> None:
    found = run("variance", "lab/seeds", "--benchmark", "probe", "--seeds", db=url)
    for words in ("se seeds fixed", "se prompts fixed", "se both sampled", "step=1000"):
        assert words in found.out
    assert line_of(found.err, "no prompt scored").startswith("note: left out probe")


def test_mistakes_are_misuse(run: Caller, url: str) -> None:
    run("variance", "quizz", db=url).fails(2, "quizz", "benchmark")
    run("variance", "quiz", "--pass-at", "0", db=url).fails(2, "below 1")
    run("variance", "quiz", "--pass-at", "two", db=url).fails(2, "two")
    run("variance", "quiz", "--seeds", "--pass-at", "1", db=url).fails(2, "--pass-at does not go with --seeds")
    run("variance", "quiz", "--estimand", "prompts-fixed", db=url).fails(2, "--pass-at")
    run("variance", "quiz", "--seeds", db=url).fails(2, "two training seeds")
    run("variance", db=url).fails(2, "RUN|BENCHMARK")
