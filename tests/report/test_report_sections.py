"""Sections of the report: their figures are those of the commands."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

import warehouse
import warehouse.report.page
from tests.support.html import EVIL, Reader, table
from tests.support.sections import ANSWERS, STEPS, analysed_url, section_of
from tests.support.stores import ENGINES, store_at
from warehouse.analysis.datamap.section import DataMapSection, map_part
from warehouse.analysis.matrix.correlation_view import HistogramRow
from warehouse.analysis.matrix.section import MatrixSection
from warehouse.analysis.matrix.section_parts import matrix_part
from warehouse.analysis.matrix.section_parts import test_says as matrix_sentence
from warehouse.analysis.matrix.weights_view import OutrankRow
from warehouse.analysis.report_data.part import BenchmarkPart
from warehouse.analysis.report_data.report import ReportData, read_report
from warehouse.analysis.suites.brief import suite_unit
from warehouse.analysis.training.section import TrainingSection, findings
from warehouse.analysis.training.section_tables import noise_table
from warehouse.analysis.variance.section import VarianceSection
from warehouse.charts.chart import PLOT
from warehouse.charts.draw import draw
from warehouse.claims.questions import ask
from warehouse.cli.commands.claim import _parsed as question_of
from warehouse.report.page import render
from warehouse.store.open import open_store
from warehouse.tables.words import decimals


@pytest.fixture(scope="module", params=ENGINES)
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    with analysed_url(request, request.param) as filled:
        yield filled


@pytest.fixture(scope="module")
def page(data: ReportData) -> Reader:
    return Reader(render(data))


def part(data: ReportData, name: str) -> BenchmarkPart:
    return next(one for one in data.benchmarks if one.name == name)


def two_digits(values: list[float | None]) -> list[str]:
    """Of a column: the smallest with two digits that say something, all with the same
    decimals."""
    places = decimals(values)
    return ["" if value is None else f"{value:.{places}f}" for value in values]


def g(value: float | None, form: str = "%.4g") -> str:
    return "" if value is None else form % value


def test_matrix_tests_are_those_of_the_command(
    data: ReportData, page: Reader, url: str
) -> None:
    found = warehouse.connect(url).matrix("exam").test(permutations=49)
    section = section_of(part(data, "exam"), MatrixSection)
    told = section.stored.test if section else None
    assert (
        told is not None
        and told.rows == found.rows
        and told.histogram == found.histogram
    )
    rows = table(page, "Similarity", "p, textbook")
    assert [(row["Similarity"], row["Observed"], row["p"]) for row in rows] == [
        (row.similarity, g(row.observed), g(row.p_value, "%.2g")) for row in found.rows
    ]
    assert all(row["p"] == "0.02" for row in rows if row["Statistic"] == "ks")  # 1/50
    assert page.tags.count(("h4", {})) >= 5


def test_the_sentence_counts_the_tests(url: str) -> None:
    """Of 12 tests one has p ≤ .05 in a fifth of the matrices where prompts have nothing
    in common."""
    found = warehouse.connect(url).matrix("exam").test(permutations=49)
    assert len(found.rows) == 12 and "12 tests need 239" in matrix_sentence(found)
    for p, said in {0.02: "No correlation", 0.004: "Prompts are correlated"}.items():
        rows = [
            replace(row, p_value=p if row.statistic == "ks" else 0.9)
            for row in found.rows
        ]
        assert said in matrix_sentence(
            replace(found, n_permutations=1000, rows=tuple(rows))
        )


def test_weights_are_those_of_the_command(page: Reader, url: str) -> None:
    found = warehouse.connect(url).matrix("exam").weights(draws=500)
    cells = {(row.model, row.scheme): row for row in found.rows}
    for row in table(page, "Model weighed", "medoid"):
        medoid = cells[row["Model weighed"], "medoid"]
        assert row["medoid"].split()[0] == f"{medoid.score:.3f}"
        change = row["medoid"].split()[1]
        signed = (
            0 if change == "=" else int(change[1:]) * (1 if change[0] == "▲" else -1)
        )
        assert signed == medoid.rank_change
    drawn = table(page, "Model drawn", "Best in")
    by_model = {row.model: row for row in found.random}
    assert [row["Uniform"] for row in drawn] == sorted(
        (row["Uniform"] for row in drawn), reverse=True
    )
    places = decimals(row.standard_deviation for row in found.random)
    assert all(
        row["97.5%"] == f"{by_model[row['Model drawn']].high:.{places}f}"
        for row in drawn
    )
    assert sum(float(row["Best in"].rstrip("%")) for row in drawn) == pytest.approx(
        100, abs=0.5
    )


def test_clusters_growth_and_explanation_are_there(page: Reader, url: str) -> None:
    matrix = warehouse.connect(url).matrix("exam")
    clusters = matrix.cluster(n_clusters=(2, 3, 4), permutations=19)
    assert [
        row["Silhouette"] for row in table(page, "Clusters tried", "Silhouette")
    ] == [g(row.silhouette) for row in clusters.rows]
    chosen = table(page, "Medoid", "Its text")
    assert sorted(int(row["Prompts"]) for row in chosen) == sorted(
        row.n_prompts for row in clusters.clusters
    )
    steps_told = table(page, "Order", "Rank correlation")
    last = [row for row in steps_told if row["Size"] == "30"]
    assert [row["Largest difference"] for row in last] == ["0", "0"]
    explained = matrix.explain(permutations=19)
    (mantel,) = [
        row
        for row in table(page, "Statistic of the explanation")
        if row["Statistic of the explanation"] == "Mantel r"
    ]
    assert mantel["Observed"] == g(explained.mantel_r)
    top = table(page, "Prompt explained", "FDR")
    positive = [row for row in explained.rows if (row.coefficient or 0) > 0][:10]
    assert [row["Coefficient"] for row in top] == [
        g(row.coefficient) for row in positive
    ]
    assert top and all(row["Text"].startswith(EVIL) for row in top)


def test_analyses_that_nobody_computed_take_no_space(url: str) -> None:
    with open_store(url) as store:
        text = render(read_report(store, ["gens", "steps"], n_resamples=0))
    assert "not computed" not in text and 'id="matrix-' not in text


def test_curves_are_those_of_the_leaderboard(data: ReportData, page: Reader) -> None:
    found = section_of(part(data, "steps"), TrainingSection)
    assert found is not None and found.curves is not None and found.seeds is not None
    assert part(data, "steps").board is not None
    rows = table(page, "Checkpoints", "Monotonicity")
    assert [float(row["Last"]) for row in rows] == [
        pytest.approx(curve.last, abs=0.0051) for curve in found.curves.rows
    ]
    assert len(rows) == 4 and {row["Checkpoints"] for row in rows} == {str(len(STEPS))}
    seeds = table(page, "Seeds of", "SD over seeds")
    assert [row["SE, both"] for row in seeds] == two_digits(
        [row.se_both_sampled for row in found.seeds.rows]
    )
    assert section_of(part(data, "exam"), TrainingSection) is None


def test_noise_of_training_is_that_of_the_command(
    data: ReportData, page: Reader, url: str
) -> None:
    found = warehouse.connect(url).seeds(["steps"])
    rows = table(page, "Recipe of", "Noise floor")
    assert [row["SD over seeds"] for row in rows] == two_digits(
        [row.seed_sd for row in found.rows]
    )
    assert [row["Noise floor"] for row in rows] == two_digits(
        [row.noise_floor for row in found.rows]
    )
    section = section_of(part(data, "steps"), TrainingSection)
    assert section is not None
    said = findings(section)
    along = warehouse.connect(url).curves("steps").one_line
    assert said[0].startswith(f"Along training: {along}; tests against chance")
    assert any("in 5 % of cases" in one for one in said) == any(
        row.noise_floor for row in found.rows
    )


def test_another_level_holds_for_noise_and_decisions_too(url: str) -> None:
    with open_store(url) as store:
        found = section_of(
            part(read_report(store, ["steps"], level=0.9, n_resamples=0), "steps"),
            TrainingSection,
        )
    house = warehouse.connect(url)
    assert found is not None
    assert (
        found.noise is not None
        and found.noise.rows == house.seeds(["steps"], level=0.9).rows
    )
    assert found.decided is not None
    assert (
        found.decided.rows
        == house.decide(
            found.decided.a, found.decided.b, benchmark="steps", level=0.9
        ).rows
    )
    assert any("in 10 % of cases" in one for one in findings(found))
    assert "in 10 % of cases" in noise_table(found.noise, "steps")


def test_a_decision_counts_the_prompts_as_the_command_does(tmp_path: Path) -> None:
    lines = [
        f"{model},piqa,{step},{prompt},{int(prompt * 7 % 13 < base + step)}"
        for model, base in (("lab/x", 5), ("lab/y", 6))
        for step in (1, 2)
        for prompt in range(150)
    ]
    (tmp_path / "steps.csv").write_text(
        "\n".join(["model,benchmark,step,prompt_id,score", *lines]) + "\n"
    )
    url = store_at(tmp_path / "store.duckdb")
    assert not warehouse.connect(url).ingest(tmp_path / "steps.csv").refused
    with open_store(url) as store:
        section = section_of(
            part(read_report(store, ["piqa"], n_resamples=0), "piqa"), TrainingSection
        )
    found = section.decided if section else None
    assert (
        found is not None
        and found.rows[0].floor_from == "pool"
        and found.rows[0].prompt_sd
    )
    assert found.rows == warehouse.connect(url).decide(found.a, found.b).rows


def test_data_maps_are_those_of_the_command(
    data: ReportData, page: Reader, url: str
) -> None:
    found = warehouse.connect(url).datamap("lab/a", benchmark="gens")
    section = section_of(part(data, "gens"), DataMapSection)
    assert section is not None and section.maps.maps[0].rows == found.rows
    rows = table(page, "Model mapped", "Always")
    assert [row["Mean"] for row in rows] == [
        f"{row.mean:.3f}" for row in found.distribution
    ]
    assert (
        {row["Never"] for row in rows} == {"0.250"} == {row["Always"] for row in rows}
    )
    (suspect,) = table(page, "Majority answer", "Suspected by")
    assert (suspect["Prompt"], suspect["Suspected by"]) == (
        "wrong",
        "2",
    )  # temperatures
    assert (
        suspect["Majority answer"] == f"{EVIL} no"
        and suspect["Target"] == f"yes {EVIL}"
    )
    assert len(found.suspects) == 2
    drawn = map_part(section.maps)
    dots = "".join(
        re.findall(
            'd="((?:M[0-9.]+ [0-9.]+h0)+)" stroke="var', draw(drawn.charts[0]).body
        )
    )
    dots = dots.replace("M11 0h0", "")  # of the legend
    lowest = math.log(max(row.n_generations for row in found.rows))
    shown = [
        (float(x) / PLOT[0], float(y) / PLOT[1])
        for x, y in re.findall("M([0-9.]+) ([0-9.]+)", dots)
    ]
    one = [
        row for row in found.rows if row.condition == found.distribution[0].condition
    ]
    expected = sorted(
        (row.p_correct or 0, -(row.consistency or 0) / lowest) for row in one
    )
    assert len(shown) == len(ANSWERS) == len(expected)  # no two prompts fall together
    assert sorted(shown) == [
        pytest.approx(at, abs=0.021) for at in expected
    ]  # 25 cells


def test_suites_are_those_of_the_command(
    data: ReportData, page: Reader, url: str
) -> None:
    assert [one.name for one in data.suites] == ["course", "extra"]
    board, newest = (one.board for one in data.suites)
    assert board is not None and newest is not None
    assert board == warehouse.connect(url).leaderboard(group="course")
    again = warehouse.connect(url).leaderboard(group="extra", latest=True)
    assert newest.rows == again.rows and newest.notes[1:] == again.notes
    assert "the newest is shown" in newest.notes[0]
    rows = table(page, "Benchmarks", "Missing")
    unit = suite_unit(board.rows, is_share=board.is_share)
    score = "Score, %" if board.is_share else "Score"
    assert [(row[score], row["Low"]) for row in rows] == [
        # an interval that says nothing for want of seeds is not shown, as on a
        # leaderboard
        (
            f"{unit.in_unit(row.estimate):.{unit.digits}f}",
            ""
            if "seeds_too_few" in row.flags
            else f"{unit.in_unit(row.ci_low):.{unit.digits}f}",
        )
        for row in board.rows
    ]


def test_the_commands_that_have_figures_checked_give_those_figures(
    data: ReportData, url: str
) -> None:
    """The store is made by hand, so that its runs prove nothing and no claim is
    written: what would stand in it is."""
    html = render(data)
    held = re.findall(r'<details class="check".*?</details>', html, re.DOTALL)
    found = [
        one for section in held for one in re.findall(r"<code>(.*?)</code>", section)
    ]
    shown = [unescape(re.sub("<.*?>", "", one)) for one in found]
    assert len(shown) == len(set(shown))
    claimed: dict[str, list[dict[str, Any]]] = {}
    for command in shown:
        assert command.startswith("warehouse claim ") and command.endswith(
            " -o claim.json"
        )
        question = shlex.split(command)[2]
        with open_store(url) as store:
            claimed[question] = ask(store, *question_of(question)).rows
    for one in data.benchmarks:
        if one.board and one.board.rows:
            rows = claimed[f"leaderboard {shlex.quote(one.name)}"]
            assert [(row["model"], row["ci_low"]) for row in rows] == [
                (row.model, row.ci_low) for row in one.board.rows
            ]
        if one.pairs:
            rows = claimed[f"pairs {shlex.quote(one.name)} --resamples 99"]
            sides = (
                "split",
                "metric",
                "model_a",
                "condition_a",
                "model_b",
                "condition_b",
            )
            figures = {
                tuple(row[side] for side in sides): (
                    row["difference"],
                    row["p_step_down"],
                )
                for row in rows
            }
            assert len(one.pairs.rows) == sum(
                len(group.labels) - 1 for group in one.pairs.groups
            )  # the first's
            for row in one.pairs.rows:
                assert figures[tuple(getattr(row, side) for side in sides)] == (
                    row.difference,
                    row.p_step_down,
                )
        split = section_of(one, VarianceSection)
        if split is not None:
            assert len(claimed[f"noise variance * -b {shlex.quote(one.name)}"]) == len(
                split.report.rows
            )
    for suite, end in zip(data.suites, ("", " --latest"), strict=True):
        assert suite.board is not None
        found = [
            row["estimate"] for row in claimed[f"leaderboard --group {suite.name}{end}"]
        ]
        assert found == [row.estimate for row in suite.board.rows]
    assert any(question.startswith("noise variance") for question in claimed)
    assert len(held) == len(data.benchmarks) + len(data.suites)


def test_a_suite_can_be_asked_for(url: str) -> None:
    with open_store(url) as store:
        one = read_report(store, ["course"], n_resamples=0)
        none = read_report(store, ["exam"], n_resamples=0)
    assert [found.name for found in one.benchmarks] == ["exam", "steps"]
    assert [found.name for found in one.suites] == ["course"]
    assert none.suites == ()


def test_every_figure_says_what_is_seen(page: Reader) -> None:
    plots = [
        found
        for tag, found in page.tags
        if tag == "svg" and str(found.get("class")).startswith("plot")
    ]
    assert len(plots) >= 20
    assert all(
        found["role"] == "img" and len(found["aria-label"] or "") > 30
        for found in plots
    )
    names = [tag for tag, _ in page.tags]
    assert names.count("figure") == names.count("figcaption") == len(plots)
    parts = [found for tag, found in page.tags if tag in ("g", "text")]
    assert (
        len(parts) > 100
    )  # the words are those of the figure: none of its parts speaks
    assert not {"id", "class", "role", "aria-label", "aria-hidden"} & {*chain(*parts)}
    captions = [found for tag, found in page.tags if tag == "caption"]
    assert len(captions) == names.count("table")
    ids = [found["id"] for _, found in page.tags if "id" in found]
    assert len(ids) == len(set(ids))


def test_histograms_leave_empty_ends_out(data: ReportData) -> None:
    section = section_of(part(data, "exam"), MatrixSection)
    assert section is not None and section.stored.test is not None
    found, test = section.stored, matrix_part(section.stored)["test"]
    assert found.test is not None
    cosine = next(chart for chart in test["charts"] if chart.title.startswith("Cosine"))
    held = [
        row
        for row in found.test.histogram
        if row.similarity == "cosine" and (row.observed or row.permuted)
    ]
    x, y = (cosine.spec["encoding"][name] for name in "xy")
    assert (
        x["scale"]["domain"] == [held[0].low, held[-1].high] and not x["scale"]["nice"]
    )
    assert y["scale"]["domain"] == [
        0.0,
        max(max(row.observed, row.permuted) for row in held),
    ]
    observed, outline = (one["data"]["values"] for one in cosine.spec["layer"])
    assert [(row["x"], row["x2"], row["y"], row["y2"]) for row in observed] == [
        (row.low, row.high, 0.0, row.observed) for row in held if row.observed
    ]
    shuffled = {row["x"]: row["y"] for row in outline[1:-2] if row["y"]}
    assert shuffled == {row.low: row.permuted for row in held if row.permuted}
    assert isinstance(found.test.histogram[0], HistogramRow)
    scores = matrix_part(found)["growth"]["charts"][0]
    assert found.growth is not None
    best = next(row for row in found.growth.rows if row.size == 30 and row.rank == 1)
    assert f"; best on all prompts: {best.model}, " in scores.say
    part_of_page = matrix_part(found)
    assert part_of_page["any"]
    assert found.weights is not None and isinstance(
        found.weights.outranks[0], OutrankRow
    )
