"""Starting mappings on every table of the fixtures and of the real dumps: right
figures, or a refusal that says what to decide; never a wrong figure.

What a draft reads is held against a plain computation of its own for each kind of file
(`ORACLES`). A file that is read and has no oracle fails, so that no figure goes
unchecked.
"""

from __future__ import annotations

import json
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.support.tabular import ROOT, Taken, candidate
from warehouse.errors import InputError, MappingError, WarehouseError
from warehouse.importers.tabular.drafts.draft import starting_mapping
from warehouse.importers.tabular.importer import IMPORTER
from warehouse.records import ImportSettings

SUFFIXES = (
    ".csv",
    ".tsv",
    ".txt",
    ".json",
    ".jsonl",
    ".ndjson",
    ".parquet",
    ".zip",
    ".gz",
)
NAMES = {"model": "M", "benchmark": "B"}
#: Model (where a file has several), metric, filter -> mean.
Means = Mapping[tuple[str, str, str], float]


def drafted(path: Path) -> Taken:
    """What the draft for a file takes from it, with a name where the file has none for
    model or benchmark."""
    importer = IMPORTER.for_mapping(tomllib.loads(starting_mapping(path)), "draft.toml")
    taken = Taken()
    for source in importer.claim([candidate(path)]):
        dump = importer.read(source, ImportSettings(defaults=NAMES))
        taken.runs += dump.runs
        for batch in dump.batches:
            wanted = [name for name in ("run", "scores") if name in batch.schema.names]
            taken.rows += batch.select(wanted).to_pylist()
        taken.rejections += dump.rejections
    return taken


def means_of(taken: Taken) -> dict[tuple[str, str, str], float]:
    several = len({run.model for run in taken.runs}) > 1
    values: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for row in taken.rows:
        for score in row.get("scores") or ():
            model = taken.run_of(row).model if several else ""
            if score["value"] is not None:
                values[model, score["metric"], score["filter"] or ""].append(
                    score["value"]
                )
    return {key: sum(numbers) / len(numbers) for key, numbers in values.items()}


# --- plain computations ---------------------------------------------------------------------------


def frame_of(path: Path) -> pd.DataFrame:
    if path.suffix == ".csv":
        return pd.read_csv(path)
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    return pd.DataFrame(records_of(path))


def records_of(path: Path) -> Any:
    text = path.read_text(encoding="utf-8-sig")
    is_lines = path.suffix == ".jsonl" and not text.startswith("[")
    return (
        [json.loads(line) for line in text.split("\n") if line]
        if is_lines
        else json.loads(text)
    )


def column_means(*metrics: str, by: str = "") -> Callable[[Path], Means]:
    """Means of columns, for each value of another if that is given and there."""

    def compute(path: Path) -> Means:
        frame = frame_of(path)
        found = {}
        for metric in (name for name in metrics if name in frame):
            scores = frame[metric].replace({"True": 1, "False": 0}).astype(float)
            groups = frame[by] if by in frame else pd.Series([""] * len(frame))
            for name, value in scores.groupby(groups.astype(str)).mean().items():
                key = (
                    (name, metric, "")
                    if by == "model"
                    else ("", metric, "" if by != "filter" else name)
                )
                found[key] = float(value)
        return found

    return compute


def nested_means(
    metric: str, values: Callable[[Any], Iterator[Any]]
) -> Callable[[Path], Means]:
    """The mean of what is found in a document, or in the list of the lines of one."""

    def compute(path: Path) -> Means:
        numbers = [float(value) for value in values(records_of(path))]
        return {("", metric, ""): sum(numbers) / len(numbers)}

    return compute


def reviews(path: Path) -> Means:
    values = pd.DataFrame(
        [record["sample_score"]["score"]["value"] for record in records_of(path)]
    )
    return {("", name, ""): float(values[name].astype(float).mean()) for name in values}


def old_reviews(path: Path) -> Means:
    """EvalScope 0.x: a verdict for each choice, or several by name."""
    values = [
        choice["review"]["result"]
        for record in records_of(path)
        for choice in record["choices"]
    ]
    frame = pd.DataFrame(
        value if isinstance(value, dict) else {"score": value} for value in values
    )
    return {
        ("", name, ""): float(frame[name].mean())
        for name in frame
        if not name.startswith("inst_level")
    }


def deepeval(path: Path) -> Means:
    parts = [
        part
        for case in json.loads(path.read_text())["testCases"]
        for part in case["metricsData"]
    ]
    scores = pd.DataFrame(parts).groupby("name")["score"].mean()
    return {("", str(name), ""): float(value) for name, value in scores.items()}


def matrix_means(path: Path) -> Means:
    """A column per model; or a row per model, of 1 and −1."""
    frame = frame_of(path)
    if path.name.startswith("Y_"):
        return {
            (row[0], "score", ""): sum(value == 1 for value in row[1:]) / 500
            for row in frame.values.tolist()
        }
    left_out = {"question_id", "question", "category", "src", "n_options", "topic"}
    return {
        (name, "score", ""): float(frame[name].mean())
        for name in frame
        if name not in left_out
    }


def lighteval(path: Path) -> Means:
    frame = frame_of(path)
    column = frame["metrics" if "metrics" in frame else "metric"]
    return {
        ("", "acc", ""): float(pd.Series([value["acc"] for value in column]).mean())
    }


def completions(document: Any) -> Iterator[Any]:
    """Every generation of a document, wherever it lies."""
    for value in document.values() if isinstance(document, dict) else document:
        if isinstance(value, dict | list):
            yield from completions(value)
    if isinstance(document, dict) and "full_model_response" in document:
        yield document["score"]


def reduced(document: Any) -> Iterator[Any]:
    return (
        sample["value"]
        for reduction in document["reductions"]
        for sample in reduction["samples"]
    )


def scanned(path: Path) -> Means:
    """The share of true values of a scanner's file, which is a table to whoever names a
    mapping for it."""
    return {
        ("", "score", ""): float(
            (pd.read_parquet(path)["value"].str.lower() == "true").mean()
        )
    }


def pydantic_evals(path: Path) -> Means:
    """Of the cases that did not fail, each score and assertion."""
    cases = json.loads(path.read_text())["cases"]
    named = [
        (name, part["value"])
        for case in cases
        for name, part in (case["scores"] | case["assertions"]).items()
    ]
    return {
        ("", name, ""): pd.Series([v for n, v in named if n == name]).mean()
        for name, _ in named
    }


def simple_grades(path: Path) -> Means:
    """The share of correct answers among all, attempted or not."""
    grades = [str(record["grade"]) for record in records_of(path)]
    n_correct = sum(grade in ("A", "CORRECT") for grade in grades)
    return {("", "grade", ""): n_correct / len(grades)}


ORACLES: dict[str, Callable[[Path], Means]] = {
    "*/eval_arena/*.jsonl": column_means("pass1", by="model"),
    "*/lm_eval*/*samples_*.jsonl": column_means(
        "acc", "exact_match", "match", by="filter"
    ),
    "*/lm_eval*/v0_4_2/*.jsonl": column_means("acc", by="filter"),
    "*/demo/results/*samples_*.jsonl": column_means("acc", "exact_match", by="filter"),
    "*_write_out_info.json": column_means("acc"),
    "*/human_eval/*.jsonl": column_means("passed"),
    "*/ragas/*": column_means("exact_match"),
    "*/verifiers/*/results.jsonl": column_means("reward", "correct"),
    "*/nemo_evaluator/*.jsonl": column_means("reward"),
    "*/metr*/*.jsonl": column_means("score", by="model"),
    "*/reviews/qwen-plus/*.jsonl": reviews,
    "*/20250117_154119/reviews/*.jsonl": old_reviews,
    "*/reviews/tiny/*.jsonl": reviews,
    "*/lmms_eval/*.jsonl": column_means("acc"),
    "*/deepeval/*.json": deepeval,
    "*/pydantic_evals/*.json": pydantic_evals,
    "*matrix*/*": matrix_means,
    "*/tabular/matrix.csv": matrix_means,
    "*/lighteval/*/details_*.parquet": lighteval,
    "*/scan_id=*/*.parquet": scanned,
    "*/cruxeval_generations/*.json": nested_means(
        "score",
        lambda document: (
            value
            for values in document["raw_scored_generations"].values()
            for value in values
        ),
    ),
    "*/reasoning_gym/*.json": nested_means("score", completions),
    "*/inspect_logs/*.json": nested_means("score", reduced),
    "*/inspect/agents.json": nested_means("score", reduced),
    "*/healthbench*_allresults.json": nested_means(
        "score",
        lambda document: (
            part["score"] for part in document["metadata"]["example_level_metadata"]
        ),
    ),
    "*/tabular/long.csv": column_means("score", by="model"),
    "*/ifeval/*/eval_results_*.jsonl": column_means("follow_all_instructions"),
    "*/nemo_skills/*/output-*.jsonl": column_means("symbolic_correct"),
    "*/simpleqa/*.jsonl": simple_grades,
    "*/tau_bench/*.json": column_means("reward"),
}


def check_chart(frame: pd.DataFrame, taken: Taken) -> None:
    """Every figure is that of its run, metric and step."""
    by_step = frame.set_index("Step")
    for run in taken.runs:
        for figure in run.published:
            cell = by_step.loc[str(run.step), f"{run.model} - {figure.metric}"]
            assert figure.value == float(cell)


def check_published(path: Path, taken: Taken) -> None:
    """Every figure is the one that the file states for its model, benchmark and metric."""
    if path.suffix == ".json":
        document = json.loads(path.read_text())
        stated = document.get("results", document)
        for run in taken.runs:
            for figure in run.published:
                assert stated[run.benchmark][figure.metric] == figure.value
                assert (
                    stated[run.benchmark].get(f"{figure.metric}_stderr")
                    == figure.standard_error
                )
        return
    frame = pd.read_csv(path, dtype=str, encoding="utf-8-sig")
    if frame.columns[0] == "Step":
        check_chart(frame, taken)
        return
    labels = [
        name for name in ("Model version", "Model", "model") if name in frame
    ] or [frame.columns[0]]
    names = frame[labels].apply(lambda column: column.str.strip())
    for run in taken.runs:
        for figure in run.published:
            rows = frame[names.isin([run.model]).any(axis=1)]
            rows = (
                rows
                if run.benchmark in (*frame, "B")
                else rows[rows["task"] == run.benchmark]
            )
            cells = rows[
                run.benchmark if run.benchmark in frame else figure.metric
            ].dropna()
            numbers = [
                float(cell.rstrip("%")) * (0.01 if cell.endswith("%") else 1)
                for cell in cells
            ]
            assert any(number == pytest.approx(figure.value) for number in numbers), (
                run.model,
                run.benchmark,
            )


def check_votes(path: Path) -> None:
    """The same votes as without a mapping."""
    found = []
    for importer in (
        IMPORTER,
        IMPORTER.for_mapping(tomllib.loads(starting_mapping(path)), "draft.toml"),
    ):
        (source,) = importer.claim([candidate(path)])
        dump = importer.read(
            source, ImportSettings(defaults=NAMES, values={"benchmark": "B"})
        )
        found.append([batch.to_pylist() for batch in dump.votes])
    assert found[0] == found[1] != []


def check(path: Path) -> bool:
    """Whether a file is read; if so its figures are right, if not what is said tells
    what to decide."""
    try:
        taken = drafted(path)
    except MappingError as error:
        assert (
            "[[choose]]" in str(error)
            and "(2)" in str(error)
            or "which columns" in str(error)
            or "(1)" in str(error)
        )
        return False
    except InputError as error:
        assert (
            error.__class__ is not WarehouseError
            and len(str(error)) > len(path.name) + 5
        )
        return False
    assert not taken.rejections
    published = [figure for run in taken.runs for figure in run.published]
    if published:
        check_published(path, taken)
    elif not taken.runs:
        check_votes(path)
    else:
        oracle = next(
            (one for glob, one in ORACLES.items() if fnmatch(path.as_posix(), glob)),
            None,
        )
        assert oracle is not None, (
            f"nothing tells whether the figures of {path} are right: {means_of(taken)}"
        )
        assert means_of(taken) == pytest.approx(oracle(path))
    return True


#: Boards that were published with errors, and files whose drafts are not right yet.
WITH_FAULTS = frozenset({"boards", "wild"})


def tables_below(folder: Path) -> list[Path]:
    found = sorted(
        path for path in folder.rglob("*") if path.is_file() and path.suffix in SUFFIXES
    )
    return [
        path for path in found if path.relative_to(folder).parts[0] not in WITH_FAULTS
    ]


@pytest.mark.parametrize("folder", ["tests/data", "docs/demo"])
def test_every_fixture_has_right_figures_or_a_question(folder: str) -> None:
    read = [path for path in tables_below(ROOT / folder) if check(path)]
    assert len(read) > 3


#: One file of each kind of dump that is read.
EXAMPLES = [
    "evalscope/qwen-plus/reviews/qwen-plus/gsm8k_main.jsonl",
    "evalscope/qwen-plus/reviews/qwen-plus/ifeval_default.jsonl",
    "evalscope/20250117_154119/reviews/Qwen2.5-0.5B-Instruct/gsm8k_main.jsonl",
    "evalscope/20250117_154119/reviews/Qwen2.5-0.5B-Instruct/ifeval_default.jsonl",
    "bfcl/2024-07-06/score-BFCL/data.csv",
    "cruxeval_generations/phi-1_temp0.2_input.json",
    "deepeval/generated_4.3.1/.latest_run_full.json",
    "mmlu_pro_matrix/correct.parquet",
    "nemo_evaluator/generated_0.3.0/adder/results.jsonl",
    "pythia/evals/pythia-v1/pythia-1.4b/zero-shot/1.4b_step4.json",
    "ragas/generated_0.4.3/ragas_results.csv",
    "reasoning_gym/math-evals/llama-3b-instruct/step_400/amc23/vllm_20250502_075952/results.json",
    "verifiers/wiki_search/outputs/evals/wiki-search--gpt-4.1/50519885/results.jsonl",
    "benchmark_stitching/data/external_benchmark_balrog.csv",
]


@pytest.mark.parametrize("name", EXAMPLES)
def test_dumps_that_are_read_have_the_right_figures(data_dir: Path, name: str) -> None:
    assert check(data_dir / name)


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        (
            "benchmark_stitching/data/distilled_models.csv",
            "whether any of these columns are scores",
        ),
        ("benchmark_stitching/data/external_benchmark_boolq.csv", "what the rows are"),
        ("gsm8k_openai/example_model_solutions.jsonl", "different models"),
        (
            "mteb/results/intfloat__multilingual-e5-small/e4ce9877abf3edfe10b0d82785e83bdcb973e22e/NFCorpus-PL.json",
            "main",
        ),
        (
            "evalscope/qwen-plus/reports/qwen-plus/gsm8k.json",
            "figures of whole benchmarks",
        ),
        (
            "hans_bert_100_seeds/berts_of_a_feather_accuracies_by_run.csv",
            "which columns",
        ),
        (
            "verifiers/math_python/outputs/evals/math-python--gpt-4.1-mini/49a7458f/results.jsonl",
            "generations of one prompt",
        ),
    ],
)
def test_dumps_of_two_readings_are_asked_about(
    data_dir: Path, name: str, asked: str
) -> None:
    with pytest.raises(MappingError, match=asked):
        drafted(data_dir / name)


def some_of(paths: list[Path], folder: Path, most: int) -> list[Path]:
    """Of each dump's files of a kind so many, evenly, of large ones fewer: 200 tables
    of one writer are one proof."""
    kinds: dict[tuple[str, str], list[Path]] = defaultdict(list)
    for path in paths:
        kinds[path.relative_to(folder).parts[0], path.suffix].append(path)
    wanted = (
        (files, max(1, most - files[0].stat().st_size // 1_000_000))
        for files in kinds.values()
    )
    return [
        one for files, number in wanted for one in files[:: -(-len(files) // number)]
    ]


@pytest.mark.parametrize(
    ("most", "least"),
    [
        pytest.param(4, 25, marks=pytest.mark.rare),
        pytest.param(10**6, 250, marks=pytest.mark.slow),
    ],
    ids=["some of each kind", "every file"],
)
def test_every_dump_has_right_figures_or_a_question(
    data_dir: Path, most: int, least: int
) -> None:
    read = [
        path for path in some_of(tables_below(data_dir), data_dir, most) if check(path)
    ]
    assert len(read) > least
