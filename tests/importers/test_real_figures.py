"""Real dumps through the whole path: ingest, tables, views. The figures of their README
come out.

One store holds everything; it is filled once. Needs the folder of real dumps (see
conftest.py).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats

from warehouse.analysis.compare.answer import compare
from warehouse.analysis.leaderboard.answer import leaderboard
from warehouse.analysis.suites.answer import suite_leaderboard
from warehouse.analysis.variance.answer import pass_rates, variance
from warehouse.ingest.pipeline import ingest
from warehouse.ingest.report import IngestReport
from warehouse.store.connection import Store
from warehouse.store.open import open_store
from warehouse.store.schema.migrate import check

pytestmark = pytest.mark.rare

MAPPINGS = Path(__file__).parents[2] / "docs" / "mappings"
#: (folder of the data, mapping or None)
SETS = (
    ("lm_eval_logs/negotiationtom", None),
    ("lm_eval_logs/asdiv", None),
    ("lm_eval_logs/calamita_mt_en_it", None),
    ("lm_eval_logs/math_perturbed_truncated", None),
    ("lm_eval_logs/write_out_v0_3/llama13", None),
    ("writers/lm_eval_0.4.13", None),
    ("eval_arena", "eval_arena"),
    ("gsm8k_openai", "gsm8k_openai"),
    ("mmlu_pro", "mmlu_pro"),
    ("terminal_bench", "terminal_bench"),
    ("cruxeval_generations", "cruxeval"),
    ("reasoning_gym", "reasoning_gym"),
    ("hans_bert_100_seeds", "hans_counts"),
)


@pytest.fixture(scope="module")
def filled(
    data_dir: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Store, dict[str, IngestReport]]]:
    path = tmp_path_factory.mktemp("real") / "real.duckdb"
    with open_store(f"duckdb:///{path}", create=True) as store:
        reports = {}
        for folder, mapping in SETS:
            values = {"model": "llama-2-13b"} if "write_out" in folder else {}
            reports[folder] = ingest(
                store,
                [data_dir / folder],
                values=values,
                mapping=MAPPINGS / f"{mapping}.toml" if mapping else None,
            )
        yield store, reports


@pytest.fixture
def store(filled: tuple[Store, dict[str, IngestReport]]) -> Store:
    return filled[0]


@pytest.fixture
def reports(filled: tuple[Store, dict[str, IngestReport]]) -> dict[str, IngestReport]:
    return filled[1]


def rows(store: Store, sql: str, **params: Any) -> list[dict[str, Any]]:
    return list(store.arrow(sql, params).to_pylist())


def verdicts(store: Store, benchmark: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    found = rows(
        store,
        "select * from published_against_recomputed where benchmark = :name",
        name=benchmark,
    )
    return {(row["run_id"], row["metric"], row["statistic"]): row for row in found}


def test_nothing_was_refused(reports: dict[str, IngestReport]) -> None:
    assert {
        name: [item.error for item in report.refused]
        for name, report in reports.items()
        if report.refused
    } == {}


def test_the_store_is_clean(store: Store) -> None:
    assert check(store).ok


def test_twelve_files_of_negotiationtom_are_eight_executions(
    store: Store, reports: dict[str, IngestReport]
) -> None:
    report = reports["lm_eval_logs/negotiationtom"]
    # two of them are repeats whose scores are those of another, begun at other times
    assert (
        report.total("n_runs"),
        report.total("n_seen_again"),
        report.total("n_repeats"),
    ) == (8, 4, 5)
    figures = {
        (row["benchmark"], row["metric"]): (row["estimate"], row["se_clt"])
        for row in rows(
            store, "select * from score_summary where benchmark like 'negotiation%'"
        )
    }
    assert figures["negotiationtom_belief", "acc"] == pytest.approx(
        (0.45, 0.11413288653790232), rel=1e-12
    )
    assert figures["negotiationtom_desire", "acc"] == pytest.approx(
        (0.6, 0.11239029738980327), rel=1e-12
    )
    assert figures["negotiationtom_intention", "exact_match"] == pytest.approx(
        (0.2, 0.0917662935482247), rel=1e-12
    )


def test_byte_identical_samples_are_one_run_with_three_sources(store: Store) -> None:
    found = rows(
        store,
        "select r.id, count(*) as n from run_current as c join run as r on "
        "r.id = c.run_id join run_source as s on s.run_id = r.id "
        "where c.benchmark = 'asdiv' group by r.id order by n",
    )
    assert [row["n"] for row in found] == [1, 3]


def test_continuous_metrics_with_their_published_errors(store: Store) -> None:
    expected = {
        "bleu_score": (0.21692920700566415, 0.00508469922527285),
        "chrf_score": (55.980476152715546, 0.33205783711398346),
        "bleurt_score": (0.08532679892070481, 0.005965924424148005),
        "comet_score": (0.8742679767273772, 0.001985880622912706),
    }
    found = rows(
        store,
        "select metric, estimate, se_clt from score_summary where benchmark = "
        "'MT_CALAMITA_en_it_public'",
    )
    assert {row["metric"]: (row["estimate"], row["se_clt"]) for row in found} == {
        name: pytest.approx(pair, rel=1e-10) for name, pair in expected.items()
    }


def test_truncated_samples_say_so(store: Store) -> None:
    (run,) = rows(
        store,
        "select status, n_found, n_requested from run_current where benchmark = "
        "'math_perturbed_full'",
    )
    assert run == {"status": "truncated", "n_found": 10, "n_requested": 5000}
    (row,) = verdicts(store, "math_perturbed_full").values()
    assert row["verdict"] == "truncated"


def test_perplexities_come_out_through_their_link(store: Store) -> None:
    found = {key[1]: row for key, row in verdicts(store, "toy_ppl").items()}
    assert {row["verdict"] for row in found.values()} == {"exact"}
    assert found["word_perplexity"]["recomputed"] == pytest.approx(
        1.2039466302505488, rel=1e-12
    )


def test_old_write_out_files(store: Store) -> None:
    (row,) = rows(
        store,
        "select estimate, n_prompts from score_summary where model = 'llama-2-13b' and "
        "metric = 'acc'",
    )
    assert row == {"estimate": pytest.approx(965 / 1267, rel=1e-12), "n_prompts": 1267}


def test_eval_arena(store: Store) -> None:
    found = {
        (row["benchmark"], row["model"]): 100 * row["estimate"]
        for row in rows(
            store,
            "select benchmark, model, estimate from score_summary where estimate is "
            "not null",
        )
    }
    assert found["humaneval+", "claude-3-opus-20240229"] == pytest.approx(
        77.439, abs=5e-4
    )
    assert found["mbpp+", "gpt-4-1106-preview"] == pytest.approx(74.0741, abs=5e-5)
    assert found["lcb_codegen", "GPT-4O-2024-05-13"] == pytest.approx(51.275, abs=1e-9)


def test_gsm8k_counts_and_a_comparison(store: Store) -> None:
    board = leaderboard(store, "gsm8k")
    counts = {row.model: round(row.estimate * row.n_prompts) for row in board.rows}
    assert sorted(counts.values()) == [286, 458, 515, 742]
    best, second = board.rows[0].model, board.rows[1].model
    (pair,) = compare(store, best, second, benchmark="gsm8k").rows
    assert pair.difference == pytest.approx((742 - 515) / 1319, rel=1e-12)
    assert pair.p_value is not None and pair.p_value < 1e-9


def test_mmlu_pro(store: Store) -> None:
    expected = {
        "Llama-2-7b-hf": 18.3428,
        "Mistral-7B-v0.1": 29.7706,
        "Yi-6B": 24.9668,
        "gemma-7b": 32.3554,
    }
    found = {
        row.model: 100 * row.estimate for row in leaderboard(store, "mmlu_pro").rows
    }
    assert found == {
        name: pytest.approx(value, abs=5e-5) for name, value in expected.items()
    }


def test_terminal_bench_reconciles_when_nulls_count_as_unresolved(
    store: Store, reports: dict[str, IngestReport]
) -> None:
    report = reports["terminal_bench"]
    assert (report.total("n_runs"), report.total("n_repeats")) == (21, 16)
    found = [
        row
        for key, row in verdicts(store, "terminal-bench-core").items()
        if key[2] == "mean"
    ]
    assert len(found) == 21
    assert {row["verdict"] for row in found} <= {"exact", "null_as_worst"}
    published = sorted(round(row["published"], 4) for row in found)
    assert published[:5] == [0.075, 0.1125, 0.1375, 0.15, 0.1625]


def test_cruxeval_pass_at_1(store: Store) -> None:
    found = [
        row
        for name in ("cruxeval_input", "cruxeval_output")
        for key, row in verdicts(store, name).items()
        if key[2] in ("mean", "pass@1")
    ]
    assert len(found) == 24
    assert {row["verdict"] for row in found} == {"exact"}


def test_cruxeval_pass_at_5_is_the_published_figure(store: Store) -> None:
    published = rows(
        store,
        "select run_id, statistic, value from published_score where statistic in "
        "('mean', 'pass@5')",
    )
    figures = {(row["run_id"], row["statistic"]): row["value"] for row in published}
    for name in ("cruxeval_input", "cruxeval_output"):
        found = pass_rates(store, name, at=[1, 5, 10, 11])
        for row in found.rows:
            published_as = {"pass@1": "mean", "pass@5": "pass@5"}.get(row.statistic)
            if published_as:
                expected = figures[row.run_ids[0], published_as]
                assert row.estimate == pytest.approx(expected, abs=1e-10)
        refused = [row.n_short for row in found.rows if row.estimate is None]
        assert refused == [800] * 12  # pass@11 of ten draws


def test_cruxeval_draws_of_three_models_are_stored_best_first(store: Store) -> None:
    """The k-th draws of the other models are alike."""
    found = variance(store, "cruxeval_input", where=["temperature=0.8"])
    flagged = {row.model for row in found.rows if "draws_in_order" in row.flags}
    assert flagged == {"codellama-7b", "deepseek-instruct-6.7b", "wizard-34b"}
    sorted_run = next(row for row in found.rows if row.model == "codellama-7b")
    assert (
        sorted_run.delta_k1 is None and sorted_run.delta_k1_p_value is not None
    )  # .394 to .180 by position
    assert sorted_run.delta_k1_p_value < 1e-6


def test_reasoning_gym_reproduces_all_eighty_files(store: Store) -> None:
    found = rows(
        store,
        "select p.verdict, p.statistic from published_against_recomputed as p "
        "join run_current as r on r.run_id = p.run_id "
        "where r.harness = 'reasoning-gym'",
    )
    means = [row["verdict"] for row in found if row["statistic"] == "mean"]
    assert means == ["exact"] * 80


def test_suites_are_the_means_of_their_published_files(
    store: Store, data_dir: Path
) -> None:
    groups = "arithmetic,algebra,algorithmic,logic,geometry"
    board = suite_leaderboard(store, groups)
    assert (len(board.leaves), len(board.rows)) == (8, 10)
    published: dict[str, list[float]] = {}
    for file in (data_dir / "reasoning_gym" / "zero-shot" / "easy").glob("*/*/*.json"):
        model = file.parts[-3].split("_")[1]
        told = json.loads(file.read_text(encoding="utf-8"))["average_mean_score"]
        published.setdefault(model, []).append(told)
    for row in board.rows:
        told = published[row.model.rpartition("/")[2]]
        assert row.estimate == pytest.approx(np.mean(told), rel=1e-9)
        assert row.n_missing == 0 and row.rank is not None


def test_a_published_group_has_the_same_figure_and_error(store: Store) -> None:
    """lm-evaluation-harness puts a group together from its tasks' sizes and errors."""
    board = suite_leaderboard(
        store,
        "negotiationtom",
        metric="acc",
        weights="prompts",
        force=True,
        subset_ok=True,
        cluster="none",
    )
    (row,) = board.rows
    assert [leaf.name for leaf in board.leaves] == [
        "negotiationtom_belief",
        "negotiationtom_desire",
    ]
    assert row.estimate == pytest.approx(0.525, abs=1e-12) == row.published
    assert row.published_se is not None
    assert row.se_independent == pytest.approx(row.published_se, rel=1e-9)


def test_one_hundred_seeds_as_stored_rates(store: Store) -> None:
    (row,) = rows(
        store,
        "select estimate, n_prompts, n_draws from score_summary where benchmark = "
        "'mnli_dev_100_seeds'",
    )
    assert row == {
        "estimate": pytest.approx(0.8433928, abs=5e-8),
        "n_prompts": 9815,
        "n_draws": 981500,
    }


def test_a_comparison_of_two_benchmarks_is_that_of_the_files(
    store: Store, data_dir: Path
) -> None:
    """McNemar's test, the t test and Welch's test of the mean over both, from the bare
    lines."""
    names = ("claude-3-opus-20240229", "meta-llama-3-70b-instruct")
    found = compare(store, *names, flips=500)
    assert [row.benchmark for row in found.rows] == ["humaneval+", "mbpp+"]
    differences = []
    for row in found.rows:
        scores: dict[str, dict[str, float]] = {name: {} for name in names}
        lines = (
            (data_dir / "eval_arena" / f"{row.benchmark}.jsonl")
            .read_text()
            .splitlines()
        )
        for line in lines:
            entry = json.loads(line)
            if entry["model"] in scores:
                scores[entry["model"]][entry["example_id"]] = entry["pass1"]
        first, second = (scores[name] for name in names)
        d = np.array([first[key] - second[key] for key in first])
        differences.append(d)
        won, lost = int((d > 0).sum()), int((d < 0).sum())
        exact = scipy.stats.binomtest(won, won + lost).pvalue
        assert (row.higher_a, row.higher_b) == (won, lost)
        assert row.p_mcnemar == pytest.approx(exact, rel=1e-9)
        assert row.p_permutation == pytest.approx(exact, rel=1e-9)
        assert row.p_t == pytest.approx(scipy.stats.ttest_1samp(d, 0).pvalue, rel=1e-9)
        keys = {flip.tool_id for flip in found.flips if flip.benchmark == row.benchmark}
        assert keys == {key for key in first if first[key] != second[key]}
    overall = scipy.stats.ttest_ind(differences[0], -differences[1], equal_var=False)
    assert found.overall is not None
    assert found.overall.degrees_of_freedom == pytest.approx(overall.df)
    # as unsure as the intervals of the parts say, on the side of no difference
    is_above = found.overall.difference > 0
    sides = [
        row.difference - row.ci_low if is_above else row.ci_high - row.difference
        for row in found.rows
    ]
    facing = float(np.hypot(*sides)) / 2 / scipy.stats.t.ppf(0.975, overall.df)
    as_ends = 2 * scipy.stats.t.sf(abs(found.overall.difference) / facing, overall.df)
    assert found.overall.p_t == pytest.approx(max(overall.pvalue, as_ends), rel=1e-9)
