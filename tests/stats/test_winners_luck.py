"""The luck of the winner (statistics.md §28.1): goldens G28-1 to 4, closed forms, and
how often the corrected interval holds the truth of the row that came first."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from warehouse.errors import StatisticsError
from warehouse.stats import interval_wilson, luck_of_means, winners_luck

#: Most that a mean over the draws is off by.
CLOSE = 0.0003


@pytest.fixture(scope="module")
def mmlu(data_dir: Path) -> dict[str, np.ndarray]:
    """Verdicts on MMLU-Pro by model."""
    import pyarrow.parquet as pq

    table = pq.read_table(data_dir / "mmlu_pro_matrix" / "correct.parquet")
    columns = table.drop(["question_id", "category", "src", "n_options"]).to_pydict()
    return {name: np.array(values, float) for name, values in columns.items()}


def of_two(gap: float, spread: float) -> float:
    """b of two rows: s·φ(Δ/s)."""
    return float(spread * stats.norm.pdf(gap / spread))


def test_g28_1_two_rows_have_a_closed_form(mmlu: dict[str, np.ndarray]) -> None:
    a, b = mmlu["Yi-34B"], mmlu["Mixtral-8x7B-Instruct-v0.1"]
    found = winners_luck(np.column_stack([a, b]))
    spread = (a - b).std(ddof=1) / math.sqrt(len(a))
    assert spread == pytest.approx(0.006456169256, rel=1e-8)
    exact = of_two(a.mean() - b.mean(), spread)
    assert exact == pytest.approx(0.002522623164, rel=1e-8)
    assert found.luck == pytest.approx(exact, abs=1e-4)
    assert found.first == 0 and found.is_corrected
    assert found.corrected == pytest.approx(0.42849, abs=1e-4)
    own = interval_wilson(a.sum(), len(a))
    assert found.interval(own.low, own.high, (0.0, 1.0)) == pytest.approx(
        (0.41680, 0.44279), abs=1e-4
    )


def test_g28_2_the_first_of_16_and_of_17(mmlu: dict[str, np.ndarray]) -> None:
    board = np.column_stack([*mmlu.values()])
    clear = winners_luck(board)
    assert (clear.luck, clear.is_corrected) == (0.0, False)
    assert clear.corrected == clear.mean
    assert clear.interval(0.5, 0.6) == (0.5, 0.6)
    names = [name for name in mmlu if name != "Meta-Llama-3-70B"]
    found = winners_luck(np.column_stack([mmlu[name] for name in names]))
    assert names[found.first] == "Meta-Llama-3_1-8B-Instruct"
    assert found.standard_error == pytest.approx(0.006001003636, rel=1e-8)
    assert found.luck == pytest.approx(0.00238, abs=CLOSE)
    assert found.corrected == pytest.approx(0.43522, abs=CLOSE)
    ends = found.interval(0.4258779965, 0.4493932749, (0.0, 1.0))
    assert ends == pytest.approx((0.42350, 0.44939), abs=CLOSE)
    assert found.critical == pytest.approx(2.905, abs=0.03)


def test_g28_3_rows_of_math_500(data_dir: Path) -> None:
    path = data_dir / "math500_matrix" / "Y_MATH-500.csv"
    lines = path.read_text(encoding="utf-8").splitlines()[1:]
    rows = [line.split(",") for line in lines]
    right = np.array([[float(cell) > 0 for cell in row[1:]] for row in rows]).T
    board = right.astype(float)
    order = np.argsort(-board.mean(axis=0), kind="stable")[10:50]
    found = winners_luck(board[:, order])
    first = rows[order[found.first]][0]
    assert first == "deepseek_ai_DeepSeek_R1_Distill_Qwen_14B_one_shot"
    assert (found.mean, len(found.tied)) == (0.868, 3)
    assert found.luck == pytest.approx(0.01343, abs=CLOSE)
    assert found.corrected == pytest.approx(0.85457, abs=CLOSE)
    ends = found.interval(0.8355052093, 0.8948832762, (0.0, 1.0))
    assert ends == pytest.approx((0.82208, 0.89488), abs=CLOSE)
    whole = winners_luck(board)
    assert whole.luck == pytest.approx(0.0002, abs=1e-4)
    assert whole.standard_error == pytest.approx(0.01157, abs=1e-5)
    assert not whole.is_corrected and len(whole.tied) == 2


def test_g28_4_of_means_with_known_errors() -> None:
    sigma = [
        [0.00105, 0.0006, 0.0005],
        [0.0006, 0.00107, 0.0005],
        [0.0005, 0.0005, 0.00112],
    ]
    found = luck_of_means([0.70, 0.69, 0.66], sigma)
    assert found.luck == pytest.approx(0.01487, abs=CLOSE)
    equal = luck_of_means([0.7] * 5, 0.001 * (0.4 + 0.6 * np.eye(5)))
    assert equal.luck == pytest.approx(math.sqrt(0.0006) * 1.1629645, abs=CLOSE)
    assert equal.tied == (0, 1, 2, 3, 4)


@pytest.mark.parametrize(("m", "largest"), [(2, 0.5641896), (10, 1.5387527)])
def test_equal_rows_gain_the_largest_of_as_many_normals(m: int, largest: float) -> None:
    """se·√(1 − ρ)·E max of M normals, of tables (Harter 1961)."""
    rho = 0.3
    sigma = 4.0 * (rho + (1 - rho) * np.eye(m))
    found = luck_of_means(np.zeros(m), sigma, seed=3)
    assert found.luck == pytest.approx(2 * math.sqrt(1 - rho) * largest, rel=0.02)


def test_the_covariance_is_that_of_the_means() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(60, 3))
    found = winners_luck(scores)
    by_numpy = luck_of_means(scores.mean(axis=0), np.cov(scores.T) / 60)
    assert found.luck == pytest.approx(by_numpy.luck, rel=1e-9)
    assert found.standard_error == pytest.approx(by_numpy.standard_error, rel=1e-9)
    # clusters: with one prompt each the same, and copies add no rows of data
    alone = winners_luck(scores, np.arange(60))
    assert alone.luck == pytest.approx(found.luck, rel=1e-9)
    copied = winners_luck(np.repeat(scores, 3, axis=0), np.repeat(np.arange(60), 3))
    assert copied.standard_error == pytest.approx(found.standard_error, rel=1e-9)
    gaps = np.where(rng.random((60, 3)) < 0.1, np.nan, scores)
    assert winners_luck(gaps).standard_error > 0
    seeds = winners_luck(scores, more_variance=[0.1, 0.1, 0.1])
    assert seeds.standard_error**2 == pytest.approx(found.standard_error**2 + 0.1)
    assert seeds.luck > found.luck


def test_the_lower_end_stays_within_the_bounds() -> None:
    found = luck_of_means([0.05, 0.05], 0.0009 * np.eye(2))
    assert found.interval(0.01, 0.2, (0.0, 1.0)) == (0.0, 0.2)
    assert found.interval(0.01, 0.2)[0] < 0
    assert found.interval(None, None) == (None, None)


def test_what_has_no_winner_is_refused() -> None:
    with pytest.raises(StatisticsError, match="two rows"):
        winners_luck([[1.0], [0.0]])
    with pytest.raises(StatisticsError, match="infinite"):
        winners_luck([[1.0, float("inf")], [0.0, 1.0]])
    with pytest.raises(StatisticsError, match="row 1 has 1"):
        winners_luck([[1.0, 1.0], [0.0, float("nan")]])
    with pytest.raises(StatisticsError, match="one cluster"):
        winners_luck([[1.0, 0.0], [0.0, 1.0]], [3, 3])
    with pytest.raises(StatisticsError, match="covariance"):
        luck_of_means([0.1, 0.2], np.eye(3))


@pytest.mark.rare
@pytest.mark.parametrize(
    ("ahead", "m", "n", "plain_at_most"),
    [(0.0, 5, 200, 0.93), (0.0, 25, 200, 0.80), (0.03, 25, 1000, 0.93)],
)
def test_it_covers_the_truth_of_the_row_that_came_first(
    ahead: float, m: int, n: int, plain_at_most: float
) -> None:
    """Single verdicts of equal rows, or with one ahead; latent correlation .6. By §28.1
    plain intervals cover .896, .726 and .892, corrected ones .968, .952 and .972."""
    rng = np.random.default_rng(8)
    truth = np.full(m, 0.6)
    truth[0] += ahead
    cuts = stats.norm.ppf(truth)
    plain, held, off = [], [], []
    for seed in range(400):
        common = rng.normal(size=(n, 1)) * math.sqrt(0.6)
        latent = common + rng.normal(size=(n, m)) * math.sqrt(0.4)
        scores = (latent < cuts).astype(float)
        found = winners_luck(scores, seed=seed)
        own = interval_wilson(scores[:, found.first].sum(), n)
        low, high = found.interval(own.low, own.high, (0.0, 1.0))
        true = truth[found.first]
        plain.append(own.low <= true <= own.high)
        held.append(low <= true <= high)
        off.append((found.mean - true, found.corrected - true))
    assert np.mean(plain) <= plain_at_most
    assert 0.92 <= np.mean(held) <= 0.99
    before, after = np.mean(off, axis=0)
    assert abs(after) < before
