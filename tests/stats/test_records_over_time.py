"""Records of a benchmark over time: published goldens, and what must hold of any."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warehouse.errors import StatisticsError
from warehouse.stats import Lead, RecordsOverTime, mcnemar_test, records_over_time

#: Entries of G28-5, one a day.
DAILY = (
    *("Yi-6B", "Mistral-7B-Instruct-v0.1", "Yi-6b-Chat", "Mistral-7B-v0.2-hf"),
    *("Mistral-7B-Instruct-v0.2", "Mistral-7B-v0.1", "gemma-7b", "Meta-Llama-3-8B"),
    *("Meta-Llama-3_1-8B", "Llama-2-70b-hf", "Mixtral-8x7B-v0.1"),
    *("Mixtral-8x7B-Instruct-v0.1", "Yi-34B", "Meta-Llama-3_1-8B-Instruct"),
)
#: Those of G28-6, by month.
MONTHLY = {
    "2023-07": ("Llama-2-7b-hf", "Llama-2-13b-hf", "Llama-2-70b-hf"),
    "2023-09": ("Mistral-7B-v0.1", "Mistral-7B-Instruct-v0.1"),
    "2023-11": ("Yi-6B", "Yi-6b-Chat", "Yi-34B"),
    "2023-12": (
        *("Mixtral-8x7B-v0.1", "Mixtral-8x7B-Instruct-v0.1"),
        "Mistral-7B-Instruct-v0.2",
    ),
    "2024-02": ("gemma-7b",),
    "2024-03": ("Mistral-7B-v0.2-hf",),
    "2024-04": ("Meta-Llama-3-8B", "Meta-Llama-3-70B"),
    "2024-07": ("Meta-Llama-3_1-8B", "Meta-Llama-3_1-8B-Instruct"),
}


@pytest.fixture(scope="module")
def mmlu(data_dir: Path) -> dict[str, np.ndarray]:
    """0/1 scores of each model, by name."""
    table = pq.read_table(data_dir / "mmlu_pro_matrix" / "correct.parquet")
    columns = table.drop(["question_id", "category", "src", "n_options"]).to_pydict()
    return {name: np.array(values, float) for name, values in columns.items()}


def found_of(columns: Sequence[np.ndarray], days: Sequence[str]) -> RecordsOverTime:
    """The records of columns of verdicts, by McNemar's test."""

    def lead_of(new: int, old: int) -> Lead:
        gain = float((columns[new] - columns[old]).mean())
        return Lead(gain, mcnemar_test(columns[new], columns[old]).p_value)

    figures = [column.mean() for column in columns]
    return records_over_time(figures, days, lead_of)


def test_g28_5_one_a_day(mmlu: dict[str, np.ndarray]) -> None:
    days = [f"2023-11-{day:02}" for day in range(1, len(DAILY) + 1)]
    found = found_of([mmlu[name][:400] for name in DAILY], days)
    names = [DAILY[record.entry] for record in found.records]
    assert names == ["Yi-6b-Chat", "Llama-2-70b-hf", "Yi-34B"]
    assert DAILY[found.first] == "Yi-6B"
    against = [DAILY[record.standing] for record in found.records]
    assert against == ["Yi-6B", "Yi-6B", "Llama-2-70b-hf"]
    assert [record.n_entries for record in found.records] == [2, 9, 3]
    times = [record.p_times_entries for record in found.records]
    assert times == pytest.approx([0.3499677969, 0.0004148322634, 0.1059710476])
    needed = [record.needed for record in found.records]
    assert needed == pytest.approx([0.025, 0.025, 0.0083333333])
    assert [record.stands for record in found.records] == [False, True, False]
    assert found.records[1].gain == pytest.approx(0.11)
    steps = [record.step_p for record in found.records]
    assert steps == pytest.approx([0.1749838985, 0.006831631268, 0.03532368254])
    adjusted = [record.step_p_holm for record in found.records]
    assert adjusted == pytest.approx([0.1749838985, 0.0204948938, 0.07064736508])
    assert [record.step_stands for record in found.records] == [False, True, False]


def test_g28_6_by_month(mmlu: dict[str, np.ndarray]) -> None:
    names, days = [], []
    for month, models in MONTHLY.items():
        names += models
        days += [f"{month}-01"] * len(models)
    found = found_of([mmlu[name] for name in names], days)
    assert names[found.first] == "Llama-2-70b-hf"
    told = [(names[record.entry], record.n_entries) for record in found.records]
    assert told == [("Yi-34B", 5), ("Meta-Llama-3-70B", 7)]
    times = [record.p_times_entries for record in found.records]
    assert times == pytest.approx([4.441022467e-24, 9.169073681e-48])
    assert found.standing == tuple(record.entry for record in found.records)


tables = st.lists(
    st.tuples(st.integers(0, 12), st.integers(0, 8)), min_size=3, max_size=20
)


@given(tables, st.integers(0, 2**16))
def test_a_verdict_never_changes_by_later_entries(
    entries: list[tuple[int, int]], seed: int
) -> None:
    generator = np.random.default_rng(seed)
    columns = [
        (generator.random(40) < 0.1 + right / 10).astype(float) for _, right in entries
    ]
    days = [f"2024-01-{1 + day:02}" for day, _ in entries]
    if len(set(days)) < 3:
        return
    whole = found_of(columns, days)
    last = max(days)
    kept = [number for number, day in enumerate(days) if day < last]
    part = found_of([columns[n] for n in kept], [days[n] for n in kept])
    verdicts = [
        (kept[record.entry], kept[record.standing], record.p_times_entries)
        + (record.needed, record.stands)
        for record in part.records
    ]
    before = [record for record in whole.records if days[record.entry] < last]
    assert verdicts == [
        (record.entry, record.standing, record.p_times_entries)
        + (record.needed, record.stands)
        for record in before
    ]


def test_figures_of_a_day_are_a_batch() -> None:
    days = ["2024-01-01", "2024-01-01", "2024-01-02", "2024-01-02"]
    found = records_over_time([0.3, 0.5, 0.4, 0.6], days, lambda *_: Lead(0.1, 0.001))
    (record,) = found.records
    assert (found.first, record.entry, record.n_entries) == (1, 3, 2)
    assert record.p_times_entries == pytest.approx(0.002)


def test_equal_figures_are_no_record() -> None:
    days = ["2024-01-01", "2024-01-02"]
    found = records_over_time([0.5, 0.5], days, lambda *_: Lead(0.0, 1.0))
    assert found.records == ()


def test_who_is_not_ahead_on_common_questions_does_not_stand() -> None:
    days = ["2024-01-01", "2024-01-02", "2024-01-03"]
    leads = [Lead(-0.1, 0.0001), Lead(float("nan"), None)]
    found = records_over_time([0.5, 0.6, 0.7], days, lambda new, _: leads[new - 1])
    assert [record.stands for record in found.records] == [False, False]
    assert [record.step_stands for record in found.records] == [False, False]
    assert found.records[1].p_times_entries is None


def test_what_cannot_be_said_is_refused() -> None:
    one = ["2024-01-01", "2024-01-01"]
    with pytest.raises(StatisticsError, match="two days at least, found 1"):
        records_over_time([0.1, 0.2], one, lambda *_: Lead(0.1, 0.1))
    with pytest.raises(StatisticsError, match="days"):
        records_over_time([0.1, 0.2], one[:1], lambda *_: Lead(0.1, 0.1))


def test_what_is_needed_falls_with_each_that_stands() -> None:
    days = [f"2024-01-{day:02}" for day in range(1, 6)]
    found = records_over_time(range(5), days, lambda *_: Lead(1.0, 0.0))
    needed = [record.needed for record in found.records]
    assert needed == pytest.approx([0.025, 0.05 / 6, 0.05 / 12, 0.05 / 20])
    assert all(a > b for a, b in pairwise(needed))


@pytest.mark.rare
def test_without_progress_a_chain_of_25_rarely_has_a_record_that_stands() -> None:
    generator = np.random.default_rng(7)
    days = [f"2024-01-{day:02}" for day in range(1, 26)]
    n_chains, wrong, wrong_steps = 300, 0, 0
    for _ in range(n_chains):
        shared = generator.standard_normal((500, 1))
        noise = generator.standard_normal((500, 25))
        latent = np.sqrt(0.6) * shared + np.sqrt(0.4) * noise
        columns = list((latent > 0).astype(float).T)
        found = found_of(columns, days)
        wrong += bool(found.standing)
        wrong_steps += any(record.step_stands for record in found.records)
    # .030 and .014 are expected; three errors of 300 chains beside them
    assert wrong / n_chains <= 0.06
    assert wrong_steps / n_chains <= 0.04
