"""How few units carry a lead: goldens of statistics.md §26, all subsets of small cases,
libraries for p."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats
from statsmodels.stats.contingency_tables import mcnemar

from tests.stats.test_preferences import Llmfao
from warehouse.errors import StatisticsError
from warehouse.stats import (
    changed_verdicts,
    cluster_robust,
    handful,
    handful_of_seeds,
    passing_binary,
    passing_clusters,
    passing_t,
)
from warehouse.stats.leaving_out.votes import handful_of_votes
from warehouse.stats.preferences.ballots import ballots
from warehouse.stats.preferences.fit import fit_preferences

#: Golden G26-6.
UNEVEN = np.array(
    [0.9, 0.8, 0.8, 0.7, 0.6, 0.5, 0.4, 0.4, 0.3, 0.3, 0.2, 0.2, 0.1, 0]
    + [-0.1, -0.1, -0.2, -0.3, 1.5, 2]
)


def verdicts(wins: int, losses: int, n: int) -> np.ndarray:
    """Differences of single verdicts."""
    ties = n - wins - losses
    return np.repeat([1.0, -1.0, 0.0], [wins, losses, ties])


def subsets(n: int, k: int) -> Iterator[np.ndarray]:
    """What is kept without each k of n."""
    for left_out in combinations(range(n), k):
        yield np.setdiff1d(np.arange(n), left_out)


@pytest.mark.parametrize(
    ("b", "c", "n", "p", "count", "tie_at", "passing", "changed", "keys"),
    [
        (29, 11, 200, 0.006426576096, 19, 18, 6, 5, 10),
        (9, 1, 50, 0.021484375, 9, 8, 2, 1, 5),
        (12, 0, 100, 0.00048828125, None, 12, 7, 4, 7),
        (6, 0, 50, 0.03125, None, 6, 1, 1, 4),
        (40, 30, 70, 0.2819789218, 11, 10, 0, 0, 6),
    ],
)
def test_g26_7_single_verdicts(
    b: int,
    c: int,
    n: int,
    p: float,
    count: int | None,
    tie_at: int,
    passing: int,
    changed: int,
    keys: int,
) -> None:
    d = verdicts(b, c, n)
    for sign in (1, -1):
        found, kept = handful(sign * d), passing_binary(sign * d)
        assert (found.count, found.tie_at) == (count, tie_at)
        assert found.reason == ("one_sided" if count is None else "")
        assert found.first_leads is (sign == 1)
        assert kept.p_value == pytest.approx(p, abs=1e-10)
        assert kept.count == passing and kept.exact
        left = np.delete(sign * d, kept.left_out)
        assert len(kept.left_out) == passing
        assert _mcnemar(left) > 0.05
    of_verdicts = changed_verdicts(b, c, n)
    assert (of_verdicts.for_sign, of_verdicts.for_p) == (b - c + 1, changed)
    assert of_verdicts.keys == keys


def test_g26_6_a_large_difference_feeds_the_error_too() -> None:
    found, kept = handful(UNEVEN), passing_t(UNEVEN)
    assert found.count == 12 and found.tie_at is None
    assert kept.p_value == pytest.approx(0.002172402418, abs=1e-11)
    assert (kept.count, kept.at_least, kept.exact) == (5, 5, True)
    assert sorted(UNEVEN[kept.left_out]) == [0.7, 0.8, 0.8, 0.9, 1.5]
    by_size = np.sort(UNEVEN)[::-1]
    assert stats.ttest_1samp(by_size[6:], 0).pvalue == pytest.approx(0.04257481873)
    assert stats.ttest_1samp(by_size[7:], 0).pvalue == pytest.approx(0.0869438727)


def test_g26_8_weights_and_clusters() -> None:
    d = [0.4, -0.2, 0.5, 0.1, -0.3, 0.2, 0, 0.6, -0.1, 0.3]
    w = [1, 2, 1, 1, 1, 3, 1, 1, 2, 1]
    assert handful(d).count == 4
    weighted = handful(d, weights=w)
    assert weighted.count == 3 and weighted.left_out.tolist() == [5, 7, 2]
    pairs = handful(d, np.repeat(np.arange(5), 2), w)
    assert pairs.totals == pytest.approx([0, 0.6, 0.3, 0.6, 0.1])
    assert (pairs.count, pairs.tie_at, pairs.reason) == (None, 4, "one_sided")


@pytest.fixture(scope="module")
def mmlu(data_dir: Path) -> dict[str, np.ndarray]:
    """MMLU-Pro by column."""
    import pyarrow.parquet as pq

    table = pq.read_table(data_dir / "mmlu_pro_matrix" / "correct.parquet")
    columns = table.to_pydict()
    return {name: np.array(values) for name, values in columns.items()}


@pytest.mark.parametrize(
    ("a", "b", "p", "count", "passing", "changed"),
    [
        ("Yi-34B", "Mixtral-8x7B-Instruct-v0.1", 0.8561349841, 10, 0, 0),
        ("Meta-Llama-3_1-8B", "Meta-Llama-3-8B", 0.009293708308, 96, 24, 23),
        (
            "Mixtral-8x7B-Instruct-v0.1",
            "Mixtral-8x7B-v0.1",
            7.332394963e-07,
            *(194, 119, 114),
        ),
        ("Meta-Llama-3-8B", "gemma-7b", None, 187, 104, 100),
    ],
)
def test_g26_1_to_3_questions_of_mmlu_pro(
    mmlu: dict[str, np.ndarray],
    a: str,
    b: str,
    p: float | None,
    count: int,
    passing: int,
    changed: int,
) -> None:
    d = mmlu[a].astype(float) - mmlu[b]
    assert handful(d).count == count and handful(d).tie_at == count - 1
    kept = passing_binary(d)
    assert kept.count == passing
    assert p is None or kept.p_value == pytest.approx(p, rel=1e-8)
    counts = int((d > 0).sum()), int((d < 0).sum())
    of_verdicts = changed_verdicts(*counts, len(d))
    assert (of_verdicts.for_p, of_verdicts.new_losses) == (changed, changed)


def test_g26_1_and_2_sources_of_mmlu_pro(mmlu: dict[str, np.ndarray]) -> None:
    sources, codes = np.unique(mmlu["src"], return_inverse=True)
    close = mmlu["Yi-34B"].astype(float) - mmlu["Mixtral-8x7B-Instruct-v0.1"]
    found = handful(close, codes)
    assert sources[found.left_out].tolist() == ["ori_mmlu-professional_accounting"]
    kept = passing_clusters(close, codes)
    assert kept.count == 0 and kept.p_value == pytest.approx(0.8729902186, abs=1e-9)
    shown = mmlu["Meta-Llama-3_1-8B"].astype(float) - mmlu["Meta-Llama-3-8B"]
    found, kept = handful(shown, codes), passing_clusters(shown, codes)
    assert sources[found.left_out].tolist() == [
        "ori_mmlu-professional_law",
        "stemez-Chemistry",
        "stemez-Physics",
        "ori_mmlu-clinical_knowledge",
        "stemez-PhysicalChemistry",
        "ori_mmlu-security_studies",
        "ori_mmlu-high_school_physics",
    ]
    assert kept.p_value == pytest.approx(0.03178644826, abs=1e-9)
    assert (kept.count, kept.exact) == (1, True)
    clinical = np.flatnonzero(sources == "ori_mmlu-clinical_knowledge")
    without = ~np.isin(codes, clinical)
    assert _cr2(shown[without], codes[without]) > 0.05
    subjects, codes = np.unique(mmlu["category"], return_inverse=True)
    found = handful(shown, codes)
    assert subjects[found.left_out].tolist() == [
        *("chemistry", "law", "other", "health", "physics")
    ]
    p_value = passing_clusters(shown, codes).p_value
    assert p_value == pytest.approx(0.06614172199, abs=1e-9)


def _cruxeval(folder: Path, model: str) -> np.ndarray:
    """Share of the draws of each prompt that are right."""
    said = json.loads((folder / f"{model}_input.json").read_text())
    draws = said["raw_scored_generations"]
    return np.array([np.mean(draws[f"sample_{place}"]) for place in range(len(draws))])


@pytest.mark.parametrize(
    ("a", "b", "mean", "p", "fewest", "count", "passing"),
    [
        (
            *("gpt-4-0613_temp0.2", "gpt-4-0613_temp0.8"),
            *(0.018125, 0.0002582677804, 13.26498423, 31, 14),
        ),
        (
            *("gpt-3.5-turbo-0613_temp0.2", "gpt-3.5-turbo-0613_temp0.8"),
            *(0.03375, None, 21.89189189, 45, 27),
        ),
        (
            *("wizard-34b_temp0.2", "codellama-7b_temp0.2"),
            *(0.06725, None, None, 54, 31),
        ),
    ],
)
def test_g26_5_means_of_draws(
    data_dir: Path,
    a: str,
    b: str,
    mean: float,
    p: float | None,
    fewest: float | None,
    count: int,
    passing: int,
) -> None:
    folder = data_dir / "cruxeval_generations"
    if not folder.exists():
        pytest.skip("needs cruxeval_generations")
    d = _cruxeval(folder, a) - _cruxeval(folder, b)
    assert d.mean() == pytest.approx(mean)
    found, kept = handful(d), passing_t(d)
    assert found.count == count
    assert fewest is None or found.fewest_possible == pytest.approx(fewest, rel=1e-8)
    assert p is None or kept.p_value == pytest.approx(p, rel=1e-8)
    assert (kept.at_least, kept.count) == (passing, passing)


@pytest.mark.parametrize(
    ("column", "of_half", "count", "split"),
    [
        ("Lexical (nonent)", 5, 2, (2, 0)),
        ("Subseq (nonent)", 5, 3, None),
        ("MNLI dev acc.", 5, 1, None),
        ("Lexical (nonent)", 50, 4, (1, 3)),
        ("Subseq (nonent)", 50, 6, (3, 3)),
    ],
)
def test_g26_12_seeds_of_hans(
    data_dir: Path,
    column: str,
    of_half: int,
    count: int,
    split: tuple[int, int] | None,
) -> None:
    import pandas as pd

    path = data_dir / "hans_bert_100_seeds" / "berts_of_a_feather_accuracies_by_run.csv"
    table = pd.read_csv(path, encoding="utf-8-sig")
    runs = table["Run"].astype(str).str.fullmatch(r"Run \d+")
    scores = table.loc[runs, column].to_numpy()
    found = handful_of_seeds(scores[:of_half], scores[of_half : 2 * of_half])
    assert found.count == count
    assert split in (None, (found.best_left_out, found.worst_left_out))


@given(
    st.lists(st.integers(-4, 6), min_size=3, max_size=9),
    st.integers(0, 3),
)
def test_no_fewer_units_turn_the_sign(values: list[int], spread: int) -> None:
    d = np.array(values, dtype=float)
    weights = 1.0 + np.arange(len(d)) % (spread + 1)
    found = handful(d, weights=weights)
    totals = d * weights * (1 if (d * weights).sum() >= 0 else -1)
    least = _fewest(totals, lambda kept: kept.sum() < 0)
    if totals.sum() == 0:
        assert (found.count, found.reason) == (0, "tied")
    else:
        assert found.count == least
        if found.count is not None:
            assert np.delete(totals, found.left_out).sum() < 0
            assert found.count >= found.fewest_possible - 1e-9


def _fewest(values: np.ndarray, is_so) -> int | None:  # type: ignore[no-untyped-def]
    """The fewest that are left out for something to hold, of all subsets."""
    for k in range(len(values)):
        if any(is_so(values[kept]) for kept in subsets(len(values), k)):
            return k
    return None


@pytest.mark.parametrize("seed", range(9))
def test_t_passes_without_no_fewer_prompts(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d = rng.normal(1.0, 1.0, 10) + rng.exponential(1.0, 10) * (seed % 3)
    found = passing_t(d)
    values = d if d.sum() > 0 else -d
    least = _fewest(values, lambda kept: _t(kept) > 0.05)
    assert found.count == least
    assert found.at_least is not None and least is not None
    assert found.at_least <= least
    assert _t(np.delete(values, found.left_out)) > 0.05


@pytest.mark.rare
def test_the_fewest_of_t_is_proved_nearly_always() -> None:
    rng = np.random.default_rng(20_261_201)
    proved, apart, shown = 0, [], 0
    for _ in range(150):
        n = int(rng.choice([40, 150, 600]))
        d = rng.laplace(0, 1, n) + 3.0 / np.sqrt(n)
        found = passing_t(d)
        if not found.count:
            continue
        assert found.at_least is not None
        shown += 1
        proved += found.exact
        apart.append(found.count - found.at_least)
        values = d if d.sum() > 0 else -d
        assert stats.ttest_1samp(np.delete(values, found.left_out), 0).pvalue > 0.05
    assert shown > 60 and proved >= 0.97 * shown and max(apart) <= 1


@pytest.mark.parametrize("seed", range(6))
def test_clusters_pass_without_no_fewer(seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.choice(9, 60, p=rng.dirichlet(np.full(9, 4.0)))
    d = rng.normal(0.9, 1.0, 60) + rng.normal(0, 0.4, 9)[codes]
    labels = np.unique(codes)
    found = passing_clusters(d, codes)

    def passes(kept: np.ndarray) -> bool:
        some = np.isin(codes, labels[kept])
        return _cr2(d[some], codes[some]) > 0.05

    sizes = range(len(labels) - 1)
    least = next((k for k in sizes if any(map(passes, subsets(len(labels), k)))), None)
    assert found.count == least and found.exact
    assert found.p_value == pytest.approx(_cr2(d, codes), abs=1e-12)


def test_many_clusters_are_left_out_one_by_one() -> None:
    rng = np.random.default_rng(3)
    codes = np.repeat(np.arange(60), 5)
    d = rng.normal(0.5, 1.0, 300)
    found = passing_clusters(d, codes)
    assert not found.exact and found.count is not None
    assert found.at_least is not None and 1 < found.at_least <= found.count
    kept = ~np.isin(codes, found.left_out)
    assert _cr2(d[kept], codes[kept]) > 0.05
    last = np.isin(codes, found.left_out[:-1])
    assert _cr2(d[~last], codes[~last]) <= 0.05


@given(st.integers(0, 9), st.integers(0, 6), st.integers(0, 5))
def test_no_fewer_verdicts_change_p(wins: int, losses: int, ties: int) -> None:
    wins = max(wins, losses)
    n = wins + losses + ties
    if not n:
        return
    found = changed_verdicts(wins, losses, n)
    possible = [
        undone + new
        for undone, new in product(range(wins + 1), range(n + 1))
        if new <= ties + undone
        and _mcnemar(verdicts(wins - undone, losses + new, n + wins)) > 0.05
    ]
    assert found.for_p == min(possible)


@given(
    st.lists(st.integers(0, 20), min_size=1, max_size=5),
    st.lists(st.integers(0, 20), min_size=1, max_size=5),
)
def test_no_fewer_seeds_turn_the_means(first: list[int], second: list[int]) -> None:
    found = handful_of_seeds(first, second)
    a, b = np.array(first, float), np.array(second, float)
    if a.mean() == b.mean():
        assert found.count == 0
        return
    if a.mean() < b.mean():
        a, b = b, a
    counts = [
        i + j
        for i, j in product(range(len(a)), range(len(b)))
        for own, other in product(subsets(len(a), i), subsets(len(b), j))
        if a[own].sum() * len(other) < b[other].sum() * len(own)
    ]
    assert found.count == min(counts, default=None)


def test_no_significant_lead_rests_on_fewer_than_it_can() -> None:
    rng = np.random.default_rng(7)
    for n in (5, 8, 20, 200):
        for _ in range(100):
            d = rng.standard_t(2, n) + 1.5 / np.sqrt(n)
            found = handful(d)
            if _t(d) <= 0.05 and found.count is not None:
                assert found.count >= 4


def test_too_few_units_have_no_count() -> None:
    assert passing_binary([1.0] * 7).count is None
    assert passing_t(UNEVEN[:7]).count is None
    assert passing_clusters(UNEVEN, np.arange(20) % 4).count is None
    assert passing_t(np.ones(20)).p_value is None
    with pytest.raises(StatisticsError, match="weights"):
        handful([1.0, 0.0], weights=[1.0])
    with pytest.raises(StatisticsError):
        handful([1.0, float("nan")])
    with pytest.raises(StatisticsError, match="alpha"):
        passing_t(UNEVEN, alpha=0.7)


@pytest.mark.parametrize(
    ("unit", "count", "rival", "gap_after"),
    [
        ("votes", 13, "Platypus-2 Instruct (70B)", -0.000233122),
        ("voters", 7, "command", None),
        ("prompts", 3, "command-nightly", None),
    ],
)
def test_g26_9_votes_of_a_crowd(
    data_dir: Path, unit: str, count: int, rival: str, gap_after: float | None
) -> None:
    data = Llmfao(data_dir / "llmfao")
    found = handful_of_votes(fit_preferences(data.votes(data.people)), unit)
    assert (found.count, data.models[found.rival]) == (count, rival)
    assert found.gap_after is not None and found.gap_after < 0
    if unit == "votes":
        assert found.gap == pytest.approx(0.343567678, abs=1e-9)
        assert found.gap_after == pytest.approx(gap_after, abs=1e-9)
        assert found.left_out.tolist() == [
            *(176, 1153, 3648, 4055, 4329, 5416, 6394, 7082, 7261, 7262),
            *(7721, 7723, 7939),
        ]


def test_g26_10_one_vote_of_gpt_4_as_judge(data_dir: Path) -> None:
    data = Llmfao(data_dir / "llmfao")
    found = handful_of_votes(fit_preferences(data.votes(data.judge)))
    assert (data.models[found.first], data.models[found.rival]) == (
        "GPT 3.5 Turbo",
        "GPT 3.5 Turbo (16k)",
    )
    assert found.gap == pytest.approx(0.06047954, abs=1e-8)
    assert found.gap_after == pytest.approx(-0.40552982, abs=1e-8)
    (place,) = found.left_out.tolist()
    vote = data.judge[place]
    assert (vote["id"], vote["prompt"]) == ("2415", "10")
    winner = vote["right"] if vote["winner"] == "right" else vote["left"]
    assert winner == "StarCoderChat Alpha (16B)"


@pytest.mark.rare
@pytest.mark.parametrize("seed", range(2))
def test_no_fewer_votes_of_a_small_board_are_found_by_all_subsets(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pairs = np.array([*combinations(range(4), 2)])[rng.integers(0, 6, 60)]
    strength = np.array([0.5, 0.2, 0.0, -0.3])
    chance = 1 / (1 + np.exp(strength[pairs[:, 1]] - strength[pairs[:, 0]]))
    outcome = (rng.random(60) > chance).astype(int)
    votes = ballots(pairs[:, 0], pairs[:, 1], outcome, n_models=4)
    fit = fit_preferences(votes)
    found = handful_of_votes(fit)
    assert found.count is not None
    for k in range(1, min(found.count, 3)):
        for kept in subsets(60, k):
            try:
                rest = fit_preferences(votes.subset(kept)).strengths
            except StatisticsError:
                continue
            assert rest.argmax() == found.first
    kept = np.setdiff1d(np.arange(60), found.left_out)
    rest = fit_preferences(votes.subset(kept)).strengths
    assert rest[found.rival] > rest[found.first]


def test_votes_with_a_penalty_have_no_handful() -> None:
    votes = ballots([0, 1, 0], [1, 0, 1], [0, 0, 1], n_models=2)
    with pytest.raises(StatisticsError, match="penalty"):
        handful_of_votes(fit_preferences(votes, ridge=0.1))
    with pytest.raises(StatisticsError, match="unit"):
        handful_of_votes(fit_preferences(votes), "judges")


def test_what_is_tied_is_nobodys_lead() -> None:
    found = handful([0.1, 0.2, -0.3])
    assert (found.count, found.reason) == (0, "tied") and not len(found.left_out)
    assert handful([0.0, 0.0]).fewest_possible == 0


def _mcnemar(d: np.ndarray) -> float:
    wins, losses = int((d > 0).sum()), int((d < 0).sum())
    return float(mcnemar([[0, wins], [losses, 0]], exact=True).pvalue)


def _t(d: np.ndarray) -> float:
    """Student's p; in plain words, as `scipy.stats.ttest_1samp` takes a millisecond."""
    if len(d) < 2 or d.std() == 0:
        return 0.0
    t = abs(d.mean()) / (d.std(ddof=1) / np.sqrt(len(d)))
    return float(2 * special.stdtr(len(d) - 1, -t))


def _cr2(d: np.ndarray, codes: np.ndarray) -> float:
    robust = cluster_robust(d, codes)
    if robust is None:
        return 0.0
    t = abs(d.mean()) / robust.se_cr2
    return float(2 * stats.t.sf(t, robust.degrees_of_freedom))
