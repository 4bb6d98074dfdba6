"""The documented mappings on the real dumps: the figures of their README must come out."""

from __future__ import annotations

import json
import shutil
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from tests.support.tabular import Taken, documented, read

pytestmark = pytest.mark.rare


def published(taken: Taken, statistic: str = "mean") -> dict[int, float | None]:
    return {
        number: score.value
        for number, header in enumerate(taken.runs)
        for score in header.published
        if score.statistic == statistic
    }


def by_run(taken: Taken) -> dict[int, float]:
    sums: dict[int, list[float]] = defaultdict(list)
    for row in taken.rows:
        sums[row["run"]] += [
            s["value"] for s in row["scores"] if s["value"] is not None
        ]
    return {run: sum(values) / len(values) for run, values in sums.items()}


def best_by_run(taken: Taken) -> dict[int, float]:
    best: dict[tuple[int, int], float] = {}
    for row in taken.rows:
        key = row["run"], row["position"]
        best[key] = max(best.get(key, 0.0), row["scores"][0]["value"])
    groups: dict[int, list[float]] = defaultdict(list)
    for (run, _), value in best.items():
        groups[run].append(value)
    return {run: sum(values) / len(values) for run, values in groups.items()}


def test_reasoning_gym_zero_shot(data_dir: Path) -> None:
    taken = read(data_dir / "reasoning_gym", documented("reasoning_gym"))
    assert len(taken.runs) == 80
    assert by_run(taken) == pytest.approx(published(taken), abs=1e-9)
    assert best_by_run(taken) == pytest.approx(published(taken, "best"), abs=1e-9)
    means = {
        (run.model, run.benchmark): value
        for run, value in zip(taken.runs, by_run(taken).values(), strict=True)
    }
    assert means["anthropic/claude-3.5-sonnet", "spell_backward"] == pytest.approx(
        0.981
    )
    assert means["deepseek/deepseek-r1", "simple_equations"] == pytest.approx(
        0.870222, abs=5e-7
    )
    assert means[
        "meta-llama/llama-3.3-70b-instruct", "spell_backward"
    ] == pytest.approx(0.1603, abs=5e-5)
    nulls = [row for row in taken.rows if row["extracted_answer"] is None]
    assert len(nulls) == 332
    assert {row["scores"][0]["status"] for row in nulls} == {"no_answer"}


def test_reasoning_gym_summary_gives_what_the_files_lack(data_dir: Path) -> None:
    taken = read(data_dir / "reasoning_gym", documented("reasoning_gym"))
    header = next(run for run in taken.runs if run.model == "openai/o3-mini")
    assert header.temperature == 0.6
    assert header.started_at is not None and header.started_at.year == 2025
    assert header.configuration == {
        "category": "algebra",
        "config": {"size": 50, "seed": 45},
    }


def test_reasoning_gym_with_a_summary_of_another_model(
    data_dir: Path, tmp_path: Path
) -> None:
    """A folder of one model with the summary of another: the two are not pooled."""
    easy, made = (
        data_dir / "reasoning_gym" / "zero-shot" / "easy",
        tmp_path / "zero-shot" / "easy",
    )
    shutil.copytree(
        easy / "openai_o3-mini_20250315_181742", made / "openai_o3-mini_20250315_181742"
    )
    for name in ("xai_grok-3-mini_20250401_000000", "grok-3-mini_20250401_000000"):
        shutil.copytree(easy / "qwen_qwq-32b_20250316_144841", made / name)
        shutil.copy(
            easy / "openai_o3-mini_20250315_181742" / "summary.json", made / name
        )
    taken = read(tmp_path, documented("reasoning_gym"))
    assert {run.model for run in taken.runs} == {
        "openai/o3-mini",
        "xai/grok-3-mini",
        "grok-3-mini",
    }
    assert by_run(taken) == pytest.approx(published(taken), abs=1e-9)
    assert len(taken.notes) == 16 and all(
        "'openai/o3-mini'" in note for note in taken.notes
    )


def test_reasoning_gym_checkpoints(data_dir: Path) -> None:
    taken = read(data_dir / "reasoning_gym", documented("reasoning_gym_checkpoints"))
    assert [(run.model, run.step, run.benchmark) for run in taken.runs] == [
        ("llama-3b-instruct", 400, "amc23"),
        ("llama-3b-instruct", 800, "amc23"),
    ]
    assert by_run(taken) == pytest.approx({0: 0.144, 1: 0.1415})
    assert published(taken) == pytest.approx({0: 0.144, 1: 0.1415})
    assert best_by_run(taken) == pytest.approx({0: 0.675, 1: 0.65})
    keys = [
        {row["identity"] for row in taken.rows if row["run"] == run} for run in (0, 1)
    ]
    assert keys[0] == keys[1] and len(keys[0]) == 40


def test_reasoning_gym_generalisation(data_dir: Path) -> None:
    taken = read(data_dir / "reasoning_gym", documented("reasoning_gym_generalisation"))
    means = taken.means("benchmark")
    assert means["simple_integration",] == pytest.approx(0.166667, abs=5e-7)
    assert means["prime_factorization",] == pytest.approx(0.96)
    assert by_run(taken) == pytest.approx(published(taken))


def test_mmlu_pro(data_dir: Path) -> None:
    only = ("run", "prompt_id", "metadata", "scores")
    taken = read(data_dir / "mmlu_pro", documented("mmlu_pro"), only=only)
    assert {run.fewshot for run in taken.runs} == {5}
    percent = {model: 100 * mean for (model,), mean in taken.means("model").items()}
    assert percent == pytest.approx(
        {
            "Llama-2-7b-hf": 18.3428,
            "Mistral-7B-v0.1": 29.7706,
            "Yi-6B": 24.9668,
            "gemma-7b": 32.3554,
        },
        abs=5e-5,
    )
    unanswered = Counter(
        taken.run_of(row).model
        for row in taken.rows
        if row["scores"][0]["status"] == "no_answer" and row["scores"][0]["value"] == 0
    )
    assert unanswered == {
        "Llama-2-7b-hf": 2061,
        "Mistral-7B-v0.1": 1251,
        "Yi-6B": 1610,
        "gemma-7b": 1582,
    }
    assert len({row["prompt_id"] for row in taken.rows}) == 12032
    assert len({json.loads(row["metadata"])["category"] for row in taken.rows}) == 14


def test_mmlu_redux(data_dir: Path) -> None:
    """Figures that the source publishes of one subject; keys of the older files are
    joined."""
    folder = data_dir / "mmlu_redux" / "outputs"
    only = ("run", "scores", "metadata", "choices", "target", "identity")
    newer, older = (
        read(folder, documented(name), only=only)
        for name in ("mmlu_redux", "mmlu_redux_older")
    )
    assert (len(newer.runs), len(newer.rows)) == (
        14,
        14 * 2900,
    ) and not newer.rejections
    assert (len(older.runs), len(older.rows)) == (6, 6 * 2786) and not older.rejections
    own = [
        row["scores"][0]["value"]
        for row in newer.rows
        if newer.run_of(row).model == "openai_gpt-4o-2024-05-13"
        and "college_chemistry" in row["metadata"]
    ]
    assert sum(own) / len(own) == pytest.approx(0.61)
    choices = {len(json.loads(row["choices"])) for row in newer.rows}
    assert choices == {4} and {row["target"] for row in newer.rows} == set("ABCD")
    assert (
        sum(bool(row["scores"]) for row in older.rows) == 6 * 2751
    )  # the same options to the byte
    keys = {row["identity"]: row["target"] for row in newer.rows}
    assert all(
        keys[row["identity"]] == row["target"] for row in older.rows if row["target"]
    )


CRUXEVAL = {  # percent: T 0.2 input, T 0.2 output, T 0.8 input, T 0.8 output
    "codellama-7b": (35.95, 34.2125, 28.35, 30.95),
    "deepseek-instruct-6.7b": (37.375, 41.225, 34.6625, 40.4625),
    "gpt-3.5-turbo-0613": (49.0375, 49.4125, 45.6625, 47.475),
    "gpt-4-0613": (69.8125, 68.7, 68.0, 68.0),
    "phi-1": (13.1, 21.675, 12.6, 19.3125),
    "wizard-34b": (42.675, 43.4125, 38.6875, 41.3875),
}


def test_cruxeval(data_dir: Path) -> None:
    only = ("run", "scores")
    taken = read(data_dir / "cruxeval_generations", documented("cruxeval"), only=only)
    assert len(taken.runs) == 24 and len(taken.rows) == 24 * 8000
    settings = [
        (0.2, "cruxeval_input"),
        (0.2, "cruxeval_output"),
        (0.8, "cruxeval_input"),
        (0.8, "cruxeval_output"),
    ]
    expected = {
        (model, *setting): value / 100
        for model, row in CRUXEVAL.items()
        for setting, value in zip(settings, row, strict=True)
    }
    assert taken.means("model", "temperature", "benchmark") == pytest.approx(expected)
    assert by_run(taken) == pytest.approx(published(taken))
    first = taken.runs[0]  # codellama-7b, T 0.2, input
    assert {s.statistic: s.value for s in first.published}["pass@5"] == pytest.approx(
        0.449911
    )


def test_cruxeval_pairs_generations_with_problems(data_dir: Path) -> None:
    folder = data_dir / "cruxeval_generations"
    name = "phi-1_temp0.8_output.json"
    taken = read(folder, documented("cruxeval") | {"files": [name]})
    stored = json.loads((folder / name).read_text())
    lines = (folder / "data" / "cruxeval.jsonl").read_text().splitlines()
    problems = [json.loads(line) for line in lines]
    targets = {problem["id"]: problem["output"] for problem in problems}
    for row in taken.rows:
        key, draw = row["prompt_id"], row["draw"]
        assert row["response"] == stored["raw_generations"][key][draw]
        assert row["scores"][0]["value"] == stored["raw_scored_generations"][key][draw]
        assert row["target"] == targets[key]


def test_eval_arena(data_dir: Path) -> None:
    taken = read(data_dir / "eval_arena", documented("eval_arena"))
    counts = Counter(run.benchmark for run in taken.runs)
    assert counts == {"humaneval+": 49, "mbpp+": 59, "lcb_codegen": 58}
    means = taken.means("benchmark", "model")
    expected = {
        ("humaneval+", "claude-3-opus-20240229"): 77.439,
        ("humaneval+", "deepseek-coder-33b-instruct"): 76.2195,
        ("mbpp+", "gpt-4-1106-preview"): 74.0741,
        ("mbpp+", "claude-3-opus-20240229"): 73.545,
        ("lcb_codegen", "GPT-4O-2024-05-13"): 51.275,
        ("lcb_codegen", "GPT-4-Turbo-2024-04-09"): 43.525,
    }
    assert {key: 100 * means[key] for key in expected} == pytest.approx(
        expected, abs=5e-5
    )
    draws = {
        taken.run_of(row).benchmark: row["scores"][0]["n_draws"] for row in taken.rows
    }
    assert draws == {"humaneval+": 1, "mbpp+": 1, "lcb_codegen": 10}


def test_gsm8k(data_dir: Path) -> None:
    taken = read(data_dir / "gsm8k_openai", documented("gsm8k_openai"))
    correct = {model: sum(values) for (model,), values in taken.values("model").items()}
    assert correct == {
        "openai/6b_finetuning": 286,
        "openai/6b_verification": 515,
        "openai/175b_finetuning": 458,
        "openai/175b_verification": 742,
    }
    assert len(taken.rows) == 4 * 1319
    responses = {row["response"] for row in taken.rows if row["position"] == 0}
    assert len(responses) == 4  # each system has its own


def test_bbq(data_dir: Path) -> None:
    taken = read(data_dir / "bbq_unifiedqa", documented("bbq_unifiedqa"))
    means = {
        key: round(mean, 4)
        for key, mean in taken.means("benchmark", ".perturbation").items()
    }
    assert means == {
        ("bbq_Disability_status", ""): 0.7307,
        ("bbq_Disability_status", "arc"): 0.6401,
        ("bbq_Disability_status", "qonly"): 0.3728,
        ("bbq_Sexual_orientation", ""): 0.8137,
        ("bbq_Sexual_orientation", "arc"): 0.7211,
        ("bbq_Sexual_orientation", "qonly"): 0.4387,
    }
    assert len(taken.runs) == 2  # the formats are perturbations of one run
    templates = {json.loads(row["metadata"])["template"] for row in taken.rows}
    assert len(templates) == 50  # 25 in each category


TERMINAL_BENCH = {
    ("openhands", "claude-4-sonnet"): [0.4, 0.4, 0.4125, 0.4125, 0.4375],
    ("droid", "claude-4-1-opus"): [0.5625, 0.575, 0.5875, 0.6, 0.6125],
    ("droid", "gpt-5"): [0.4875, 0.4875, 0.5, 0.5625, 0.5875],
    ("orchestrator", "qwen-3-coder-480B"): [0.1925],
    ("swe-agent-mini", "claude-4-sonnet"): [
        0.075,
        0.1125,
        0.1375,
        0.15,
        0.1625,
        0.1625,
    ],
}


def test_terminal_bench(data_dir: Path) -> None:
    taken = read(data_dir / "terminal_bench", documented("terminal_bench"))
    assert len(taken.runs) == 22
    stated = published(taken)
    resolved: dict[int, list[Any]] = defaultdict(list)
    for row in taken.rows:
        resolved[row["run"]].append(row["scores"][0]["value"])
    found: dict[tuple[Any, Any], list[float]] = defaultdict(list)
    for run, values in resolved.items():
        header = taken.runs[run]
        as_zero = sum(value or 0 for value in values) / len(values)
        assert as_zero == pytest.approx(
            stated[run]
        )  # the source counts null as not resolved
        found[header.agent, header.model].append(as_zero)
    assert {key: sorted(values) for key, values in found.items()} == TERMINAL_BENCH
    nulls = Counter(
        run for run, values in resolved.items() for value in values if value is None
    )
    assert sorted(nulls.values())[-1] == 63
    worst = next(run for run, count in nulls.items() if count == 63)
    scored = [value for value in resolved[worst] if value is not None]
    assert sum(scored) / len(scored) == pytest.approx(
        6 / 17
    )  # of the trials with a verdict
    again = Counter(header.run_id for header in taken.runs if header.run_id)
    assert [count for count in again.values() if count > 1] == [2]  # the copied run


def test_terminal_bench_several_trials(data_dir: Path) -> None:
    taken = read(data_dir / "terminal_bench", documented("terminal_bench"))
    number, header = next(
        (n, r) for n, r in enumerate(taken.runs) if r.agent == "orchestrator"
    )
    assert {score.statistic: score.value for score in header.published} == {
        "mean": 0.1925,
        "pass@2": 0.2725,
        "pass@4": 0.3575,
        "pass@5": 0.3875,
    }
    draws = Counter(row["draw"] for row in taken.rows if row["run"] == number)
    assert draws == dict.fromkeys(range(5), 80)


def test_hans_accuracies(data_dir: Path) -> None:
    taken = read(data_dir / "hans_bert_100_seeds", documented("hans_accuracies"))
    figures: dict[str, dict[str, float]] = defaultdict(dict)
    for run in taken.runs:
        assert run.training_seed is not None
        figures[run.benchmark][run.training_seed] = run.published[0].value or 0.0
    assert len(figures) == 38
    assert all(len(by_seed) == 100 for by_seed in figures.values())
    mnli = figures["MNLI dev acc."].values()
    assert sum(mnli) / 100 == pytest.approx(0.843393, abs=5e-7)
    assert (round(min(mnli), 4), round(max(mnli), 4)) == (0.8367, 0.8477)
    lexical = figures["Lexical (nonent)"].values()
    assert sum(lexical) / 100 == pytest.approx(0.276572)
    assert (min(lexical), max(lexical)) == (0.0524, 0.5452)
    assert sum(figures["Overall accuracy"].values()) / 100 == pytest.approx(
        0.566845, abs=5e-7
    )
    assert any("11 rows skipped" in note for note in taken.notes)


def test_hans_counts(data_dir: Path) -> None:
    taken = read(data_dir / "hans_bert_100_seeds", documented("hans_counts"))
    assert len(taken.rows) == 9815
    assert taken.means("model")["bert-base-uncased",] == pytest.approx(
        0.8433928, abs=5e-8
    )
    assert {row["scores"][0]["n_draws"] for row in taken.rows} == {100}


def test_pythia_training_maps(data_dir: Path) -> None:
    taken = read(
        data_dir / "pythia" / "polypythias", documented("pythia_training_maps")
    )
    points = {
        (run.training_seed, run.step): run.published[0].value for run in taken.runs
    }
    assert len(points) == 270
    assert points["0", 0] == -1.1311438344908555
    assert {seed for seed, _ in points} == {str(seed) for seed in range(10)}
    assert {run.tokens for run in taken.runs if run.step == 1000} == {2097152000}


def test_pythia_term_frequency(data_dir: Path) -> None:
    taken = read(
        data_dir / "pythia" / "evals" / "csv", documented("pythia_term_frequency")
    )
    assert len(taken.runs) == 12000
    figures = {
        (run.model, run.step, run.benchmark, run.fewshot): run.published[0]
        for run in taken.runs
    }
    score = figures[
        "EleutherAI/pythia-1.3b-deduped",
        13000,
        "num_reasoning_arithmetic_multiplication_0",
        16,
    ]
    assert (score.value, score.standard_error) == (0.82, 0.05488392203513869)


def test_dclm_database(data_dir: Path) -> None:
    taken = read(data_dir / "dclm_database", documented("dclm_database"))
    assert (
        len({run.model for run in taken.runs}) == 175
        and len({run.recipe for run in taken.runs}) == 138
    )
    assert {run.parameter_count for run in taken.runs} == {
        411616256,
        1439795200,
        6889410560,
    }
    figures = [
        (run.benchmark, score.metric) for run in taken.runs for score in run.published
    ]
    counts = Counter(figures)
    assert (
        counts["mmlu", "perplexity"],
        counts["Core", "score"],
        counts["eval_metrics.perplexity", "perplexity"],
    ) == (
        104,
        132,
        104,
    )
    assert (
        counts["hellaswag", "score"] == 175
        and counts["low_variance_datasets", "score"] == 172
    )


def test_benchmark_stitching(data_dir: Path) -> None:
    folder = data_dir / "benchmark_stitching"
    others, own = (
        read(folder, documented("benchmark_stitching")),
        read(folder, documented("benchmark_stitching_runs")),
    )
    assert (
        len(others.sources) == 34 and len({run.benchmark for run in others.runs}) == 34
    )
    tasks = {
        "GPQA diamond": 134,
        "MATH level 5": 108,
        "OTIS Mock AIME 2024-2025": 106,
        "SWE-Bench verified": 23,
    }
    assert (
        tasks.items() <= Counter(run.benchmark for run in own.runs).items()
        and len(own.runs) == 457
    )
    figures = {(run.model, run.benchmark): run for run in (*others.runs, *own.runs)}
    one = figures["o3-2025-04-16_medium", "Lech Mazur Writing"]  # of 10
    assert one.published[0].value == pytest.approx(0.839)
    assert {
        name: value for name, value in one.configuration.items() if value is not None
    } == {"release_date": "2025-04-16"}
    assert figures["gpt-5.1_medium", "GPQA diamond"].published[0].value == 0.85
    assert (
        figures["amazon.nova-lite-v1:0", "MMLU"].harness == "Stanford CRFM Leaderboard"
    )


def test_scaling_laws(data_dir: Path) -> None:
    losses = read(data_dir / "scaling_laws", documented("scaling_laws_losses"))
    one = [run for run in losses.runs if run.model == "rpj-open_lm_1b-1.0"]
    assert [run.published[0].value for run in one[:3]] == [
        2.2233477155367534,
        2.768756661738063,
        2.774335279484145,
    ]
    assert len(losses.runs) == 104 * 8 and {run.tokens for run in one} == {28795904000}
    tasks = read(data_dir / "scaling_laws", documented("scaling_laws_evals"))
    assert len(tasks.runs) == 104 * 46
    assert {run.model for run in tasks.runs} == {run.model for run in losses.runs}
    lsat = next(
        run
        for run in tasks.runs
        if (run.model, run.benchmark) == ("rpj-open_lm_1b-1.0", "agi_eval_lsat_ar")
    )
    assert (lsat.published[0].value, lsat.tokens) == (0.22173912823200226, 28795904000)


def test_hellaswag_loglikelihoods(data_dir: Path) -> None:
    taken = read(data_dir / "hellaswag_loglik", documented("hellaswag_loglik"))
    assert len(taken.sources) == 1 and len(taken.runs) == 2
    expected = {
        "EleutherAI/pythia-1b": (
            (-3.172366, -3.175199, -3.172814, -3.173493),
            [2557, 2431, 2516, 2538],
        ),
        "Qwen/Qwen2.5-1.5B": ((-2.967094, -2.970284, -2.966915, -2.969553), None),
    }
    for run, header in enumerate(taken.runs):
        full = [r for r in taken.rows if r["run"] == run and r["perturbation"] == ""]
        assert [row["position"] for row in full] == list(range(10042))
        table = [[c["loglikelihood"] for c in row["choice_scores"]] for row in full]
        means, argmax = expected[header.model]
        assert [sum(c) / len(c) for c in zip(*table, strict=True)] == pytest.approx(
            means, abs=5e-7
        )
        if argmax is not None:
            counts = Counter(row.index(max(row)) for row in table)
            assert [counts[option] for option in range(4)] == argmax
    variants = {row["perturbation"] for row in taken.rows}
    assert variants == {"", "zero", "placeholder"}


def test_eq_bench(data_dir: Path) -> None:
    folder = data_dir / "eq_bench"
    taken = read(folder, documented("eq_bench"))
    assert len(taken.runs) == 86
    stated = {
        run.model: {score.metric: score.value for score in run.published}
        for run in taken.runs
    }
    assert stated["01-ai/Yi-6B-Chat"] == {"benchmark_score": 61.79}
    specs = {spec.name: spec for spec in taken.runs[0].metrics}
    assert specs["benchmark_score"].link == "none"
    expected = {}
    for path in (folder / "results" / "eq-bench").glob("*.json"):
        stored = json.loads(path.read_text())
        individual = stored["raw_results"]["1"]["individual_scores"].values()
        first = [
            s["first_pass_score"]
            for s in individual
            if s["first_pass_score"] is not None
        ]
        expected[f"results/eq-bench/{path.name}",] = sum(first) / len(first)
    assert taken.means("place", metric="first_pass_score") == pytest.approx(expected)
    revised = [
        s for row in taken.rows for s in row["scores"] if s["metric"] == "revised_score"
    ]
    assert all(score["value"] is not None for score in revised)
    assert {row["text"] is None for row in taken.rows} == {False}


def test_training_curves(data_dir: Path) -> None:
    taken = read(data_dir / "training_curves", documented("training_curves"))
    curves = {
        (run.model[:5], run.benchmark, score.metric, run.step): score
        for run in taken.runs
        for score in run.published
    }
    assert len(curves) == 5376
    steps = sorted(
        step
        for model, task, metric, step in curves
        if (model, task, metric) == ("tr12a", "piqa", "acc")
    )
    assert (len(steps), steps[0], steps[-1]) == (62, 19500, 117000)
    for task, metric, first, last in (
        ("hellaswag", "acc_norm", 0.3716391157140012, 0.5030870344552878),
        ("piqa", "acc", 0.6708378672470077, 0.7187159956474428),
        ("lambada", "ppl", 31.883763890110124, 11.402573910016773),
    ):
        found = [
            curves["tr12a", task, metric, step].value for step in (steps[0], steps[-1])
        ]
        assert found == [first, last]
    assert curves["tr12a", "piqa", "acc", 19500].standard_error == pytest.approx(
        0.0109638, abs=5e-8
    )
    assert {m.name: m.higher_is_better for run in taken.runs for m in run.metrics} == {
        "acc": True,
        "acc_norm": True,
        "ppl": False,
        "f1": None,
        "em": None,
    }


def test_hibayes_graders_are_metrics_of_rows_that_cannot_be_paired(
    data_dir: Path,
) -> None:
    taken = read(data_dir / "hibayes_judges", documented("hibayes_judges"))
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in taken.rows:
        (score,) = row["scores"]
        found[taken.runs[row["run"]].benchmark, score["metric"]].append(score["value"])
    assert {key: (len(scores), round(sum(scores) / len(scores), 6)) for key, scores in found.items()} == {
        ("q1", "Human"): (99, 6.464646), ("q1", "Autograder"): (83, 5.361446),
        ("q2", "Human"): (190, 5.615789), ("q2", "Autograder A"): (166, 3.445783),
        ("q2", "Autograder B"): (174, 3.385057), ("q3", "Human X"): (190, 5.615789),
        ("q3", "Autograder A"): (166, 3.445783), ("q3", "Autograder B"): (174, 3.385057),
        ("q3", "Autograder C"): (176, 4.590909), ("q3", "Human Y"): (163, 6.914110), ("q3", "Human Z"): (179, 7.564246),
    }  # fmt: skip
    prompts = [
        (taken.runs[row["run"]].benchmark, row["prompt_id"]) for row in taken.rows
    ]
    assert len(set(prompts)) == len(prompts) == 1760
