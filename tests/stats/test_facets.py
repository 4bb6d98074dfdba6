"""A figure's error that counts other settings: goldens of statistics.md §27, the mean
squares of statsmodels, least squares with dummies, and simulation."""

from __future__ import annotations

import csv
import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.formula.api import ols  # type: ignore[import-untyped]
from statsmodels.stats.anova import anova_lm  # type: ignore[import-untyped]

from warehouse.errors import StatisticsError
from warehouse.stats import (
    PublishedPair,
    borrowed_part,
    design_study,
    interval_borrowed,
    interval_wilson_bounded,
    other_source,
    total_difference,
    total_error,
)
from warehouse.stats.facets.total import TotalError

UNIT = (0.0, 1.0)
THREE = {"template": ["a", "b", "c"]}
#: Golden GT2: judge × template.
CROSSED = (
    "111110100 101100100 111111110 010000000 111101100 110110111 111111111 100100000"
)
NINE = {"judge": list("aaabbbccc"), "template": list("xyzxyzxyz")}


def table(rows: str) -> np.ndarray:
    """Prompts by conditions; - where there is no cell."""
    return np.array(
        [
            [np.nan if digit == "-" else float(digit) for digit in row]
            for row in rows.split()
        ]
    )


def near(value: float | None, expected: float, digits: float = 1e-9) -> None:
    assert value == pytest.approx(expected, rel=digits, abs=1e-12)


def ends(
    error: TotalError, prompts: tuple[float, float], total: tuple[float, float]
) -> None:
    found = (error.prompts_low, error.prompts_high, error.ci_low, error.ci_high)
    assert found == pytest.approx((*prompts, *total), abs=1e-7)


# --- goldens -----------------------------------------------------------------------------------


def test_one_facet() -> None:
    error = total_error(table("110 100 111 000 110 010"), THREE, bounds=UNIT)
    near(error.v_prompts, 0.02037037037)
    near(error.v["template"], 0.02777777778)
    near(error.r["template"], 0.009259259259)
    near(error.t, 0.4713912631)
    near(error.standard_error, 0.1972026594)
    ends(error, (0.1984013117, 0.8015986883), (0.03850529101, 0.961494709))
    assert error.parts == pytest.approx(
        {
            "prompts": 0.01111111111,
            "template": 0.01851851852,
            "prompts x template": 0.009259259259,
        }
    )
    assert (error.other_low, error.other_high) == (0, 1)


def test_two_crossed_facets_and_a_negative_part() -> None:
    error = total_error(table(CROSSED), NINE, bounds=UNIT)
    near(error.v["judge x template"], 0.0007716049383)
    near(error.r["judge x template"], 0.001653439153)
    near(error.v_all, 0.02160493827)
    near(error.r_all, 0.002645502645)
    near(error.df_facets, 3.094711237)
    near(error.standard_error, 0.180020575)
    ends(error, (0.3174598416, 0.8156158058), (0.1170326361, 0.9615216472))
    near(error.parts["judge x template"], -0.0008818342152)
    whole = (error.v_prompts or 0) + error.v_all - error.r_all
    near(sum(error.parts.values()), whole)
    assert error.shares["judge x template"] == 0


def test_a_fixed_facet_is_averaged_over() -> None:
    error = total_error(table(CROSSED), NINE, over=["template"], bounds=UNIT)
    assert error.fixed == ("judge",)
    near(error.v["template"], 0.01523919753)
    near(error.standard_error, 0.1570471289)
    ends(error, (0.3174598416, 0.8156158058), (0.1186763068, 0.9602012213))


def test_cells_that_are_missing() -> None:
    error = total_error(table("11- 100 -11 000 1-0 011 110 0-0"), THREE, bounds=UNIT)
    near(error.estimate, 0.5246212121)
    near(error.v["template"], 0.008807819997)
    near(error.r["template"], 0.01061506013)
    near(error.parts["template"], -0.001807240136)
    ends(error, (0.2447417964, 0.7898439516), (0.1825919224, 0.8484142317))


def test_clusters() -> None:
    """The golden has bounded Wilson throughout; with three clusters the default here is
    another."""
    error = total_error(
        table("110 100 111 000 110 010 111 101"),
        THREE,
        clusters=[0, 0, 0, 1, 1, 2, 2, 2],
        bounds=UNIT,
        method="wilson_bounded",
    )
    near(error.df_prompts, 1.923076923)
    near(error.r["template"], 0.004861111111)
    near(error.t, 0.2024839744)
    ends(error, (0.23319103, 0.8656839395), (0.14772992, 0.9314857146))


def test_conditions_that_are_missing() -> None:
    kept = [0, 1, 2, 3, 4, 6, 7, 8]
    levels = {name: [of[i] for i in kept] for name, of in NINE.items()}
    error = total_error(table(CROSSED)[:, kept], levels, bounds=UNIT)
    assert error.flags == ("conditions_missing",)
    near(error.v["rest"], 0.001205632716)
    near(error.r["rest"], 0.002032352293)
    near(error.df_facets, 3.020871661)
    near(error.standard_error, 0.1767961802)
    near(error.parts["prompts x judge"], -0.0003995811287)
    ends(error, (0.3202836892, 0.8186988871), (0.1238252133, 0.9613937452))
    assert error.other_low is None


def test_what_to_add() -> None:
    study = design_study(total_error(table(CROSSED), NINE, bounds=UNIT))
    scale = study.now.half_width / 0.5823554885
    near(study.now.half_width, (0.9615216472 - 0.1170326361) / 2)
    by = {(d.n_prompts, *d.levels.values()): d for d in study.designs}
    for numbers, expected in {
        (16, 3, 3): (0.535665942, 0.3568485135, 1.637829638),
        (8, 3, 6): (0.4335918789, 0.3365321529, 1.144538073),
    }.items():
        found = by[numbers]
        assert (found.half_width, found.low, found.high) == pytest.approx(
            tuple(scale * value for value in expected)
        )
    assert by[(16, 3, 3)].n_answers == 144


def test_a_part_that_other_models_say() -> None:
    donors = [
        [0.70, 0.62, 0.66],
        [0.81, 0.70, 0.75],
        [0.52, 0.47, 0.54],
        [0.90, 0.85, 0.86],
    ]
    noise, means = [0.0004, 0.0003, 0.0005, 0.0002], [0.66, 0.7533333333, 0.51, 0.87]
    part = borrowed_part(donors, noise, means, 0.712)
    near(part.v, 0.0007814699476, 1e-8)
    near(part.df, 2.357957044, 1e-8)
    plain = interval_wilson_bounded(0.712, (0.712 * 0.288 / 200) ** 0.5, 199)
    assert plain is not None
    found = interval_borrowed(0.712, plain, part, UNIT)
    assert (found.low, found.high) == pytest.approx((0.5808135551, 0.8207287156))
    with pytest.raises(StatisticsError, match="4 are needed"):
        borrowed_part(donors[:3], noise[:3], means[:3], 0.712)


# --- goldens on real data ----------------------------------------------------------------------


def llmbar(folder: Path, judge: str) -> tuple[np.ndarray, dict[str, list[str]]]:
    """Whether a judge agrees with the label, by template and order."""
    items = json.loads((folder / "dataset.json").read_text(encoding="utf-8"))
    columns: list[list[float]] = []
    levels: dict[str, list[str]] = {"template": [], "order": []}
    for path in sorted((folder / "evaluators" / judge).glob("*/result.json")):
        judged = json.loads(path.read_text(encoding="utf-8"))
        for order in ("swap = False", "swap = True"):
            columns.append(
                [
                    float(
                        str(one["results"][-1][order]["winner"]) == str(item["label"])
                    )
                    for item, one in zip(items, judged, strict=True)
                ]
            )
            levels["template"].append(path.parent.name)
            levels["order"].append(order)
    return np.array(columns).T, levels


def test_templates_of_a_judge(data_dir: Path) -> None:
    scores, levels = llmbar(data_dir / "llmbar" / "Natural", "ChatGPT")
    error = total_error(scores, levels, over=["template", "order"], bounds=UNIT)
    assert error.not_in_error == (("order", 2),) and error.fixed == ("order",)
    near(error.v_prompts, 0.0005459648569)
    near(error.v["template"], 0.0002515625)
    ends(error, (0.7185753642, 0.8210822763), (0.7100921598, 0.8301466728))
    assert (error.other_low, error.other_high) == pytest.approx(
        (0.6503830404, 0.9021169596), abs=1e-7
    )
    both = total_error(
        scores, levels, over=["template", "order"], bounds=UNIT, two_levels=True
    )
    assert both.flags == ("two_levels",)
    near(both.df_facets, 9.329148993)
    ends(both, (0.7185753642, 0.8210822763), (0.7071675043, 0.833151003))
    study = design_study(error)
    scale = study.now.half_width / 0.05622620762
    doubled = study.designs[1]
    assert doubled.levels == {"template": 24}
    assert (doubled.half_width, doubled.low, doubled.high) == pytest.approx(
        (scale * 0.0500814827, scale * 0.04808987222, scale * 0.05505818359)
    )
    near(error.estimate, 0.77625)
    scores, levels = llmbar(data_dir / "llmbar" / "Natural", "GPT-4")
    error = total_error(scores, levels, over=["template"], bounds=UNIT)
    ends(error, (0.8870405353, 0.9654201215), (0.8870405353, 0.9656645152))


def test_two_judges(data_dir: Path) -> None:
    folder = data_dir / "llmbar" / "Natural"
    first, of_first = llmbar(folder, "GPT-4")
    second, of_second = llmbar(folder, "ChatGPT")
    common = [
        (of_first["template"].index(name), of_second["template"].index(name), name)
        for name in sorted({*of_first["template"]} & {*of_second["template"]})
    ]

    def together(chosen: list[tuple[int, int, str]]) -> Any:
        one = [i + order for i, _, _ in chosen for order in (0, 1)]
        other = [j + order for _, j, _ in chosen for order in (0, 1)]
        levels: dict[str, list[Any]] = {
            "template": [name for _, _, name in chosen for _ in (0, 1)],
            "order": [order for _ in chosen for order in (0, 1)],
        }
        return total_difference(
            first[:, one], second[:, other], levels, over=["template"], bounds=UNIT
        )

    assert len(common) == 12
    found = together(common)
    near(found.p_prompts, 9.052229499e-11, 1e-6)
    near(found.p_settings, 9.729877534e-07, 1e-6)
    ends(found.error, (0.1174591113, 0.205874222), (0.1120213994, 0.2113119339))
    assert found.verdict == "both"
    three = ("Metrics", "Rating", "Rating_NoRules")
    found = together([one for one in common if one[2] in three])
    near(found.p_settings, 0.0406742794, 1e-6)
    ends(found.error, (0.147283322, 0.2460500113), (0.02008206852, 0.3732512648))
    assert found.error.flags == ("settings_dominate",)


def test_runs_as_backends(data_dir: Path) -> None:
    runs = sorted(
        (data_dir / "terminal_bench" / "20250924_droid_gpt-5").glob("*/results.json")
    )
    columns = [
        {
            one["task_id"]: float(bool(one["is_resolved"]))
            for one in json.loads(path.read_text())["results"]
        }
        for path in runs
    ]
    tasks = sorted({task for column in columns for task in column})
    scores = np.array(
        [[column.get(task, np.nan) for column in columns] for task in tasks]
    )
    error = total_error(scores, {"backend": range(len(runs))}, bounds=UNIT)
    near(error.standard_error, 0.05086280877)
    ends(error, (0.4245541807, 0.6230456624), (0.4144008597, 0.6333109439))


#: Columns of the figures of golden GT15.
COLUMNS = {
    **dict.fromkeys(("mmlu", "gsm8k", "triviaqa"), "EM"),
    "hellaswag": "Overall accuracy",
    **dict.fromkeys(("winogrande", "openbookqa"), "Accuracy"),
    **dict.fromkeys(("piqa", "boolq", "lambada", "scienceqa"), "Score"),
    **dict.fromkeys(("anli", "superglue", "csqa2"), "Score"),
    "arc_ai2": "Challenge score",
    "bbh": "Average",
    "aider_polyglot": "Percent correct",
}


def published(folder: Path) -> list[dict[str, Any]]:
    """Published figures with their sources, equal ones once."""
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for benchmark, column in COLUMNS.items():
        path = folder / "data" / f"external_benchmark_{benchmark}.csv"
        with path.open(encoding="utf-8-sig", newline="") as file:
            for told in csv.DictReader(file):
                text = (told[column] or "").strip()
                try:
                    value = float(text.rstrip("%"))
                except ValueError:
                    continue
                if text.endswith("%") or value > 1.5:
                    value /= 100
                shots = (told.get("Shots") or "").strip()
                shots = shots.removesuffix("-shot").removesuffix(".0")
                model = (told["Model version"] or "").strip()
                source, link = told.get("Source"), told.get("Source link")
                if model:
                    row = (benchmark, model, value, shots, source, link)
                    rows.setdefault(
                        row,
                        dict(zip(("b", "m", "v", "shots", "s", "l"), row, strict=True)),
                    )
    return list(rows.values())


def test_figures_of_other_labs(data_dir: Path) -> None:
    rows = published(data_dir / "benchmark_stitching")
    same_shots, any_shots = [], []
    for one, other in combinations(rows, 2):
        if (one["b"], one["m"]) != (other["b"], other["m"]):
            continue
        if one["s"] == other["s"] or one["l"] == other["l"]:
            continue
        pair = PublishedPair((one["b"], one["m"]), one["v"], other["v"])
        any_shots.append(pair)
        if one["shots"] and one["shots"] == other["shots"]:
            same_shots.append(pair)
    found = other_source(0.7, same_shots)
    near(found.reach, 0.8177936611)
    assert (found.low, found.high) == pytest.approx((0.507376, 0.840920), abs=1e-6)
    found = other_source(0.7, any_shots)
    assert (found.n_pairs, found.n_cells) == (762, 138)
    near(found.reach, 1.155060149)
    with pytest.raises(StatisticsError, match="19 are needed"):
        other_source(0.7, same_shots[:10])


# --- oracles -----------------------------------------------------------------------------------


@pytest.mark.parametrize("counts", [(3,), (3, 4), (2, 3, 3)])
def test_mean_squares_of_statsmodels(counts: tuple[int, ...]) -> None:
    random = np.random.default_rng(7)
    n, names = 5, ("judge", "template", "backend")[: len(counts)]
    codes = np.indices(counts).reshape(len(counts), -1)
    scores = random.normal(size=(n, codes.shape[1])) + random.normal(size=(n, 1))
    levels = {
        name: [int(i) for i in row] for name, row in zip(names, codes, strict=True)
    }
    error = total_error(scores, levels, two_levels=True)
    long = pd.DataFrame(
        [
            {
                "y": scores[i, j],
                "prompt": i,
                **{name: levels[name][j] for name in names},
            }
            for i in range(n)
            for j in range(scores.shape[1])
        ]
    )
    # what is left beside all interactions but the last is that one
    crossed = " + ".join(["C(prompt)", *(f"C({name})" for name in names)])
    found = anova_lm(ols(f"y ~ ({crossed}) ** {len(counts)}", long).fit())
    squares, of_freedom = found["sum_sq"], found["df"]
    size = n * scores.shape[1]
    for label, value in error.v.items():
        term = ":".join(f"C({name})" for name in label.split(" x "))
        near(value, squares[term] / of_freedom[term] / size, 1e-7)
        beside = f"C(prompt):{term}"
        if len(label.split(" x ")) == len(names):
            beside = "Residual"
        near(error.r[label], squares[beside] / of_freedom[beside] / size, 1e-7)


def test_parts_of_conditions_are_those_of_dummies() -> None:
    random = np.random.default_rng(3)
    scores = random.normal(size=(30, 5)) + random.normal(size=(30, 1)) + np.arange(5)
    scores[random.random(scores.shape) < 0.25] = np.nan
    scores = scores[np.isfinite(scores).any(axis=1)]
    error = total_error(scores, {"template": range(5)})
    prompts, conditions = np.nonzero(np.isfinite(scores))
    long = pd.DataFrame(
        {"y": scores[prompts, conditions], "prompt": prompts, "condition": conditions}
    )
    fit = ols("y ~ C(prompt) + C(condition, Sum)", long).fit()
    parts = [fit.params[name] for name in fit.params.index if "Sum" in name]
    parts.append(-sum(parts))
    (levels,) = error.facets
    assert np.array(levels.means) - error.estimate == pytest.approx(np.array(parts))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(3, 6), st.permutations(range(6)))
def test_order_of_conditions_and_prompts_says_nothing(
    seed: int, count: int, order: list[int]
) -> None:
    random = np.random.default_rng(seed)
    scores = (random.random((12, count)) < 0.6).astype(float)
    order = [i for i in order if i < count]
    one = total_error(scores, {"judge": range(count)}, bounds=UNIT)
    other = total_error(scores[::-1, order], {"judge": order}, bounds=UNIT)
    assert (one.ci_low, one.ci_high) == pytest.approx((other.ci_low, other.ci_high))
    assert one.ci_low is not None and one.prompts_low is not None
    assert one.ci_low <= one.prompts_low + 1e-12
    near(sum(one.parts.values()), (one.v_prompts or 0) + one.v_all - one.r_all, 1e-7)


# --- refusals and edges ------------------------------------------------------------------------


def test_too_few_levels_are_named() -> None:
    scores = table("11 10 01 11 00 10")
    with pytest.raises(StatisticsError, match=r"judge \(2\)"):
        total_error(scores, {"judge": ["a", "b"]}, bounds=UNIT)
    error = total_error(scores, {"judge": ["a", "b"]}, bounds=UNIT, two_levels=True)
    assert "two_levels" in error.flags


def test_four_random_facets_are_refused() -> None:
    codes = np.indices((3, 3, 3, 3)).reshape(4, -1)
    scores = np.random.default_rng(0).random((5, 81))
    levels = {name: list(row) for name, row in zip("abcd", codes, strict=True)}
    with pytest.raises(StatisticsError, match="fix some"):
        total_error(scores, levels)
    error = total_error(scores, levels, over=["a", "b", "c"])
    assert error.fixed == ("d",)


def test_a_facet_within_another_is_held_by_it() -> None:
    """Each version was run on one backend only."""
    random = np.random.default_rng(5)
    scores = random.random((20, 6))
    levels = {"backend": list("aabbcc"), "version": list("uvwxyz")}
    error = total_error(scores, levels)
    assert error.nested == ("version",) and [one.facet for one in error.facets] == [
        "backend"
    ]
    means = scores.mean(axis=0).reshape(3, 2).mean(axis=1)
    near(error.v["backend"], means.var(ddof=1) / 3)
    with pytest.raises(StatisticsError, match="which is fixed"):
        total_error(scores, levels, over=["version"])


def test_conditions_without_common_prompts() -> None:
    scores = np.full((9, 3), np.nan)
    for i in range(9):
        scores[i, i % 3] = float(i in (0, 1, 2, 4, 5, 6))
    error = total_error(scores, THREE, bounds=UNIT)
    assert error.flags == ("unlinked",) and error.df_prompts == 6
    columns = [scores[j::3, j] for j in range(3)]
    near(error.v_prompts, sum(c.var(ddof=1) / 3 for c in columns) / 9)
    near(error.estimate, np.mean([c.mean() for c in columns]))
    scores[0, 1] = 1.0
    with pytest.raises(StatisticsError, match="share no prompts"):
        total_error(scores, THREE, bounds=UNIT)


def test_facets_that_name_the_same_conditions() -> None:
    levels = {"judge": [1, 2, 3], "template": [1, 2, 3]}
    with pytest.raises(StatisticsError, match="cannot be told apart"):
        total_error(table("110 100 111"), levels, bounds=UNIT)


def test_scores_that_do_not_vary() -> None:
    error = total_error(np.ones((6, 3)), THREE, bounds=UNIT)
    assert error.estimate == 1 and error.standard_error is None
    assert error.ci_high == 1 and error.ci_low is not None and error.ci_low < 0.7
    alone = total_error([[1, 0, 1]], THREE, bounds=UNIT)
    assert alone.ci_low is None and alone.v_prompts is None


# --- simulation --------------------------------------------------------------------------------


@pytest.mark.rare
@pytest.mark.parametrize(("count", "spread"), [(3, 0.0), (3, 0.5), (8, 0.2), (8, 0.5)])
def test_intervals_cover(count: int, spread: float) -> None:
    """0/1 scores; the truth is the mean over all prompts and all levels."""
    random = np.random.default_rng(count)
    prompts_sd, n, samples, hits = 1.0, 100, 300, 0
    at = np.polynomial.hermite_e.hermegauss(60)
    total_sd = (prompts_sd**2 + spread**2 + 0.25 * spread**2) ** 0.5
    truth = float(np.sum(at[1] / (1 + np.exp(-(0.6 + total_sd * at[0])))) / at[1].sum())
    for _ in range(samples):
        logit = 0.6 + prompts_sd * random.normal(size=(n, 1))
        logit = logit + spread * random.normal(size=(1, count))
        logit = logit + 0.5 * spread * random.normal(size=(n, count))
        scores = (random.random((n, count)) < 1 / (1 + np.exp(-logit))).astype(float)
        error = total_error(
            scores, {"judge": range(count)}, bounds=UNIT, method="wilson_bounded"
        )
        assert error.ci_low is not None and error.ci_high is not None
        hits += error.ci_low <= truth <= error.ci_high
    assert hits / samples >= 0.91  # .95 less three errors of 300
