"""Rows over seeds and tests of repeats on published runs: figures worked out by
independent code."""

from __future__ import annotations

import csv
import json
import math
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from warehouse.stats import (
    compare_infinite,
    describe_infinite,
    difference_over_paired_seeds,
    difference_over_seeds,
    estimate_mean,
    figures_over_seeds,
    holm,
    repeats_test,
    row_checkpoint,
    row_over_seeds,
    whole_seeds,
)
from warehouse.stats.core.sample import find_link
from warehouse.stats.rows.seed_fit import SeedFit
from warehouse.stats.rows.seed_row import SeedRow, row_of_fit

GPT5, OPUS = "20250924_droid_gpt-5", "20250923_droid_claude-4-1-opus"
OPENHANDS = "20250711_openhands_claude-4-sonnet"


def golden(value: float) -> object:
    """Equal at the digits that the golden has."""
    return pytest.approx(value, rel=2e-9)


def needs(folder: Path) -> Path:
    if not folder.exists():
        pytest.skip(f"no {folder.name} in {folder.parent}")
    return folder


@cache
def tasks_of(folder: Path) -> np.ndarray:
    """Whether each task was resolved, shape (runs, tasks), tasks sorted."""
    runs = []
    for path in sorted(folder.glob("*/results.json")):
        results = json.loads(path.read_text())["results"]
        runs.append(
            {item["task_id"]: float(bool(item["is_resolved"])) for item in results}
        )
    return np.array([[run[task] for task in sorted(run)] for run in runs])


@pytest.fixture
def bench(data_dir: Path) -> Path:
    return needs(data_dir / "terminal_bench")


def ends(row: SeedRow) -> tuple[object, object]:
    return row.ci_low, row.ci_high


def test_gr1_five_runs(bench: Path) -> None:
    row = row_over_seeds(tasks_of(bench / GPT5), bounds=(0, 1))
    assert row.estimate == golden(0.525)
    assert (row.v_prompts, row.v_seeds) == (golden(0.002346518987), golden(0.0004375))
    assert (row.v_interaction, row.df_prompts, row.df_seeds) == (
        golden(0.0001969936709),
        79,
        4,
    )
    assert row.standard_error == golden(0.05086280877)
    assert (row.pooled_low, row.pooled_high) == (
        golden(0.4245541807),
        golden(0.6230456624),
    )
    assert ends(row) == (golden(0.4127120359), golden(0.6349781737))
    assert (row.seed_sd, row.seed_sd_net) == (
        golden(0.04677071733),
        golden(0.03467753806),
    )
    assert row.flags == ()
    test = repeats_test(tasks_of(bench / GPT5), bounds=(0, 1))
    assert (test.statistic, test.p_value) == (golden(8.75), golden(0.06766126455))
    assert (test.n_differ, test.verdict) == (27, "pooled")


def test_gr2_two_and_three_runs(bench: Path) -> None:
    row = row_over_seeds(tasks_of(bench / GPT5)[:2], bounds=(0, 1))
    assert (row.v_prompts, row.v_seeds) == (golden(0.002602848101), golden(0.00140625))
    assert (row.v_interaction, row.standard_error) == (
        golden(0.0005359968354),
        golden(0.05893302356),
    )
    assert (row.pooled_low, row.pooled_high) == (
        golden(0.4199936915),
        golden(0.6282135231),
    )
    assert ends(row) == (golden(0.1560833372), golden(0.8704922078))
    assert row.flags == ("two_seeds", "seeds_dominate", "seeds_too_few")
    three = row_over_seeds(tasks_of(bench / GPT5)[:3], bounds=(0, 1))
    assert (three.v_seeds, three.v_interaction) == (
        golden(0.000625),
        golden(0.0002909634318),
    )
    assert (*ends(three), three.flags) == (
        golden(0.3684503094),
        golden(0.6550653301),
        (),
    )


def test_gr3_a_run_without_four_tasks(bench: Path) -> None:
    cells = tasks_of(bench / GPT5).copy()
    cells[0, :4] = math.nan
    assert whole_seeds(cells).all()
    row = row_over_seeds(cells, bounds=(0, 1))
    assert (row.estimate, row.v_prompts) == (
        golden(0.5238486842),
        golden(0.002337120305),
    )
    assert (row.v_seeds, row.v_interaction) == (
        golden(0.0004604126991),
        golden(0.0002012877882),
    )
    assert (row.standard_error, *ends(row)) == (
        golden(0.05095336315),
        golden(0.4110626319),
        golden(0.634381809),
    )


def test_gr4_seeds_no_wider_than_draws(bench: Path) -> None:
    opus = row_over_seeds(tasks_of(bench / OPUS), bounds=(0, 1))
    assert (opus.v_seeds, opus.v_interaction) == (
        golden(7.8125e-05),
        golden(0.0001509098101),
    )
    assert opus.standard_error == golden(0.0495988656)
    assert ends(opus) == (golden(0.4827482553), golden(0.6855997508))
    assert ends(opus) == (opus.pooled_low, opus.pooled_high)
    test = repeats_test(tasks_of(bench / OPUS), bounds=(0, 1))
    assert (test.statistic, test.p_value) == (golden(2.083333333), golden(0.7204349163))
    openhands = row_over_seeds(tasks_of(bench / OPENHANDS), bounds=(0, 1))
    assert (openhands.v_seeds, openhands.v_interaction) == (
        golden(4.6875e-05),
        golden(0.0001354825949),
    )
    assert ends(openhands) == (golden(0.3131444504), golden(0.5183808467))


def test_gr5_to_gr7_differences_over_seeds(bench: Path) -> None:
    gpt5, opus, openhands = (tasks_of(bench / name) for name in (GPT5, OPUS, OPENHANDS))
    found = difference_over_seeds(opus, gpt5, bounds=(0, 1))
    assert (found.difference, found.b) == (golden(0.0625), golden(0.0005710047468))
    assert (found.v_prompts, found.v_seeds_pooled) == (
        golden(0.0009189082278),
        golden(0.000515625),
    )
    assert (found.df_seeds_pooled, found.standard_error) == (8, golden(0.03296406751))
    assert (found.ci_low, found.ci_high) == (
        golden(-0.008240194071),
        golden(0.1332401941),
    )
    assert found.p_value == golden(0.07865331466)
    paired = difference_over_paired_seeds(opus, gpt5, bounds=(0, 1))
    assert (paired.v_seeds_pooled, paired.b) == (
        golden(0.000828125),
        golden(0.000578125),
    )
    assert (paired.ci_low, paired.ci_high) == (
        golden(-0.03063534497),
        golden(0.155635345),
    )
    assert paired.p_value == golden(0.1471562358)
    three = difference_over_seeds(opus[:3], gpt5, bounds=(0, 1))
    assert (three.v_seeds_pooled, three.v_seeds_welch) == (
        golden(0.0008981481481),
        golden(0.0006631944444),
    )
    assert (three.df_seeds_welch, three.standard_error) == (
        golden(5.998684535),
        golden(0.03809921321),
    )
    assert (three.ci_low, three.ci_high) == (
        golden(-0.02033948649),
        golden(0.1536728198),
    )
    assert three.p_value == golden(0.1153397676)
    one = difference_over_seeds(opus[:1], gpt5, bounds=(0, 1))
    assert (one.b, one.v_seeds_pooled, one.df_seeds_pooled) == (
        golden(0.0006582278481),
        golden(0.002625),
        4,
    )
    assert (one.ci_low, one.ci_high) == (golden(-0.0761390987), golden(0.2261390987))
    assert (one.p_value, one.flags) == (golden(0.250123844), ("one_seed",))
    far = difference_over_seeds(openhands, opus, bounds=(0, 1))
    assert (far.standard_error, far.p_value) == (
        golden(0.04333779594),
        golden(0.0001581564826),
    )
    assert (far.ci_low, far.ci_high) == (golden(-0.261261725), golden(-0.08873827496))
    other = difference_over_seeds(openhands, gpt5, bounds=(0, 1))
    adjusted = holm(np.array([far.p_value, other.p_value, found.p_value], dtype=float))
    assert adjusted.tolist() == [
        golden(0.0004744694477),
        golden(0.0298893638),
        golden(0.07865331466),
    ]


def test_gr8_two_models_posed_as_repeats(bench: Path) -> None:
    runs = np.array([tasks_of(bench / OPENHANDS)[0], tasks_of(bench / OPUS)[0]])
    test = repeats_test(runs, bounds=(0, 1))
    assert (test.p_value, test.n_differ, test.verdict) == (
        golden(0.001543879509),
        24,
        "widened",
    )


def test_gr9_a_hundred_seeds(data_dir: Path) -> None:
    folder = needs(data_dir / "hans_bert_100_seeds")
    with (folder / "berts_of_a_feather_accuracies_by_run.csv").open(
        encoding="utf-8-sig", newline=""
    ) as file:
        rows = [
            row for row in csv.DictReader(file) if (row["Run"] or "").startswith("Run ")
        ]
    with (folder / "mnli_development_set_number_of_correct_responses.txt").open(
        encoding="utf-8"
    ) as file:
        parts = np.array(
            [
                float(line.rstrip("\n").rpartition("\t")[2]) / 100
                for line in list(file)[1:]
            ]
        )
    rates = np.array([float(row["MNLI dev acc."]) for row in rows])
    s, n = len(rates), len(parts)
    v_seeds = float(rates.var(ddof=1)) / s
    # all scores are 0 or 1: the sum of their squares is their sum
    left = (
        s * parts.sum()
        - s * float(parts @ parts)
        - n * float(((rates - rates.mean()) ** 2).sum())
    )
    v_interaction = left / ((n - 1) * (s - 1)) / (n * s)
    pooled = estimate_mean(parts, bounds=(0, 1), n_draws=s)
    v_prompts = float(parts.var(ddof=1)) / n
    fit = SeedFit(
        float(parts.mean()),
        parts,
        rates - rates.mean(),
        v_prompts,
        n - 1.0,
        v_seeds,
        v_interaction,
    )
    row = row_of_fit(fit, pooled, find_link("identity"), (0.0, 1.0))
    assert (row.estimate, row.v_prompts) == (
        golden(0.8433927662),
        golden(1.029320419e-05),
    )
    assert row.v_seeds == pytest.approx(5.85514033e-08, rel=1e-8)
    assert row.standard_error == pytest.approx(0.003212442871, rel=1e-6)
    assert (pooled.ci_low, pooled.ci_high) == (
        golden(0.8371038334),
        golden(0.8496816989),
    )
    assert ends(row) == (
        pytest.approx(0.8370952312, rel=1e-7),
        pytest.approx(0.8496902098, rel=1e-7),
    )
    lexical = figures_over_seeds(
        [float(row["Lexical (nonent)"]) for row in rows], bounds=(0, 1)
    )
    assert (lexical.estimate, lexical.seed_sd) == (
        golden(0.276572),
        golden(0.1236428516),
    )
    five = figures_over_seeds(
        [float(row["Lexical (nonent)"]) for row in rows[:5]], bounds=(0, 1)
    )
    assert (five.estimate, *ends(five)) == (
        golden(0.29216),
        golden(0.1970528735),
        golden(0.409745834),
    )
    overall = figures_over_seeds(
        [float(row["Overall accuracy"]) for row in rows[:5]], bounds=(0, 1)
    )
    assert ends(overall) == (golden(0.5523435935), golden(0.5830066457))


def cruxeval(folder: Path, name: str) -> np.ndarray:
    """Whether each draw is right, shape (problems, draws)."""
    scored = json.loads((folder / f"{name}.json").read_text())["raw_scored_generations"]
    return np.array([scored[key] for key in sorted(scored)], dtype=float)


@pytest.mark.parametrize(
    ("model", "task", "statistic", "p", "verdict"),
    [
        ("codellama-7b", "input", 52.64369126, 3.998933753e-13, "split"),
        ("phi-1", "output", 17.97735279, 2.235488166e-05, "split"),
        ("gpt-4-0613", "input", 13.26498423, 0.0002704097331, "widened"),
        ("gpt-4-0613", "output", 2.023225806, 0.1549097505, "pooled"),
    ],
)
def test_gr12_two_temperatures_posed_as_repeats(
    data_dir: Path, model: str, task: str, statistic: float, p: float, verdict: str
) -> None:
    folder = needs(data_dir / "cruxeval_generations")
    runs = [
        cruxeval(folder, f"{model}_temp{warm}_{task}").mean(axis=1)
        for warm in ("0.2", "0.8")
    ]
    test = repeats_test(runs, bounds=(0, 1))
    assert (test.statistic, test.p_value) == (golden(statistic), golden(p))
    assert test.verdict == verdict


def test_gr13_draws_that_lie_in_an_order(data_dir: Path) -> None:
    folder = needs(data_dir / "cruxeval_generations")
    ordered = repeats_test(
        cruxeval(folder, "codellama-7b_temp0.8_input").T, bounds=(0, 1)
    )
    assert ordered.means[0] == golden(0.39375) and ordered.means[-1] == golden(0.18)
    assert (ordered.statistic, ordered.p_value) == (
        golden(305.2412293),
        golden(2.017062073e-60),
    )
    fair = repeats_test(cruxeval(folder, "gpt-4-0613_temp0.8_input").T, bounds=(0, 1))
    assert (fair.statistic, fair.p_value) == (golden(9.485430874), golden(0.393722548))


def reasoning_gym(folder: Path, model: str, task: str) -> np.ndarray:
    """Scores of each completion, shape (completions, questions)."""
    path = next(folder.glob(f"zero-shot/easy/*{model}*/*/{task}.json"))
    results = json.loads(path.read_text())["results"]
    return np.array(
        [[own["score"] for own in item["completions"]] for item in results], dtype=float
    ).T


def test_gr14_completions_as_runs(data_dir: Path) -> None:
    folder = needs(data_dir / "reasoning_gym")
    runs = reasoning_gym(folder, "llama-3.3-70b", "syllogism")
    row, test = row_over_seeds(runs, bounds=(0, 1)), repeats_test(runs, bounds=(0, 1))
    assert (row.v_prompts, row.v_seeds) == (
        golden(0.002597732426),
        golden(0.006177777778),
    )
    assert (row.v_interaction, row.standard_error) == (
        golden(0.0009623582766),
        golden(0.08839203543),
    )
    assert ends(row) == (golden(0.2922772741), golden(0.8783108244))
    assert (test.statistic, test.p_value, test.verdict) == (
        golden(11.58333333),
        golden(0.003052889784),
        "widened",
    )
    backward = row_over_seeds(
        reasoning_gym(folder, "claude-3.5-sonnet", "spell_backward"), bounds=(0, 1)
    )
    assert (backward.v_seeds, backward.v_interaction) == (
        golden(0.0001203333333),
        golden(7.940362812e-05),
    )
    assert ends(backward) == (golden(0.8476780849), pytest.approx(1, abs=1e-12))
    assert (backward.pooled_low, backward.pooled_high) == (
        golden(0.9041907395),
        golden(0.9978034699),
    )


def test_gr11_the_last_checkpoint_of_a_curve(data_dir: Path) -> None:
    folder = needs(data_dir / "pythia")
    scores: dict[float, float] = {}
    for path in folder.glob("evals/pythia-v1/pythia-70m/zero-shot/70m_step*.json"):
        results = json.loads(path.read_text())["results"]
        scores[float(path.stem.rpartition("step")[2])] = results["lambada_openai"][
            "acc"
        ]
    assert len(scores) == 27
    found = row_checkpoint({None: dict.fromkeys(scores, 1)})
    assert (found.position, scores[found.position]) == (143000, golden(0.1845526878))
    assert max(scores.values()) == golden(0.2534445954)


def test_gr17_infinite_scores() -> None:
    inf = math.inf
    x = [3, 1, inf, 2, 5, inf, 4, 1.5, 2.5, 8, 6, 7]
    y = [2, 1, 4, 3, inf, inf, 3, 1, 2, 9, 5, 6.5]
    first, second = describe_infinite(x), describe_infinite(y)
    assert first.share_infinite == golden(0.1666666667)
    assert (first.share_low, first.share_high) == (
        golden(0.02086252546),
        golden(0.4841377487),
    )
    assert (first.mean, first.median, first.median_low, first.median_high) == (
        inf,
        4.5,
        2,
        8,
    )
    assert (first.mean_finite, second.mean_finite) == (4, golden(3.65))
    assert (second.median, second.median_low, second.median_high) == (3.5, 2, 9)
    assert (first.order, second.order) == (
        (golden(1 / 6), golden(10 / 3)),
        (golden(1 / 6), golden(3.041666667)),
    )
    found = compare_infinite(x, y, higher_is_better=False)
    assert (found.n_first, found.n_second, found.n_ties, found.p_sign) == (
        3,
        7,
        2,
        golden(0.34375),
    )
    assert (found.n_infinite_first, found.n_infinite_second, found.p_infinite) == (
        1,
        1,
        1,
    )
    assert (found.better, found.p_value, found.leads) == (1, golden(0.6875), False)
