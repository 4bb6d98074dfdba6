"""Drafts of mappings by what rows say: roles of columns, whatever they are called."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.campaign.drafts import tried
from tests.support.cli import Caller
from tests.support.tabular import read
from warehouse.importers.tabular.drafts.draft import starting_mapping
from warehouse.importers.tabular.drafts.profile import profile
from warehouse.importers.tabular.evidence import Evidence, Rows, Standing

DATA = Path(__file__).parents[1] / "data"
PROMPTS = range(24)


def draft(path: Path) -> dict[str, Any]:
    """The draft for a file, as a mapping."""
    return tomllib.loads(starting_mapping(path))


def written(path: Path, **columns: Sequence[Any]) -> Path:
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


def of_two(
    make: Any, models: Sequence[str] = ("ada", "bob")
) -> tuple[list[str], list[Any]]:
    """Models by row, and what ``make`` makes of each model and prompt."""
    names = [model for model in models for _ in PROMPTS]
    return names, [make(model, prompt) for model in models for prompt in PROMPTS]


def right(model: str, prompt: int) -> int:
    return int(prompt % (2 if model == "ada" else 3) == 0)


def means(taken: Any) -> dict[str, float]:
    """The mean score by model."""
    found: dict[str, list[float]] = {}
    for (model,), values in taken.values("model").items():
        found[model] = [value for value in values if value is not None]
    return {model: round(sum(v) / len(v), 4) for model, v in found.items()}


# --- what rows say --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "standing"),
    [
        ("item", Standing.OF_PROMPT),
        ("size", Standing.OF_MODEL),
        ("harness", Standing.CONSTANT),
        ("said", Standing.OUTCOME),
    ],
)
def test_rows_of_one_prompt_tell_what_decides_a_column(
    tmp_path: Path, name: str, standing: Standing
) -> None:
    models, prompts = of_two(lambda model, prompt: f"p{prompt}")
    table = profile(
        written(
            tmp_path / "r.csv",
            who=models,
            p=prompts,
            item=[f"text {prompt}" for prompt in prompts],
            size=[len(model) + (model == "bob") for model in models],
            harness=["x"] * len(models),
            said=[f"{m} on {p}" for m, p in zip(models, prompts, strict=True)],
        )
    )
    by_name = {column.name: column for column in table.columns}
    rows = Rows(
        {column.path: column.codes for column in table.columns},
        Evidence.one_file(table.rows),
    )
    evidence = Evidence(rows, [by_name["who"]], [by_name["p"]])
    assert evidence.standing(by_name[name]) is standing


def test_a_misprint_makes_no_outcome_of_a_text(tmp_path: Path) -> None:
    models = ["ada"] * 200 + ["bob"] * 200
    texts = [f"What is {n}?" for n in [*range(200), *range(200)]]
    texts[250] += " "
    table = profile(
        written(tmp_path / "r.csv", m=models, i=[*range(200), *range(200)], q=texts)
    )
    m, i, q = table.columns
    rows = Rows({c.path: c.codes for c in table.columns}, Evidence.one_file(400))
    assert Evidence(rows, [m], [i]).standing(q) is Standing.OF_PROMPT


def test_what_scorers_said_is_no_matrix_of_models() -> None:
    """Columns of MLflow's results, which look like names of organisations and models:
    ``exact_match/value``."""
    found = draft(DATA / "tabular" / "mappings" / "mlflow_genai" / "eval.json")
    assert found["choose"] and "matrix" not in found


def test_times_since_1970_name_no_prompts(tmp_path: Path) -> None:
    """Batches of requests: each time stands in equally many rows, as prompts do."""
    times = [1_772_600_767_926 + 37 * batch for _ in range(5) for batch in range(12)]
    rows = range(len(times))
    path = written(
        tmp_path / "t.csv",
        request_time=times,
        output=[f"answer {row}" for row in rows],
        correct=[row % 3 % 2 for row in rows],
    )
    assert "prompt_id" not in draft(path)["sample"]
    renamed = tmp_path / "batch.csv"
    renamed.write_text(path.read_text().replace("request_time", "case"))
    assert draft(renamed)["sample"]["prompt_id"] == "case"


# --- roles ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["label", "answer", "truth", "reference"])
def test_what_differs_between_models_is_no_target(tmp_path: Path, name: str) -> None:
    """It went into the key, and two models shared only prompts on which they agree."""
    models, said = of_two(lambda model, prompt: f"{model} thinks {prompt * 7}")
    _, scores = of_two(right)
    columns = {
        "model": models,
        "benchmark": ["quiz"] * len(models),
        "question": [f"What is {prompt}?" for _ in range(2) for prompt in PROMPTS],
        "gold_answer": [f"{prompt}" for _ in range(2) for prompt in PROMPTS],
        name: said,
        "score": scores,
    }
    mapping = draft(written(tmp_path / "r.csv", **columns))
    assert mapping["sample"]["target"] == "gold_answer"
    assert mapping["sample"]["response"] == name
    assert means(read(tmp_path, mapping)) == {"ada": 0.5, "bob": 0.3333}


@pytest.mark.parametrize(
    ("words", "numbers"),
    [
        (("CORRECT", "INCORRECT", "NOT_ATTEMPTED"), (1, 0, 0)),
        (("Correct Answer", "Incorrect Answer", "Refusal"), (1, 0, 0)),
        (("A", "B", "C"), (1, 0, 0)),
        (("richtig", "falsch", "falsch"), (1, 0, 0)),
        (("正确", "错误", "错误"), (1, 0, 0)),
        (("grounded", "hallucinated", "hallucinated"), (1, 0, 0)),
    ],
)
def test_words_of_verdicts_are_read(
    tmp_path: Path, words: Sequence[str], numbers: Sequence[int]
) -> None:
    models, verdicts = of_two(
        lambda model, prompt: words[0 if right(model, prompt) else 1 + prompt % 2]
    )
    mapping = draft(
        written(
            tmp_path / "r.csv",
            model=models,
            id=[f"q{prompt}" for _ in range(2) for prompt in PROMPTS],
            grade=verdicts,
        )
    )
    (score,) = mapping["scores"]
    expected = dict(zip(words, numbers, strict=True))
    assert score["value"] == {"path": "grade", "values": expected}
    assert mapping["metrics"]["grade"] == {"kind": "binary", "higher_is_better": True}


def test_letters_of_options_are_no_grades(tmp_path: Path) -> None:
    models, letters = of_two(lambda model, prompt: "ABC"[(prompt + len(model)) % 3])
    path = written(
        tmp_path / "r.csv",
        model=models,
        id=[f"q{prompt}" for _ in range(2) for prompt in PROMPTS],
        gold=["ABC"[prompt % 3] for _ in range(2) for prompt in PROMPTS],
        grade=letters,
    )
    assert all("grade" not in str(score) for score in draft(path).get("scores", []))


def test_full_marks_are_no_score(tmp_path: Path) -> None:
    """The one column called score was the same for all."""
    records = [
        {
            "index": prompt,
            "score": 6 + prompt % 3,
            "question": f"q {prompt}",
            "model_correction_score": [round(6 * (prompt % 4) / 4, 1)],
        }
        for prompt in PROMPTS
    ]
    (tmp_path / "r.json").write_text(json.dumps({"model_name": "a", "all": records}))
    mapping = draft(tmp_path / "r.json")
    (score,) = mapping["scores"]
    assert score["value"] == "model_correction_score[0]"
    (choice,) = mapping["choose"]
    assert '"score", which no row exceeds' in choice["what"]


def test_one_number_in_all_rows_is_no_score(tmp_path: Path) -> None:
    path = written(
        tmp_path / "r.csv",
        id=[f"q{prompt}" for prompt in PROMPTS],
        score=[6] * len(PROMPTS),
        answer_score=[prompt % 4 for prompt in PROMPTS],
    )
    assert [score["value"] for score in draft(path)["scores"]] == ["answer_score"]


def test_tasks_that_are_right_or_wrong_are_prompts(tmp_path: Path) -> None:
    models, tasks = of_two(lambda model, prompt: f"fix-bug-{prompt}")
    _, scores = of_two(right)
    path = written(tmp_path / "r.csv", model=models, task=tasks, score=scores)
    mapping = draft(path)
    assert mapping["sample"]["prompt_id"] == "task" and "published" not in mapping
    mapping["run"]["benchmark"] = {"const": "bugs"}
    assert means(read(tmp_path, mapping)) == {"ada": 0.5, "bob": 0.3333}


def test_ids_that_look_like_numbers_are_ids_where_files_beside_have_them(
    tmp_path: Path,
) -> None:
    """Four of them looked like numbers, so that rows were told by their place; the
    files lack different rows."""
    ids = [f"{number * 2654435761 % 2**32:08x}" for number in range(40)]
    for model, missing in (("ada", 3), ("bob", 17)):
        rows = [
            {"session_id": own, "model_test": f"org/{model}-7b", "score": str(n % 10)}
            for n, own in enumerate(ids)
            if n != missing
        ]
        (tmp_path / f"{model}.json").write_text(json.dumps(rows))
    mapping = draft(tmp_path / "ada.json")
    assert mapping["sample"]["prompt_id"] == "session_id"
    assert mapping["run"]["model"] == "model_test"


def test_files_beside_of_another_benchmark_say_nothing(tmp_path: Path) -> None:
    """Their ids are the same, and their texts are others."""
    for name in ("sums", "words"):
        written(
            tmp_path / f"{name}.csv",
            id=[*PROMPTS],
            question=[f"{name} {prompt}?" for prompt in PROMPTS],
            correct=[prompt % 2 for prompt in PROMPTS],
        )
    mapping = draft(tmp_path / "sums.csv")
    assert mapping["sample"] == {"prompt_id": "id", "text": "question"}


@pytest.mark.parametrize("as_objects", [False, True])
def test_verdicts_beside_answers_are_draws(tmp_path: Path, as_objects: bool) -> None:
    records = [
        {
            "idx": 900 + prompt,
            "ys": [f"a{draw}" for draw in range(4)],
            "accs": [
                {"r": int(draw < prompt % 4)} if as_objects else draw < prompt % 4
                for draw in range(4)
            ],
        }
        for prompt in PROMPTS
    ]
    (tmp_path / "r.json").write_text(json.dumps(records))
    mapping = draft(tmp_path / "r.json")
    assert mapping["rows"] == {"draws": "accs[]"}
    assert mapping["sample"]["response"] == "ys[@draw]"
    mapping["run"] = {"model": {"const": "m"}, "benchmark": {"const": "b"}}
    assert means(read(tmp_path, mapping)) == {"m": 0.375}


def test_a_repeated_pair_is_a_fault_of_a_table_and_no_question(tmp_path: Path) -> None:
    rows = [(f"m{m}", f"b{b}", 10 * m + b + 0.5) for m in range(12) for b in range(6)]
    rows.append(("m0", "b0", 99.0))
    models, tasks, figures = zip(*rows, strict=True)
    path = written(
        tmp_path / "r.csv", model_id=models, benchmark_id=tasks, score=figures
    )
    mapping = draft(path)
    assert mapping["run"] == {"model": "model_id", "benchmark": "benchmark_id"}
    assert "choose" not in mapping and mapping["published"]


def test_entries_of_a_leaderboard_hold_figures_in_objects(tmp_path: Path) -> None:
    entries = [
        {
            "llm": {"name": f"m{number}"},
            "method": {"name": "ReAct"},
            "hard": {"all": {"goal": 2.5 + number}, "level 1": {"goal": 9.5 + number}},
        }
        for number in range(5)
    ]
    (tmp_path / "board.json").write_text(json.dumps(entries))
    mapping = draft(tmp_path / "board.json")
    assert mapping["run"]["model"] == "llm.name"
    assert mapping["run"]["agent"] == "method.name"
    taken = read(tmp_path, mapping)
    figures = {
        (run.model, run.benchmark, figure.value)
        for run in taken.runs
        for figure in run.published
    }
    assert ("m4", "hard / level 1", 13.5) in figures and len(figures) == 10


def test_a_rating_of_minus_one_is_left_out_and_said(tmp_path: Path) -> None:
    models, ratings = of_two(lambda model, prompt: (prompt % 8) + 2)
    ratings[5] = -1
    path = written(
        tmp_path / "r.csv",
        question_id=[prompt for _ in range(2) for prompt in PROMPTS],
        model=models,
        **{"GPT-4.1": ratings, "GPT-4o": [*reversed(ratings[:24]), *ratings[24:]]},
    )
    text = starting_mapping(path)
    assert "-1 may mean no rating: left out" in text
    values = [score["value"] for score in tomllib.loads(text)["scores"]]
    assert {"path": '"GPT-4.1"', "null": ["-1", "-1.0"]} in values


def test_ratings_of_one_scale_are_metrics_each(tmp_path: Path) -> None:
    """One whose name is that of a metric was taken, and its neighbours were not."""
    models, ratings = of_two(lambda model, prompt: (prompt + (model == "ada")) % 5 + 1)
    columns = {
        name: ratings[shift:] + ratings[:shift]
        for shift, name in enumerate(("coherence", "relevance", "overall"))
    }
    path = written(
        tmp_path / "r.csv",
        model=models,
        question_id=[prompt for _ in range(2) for prompt in PROMPTS],
        **columns,
    )
    metrics = [score["metric"] for score in draft(path)["scores"]]
    assert metrics == ["coherence", "relevance", "overall"]


def test_the_text_of_a_response_names_no_prompt(tmp_path: Path) -> None:
    records = [
        {
            "problem": {"statement": f"Compute {prompt}", "answer": str(prompt)},
            "response": {"text": f"It is {prompt}"},
            "evaluation": {"is_correct": prompt % 2 == 0},
        }
        for prompt in PROMPTS
    ]
    path = tmp_path / "r.jsonl"
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    mapping = draft(path)
    assert mapping["sample"] == {
        "text": "problem.statement",
        "target": "problem.answer",
        "response": "response.text",
    }


def test_many_small_files_are_asked_about(tmp_path: Path) -> None:
    for number in range(8):
        record = {
            "checkpoints": [{"total": 1, "result": 1}, {"total": 1, "result": 0}],
            "final_score": {"total": 2, "result": 1},
        }
        (tmp_path / f"eval_task-{number}.json").write_text(json.dumps(record))
    choices = draft(tmp_path / "eval_task-0.json")["choose"]
    assert choices[0]["what"] == "what each file is (7 lie beside this one)"


def test_each_column_is_said_with_its_role_and_test(tmp_path: Path) -> None:
    models, said = of_two(lambda model, prompt: f"{model} thinks {prompt * 7}")
    _, scores = of_two(right)
    text = starting_mapping(
        written(
            tmp_path / "r.csv",
            model=models,
            question=[f"What is {prompt}?" for _ in range(2) for prompt in PROMPTS],
            label=said,
            score=scores,
        )
    )
    head = [line for line in text.splitlines() if line.startswith("#   ")]
    roles = {line[4:].partition(":")[0]: line.partition(" = ")[2] for line in head}
    assert roles["question"] == "text: depends on the prompt alone"
    assert roles["label"] == "response: differs between rows of one prompt"
    assert roles["score"] == "score: differs between rows of one prompt"


# --- made-up tables -------------------------------------------------------------------------------

#: One seed is one table, in any run; a wrong figure under any seed is a fault.
SEEDS = range(7_000, 7_080)


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Counter[str]]:
    counts: Counter[str] = Counter()
    wrong = []
    for seed in SEEDS:
        outcome = tried(seed, tmp_path_factory.mktemp(f"seed{seed}_"))
        counts[outcome.word] += 1
        if outcome.word == "wrong":
            wrong.append(f"{seed}: {outcome.why}")
    assert not wrong
    yield counts


def test_most_made_up_tables_are_right_at_once_or_after_one_decision(
    outcomes: Counter[str],
) -> None:
    assert outcomes["right"] >= 0.5 * len(SEEDS)
    assert outcomes["right"] + outcomes["asked"] >= 0.85 * len(SEEDS)


# --- answers that are labels, and what is no score ------------------------------------------------


def test_answers_that_are_labels_are_right_where_they_are_equal(
    run: Caller, tmp_path: Path
) -> None:
    labels = ("science", "tech", "sports")
    records = [
        {
            "id": f"{prompt * 2654435761 % 2**64:016x}",
            "arm": "regex",
            "pred": labels[prompt % 2],
            "gold": labels[prompt % 3],
        }
        for prompt in PROMPTS
    ]
    path = tmp_path / "r.jsonl"
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    db = str(tmp_path / "s.duckdb")
    asked = run("ingest", str(path), db=db)
    asked.fails(3, '"pred" is right where it equals "gold"', "--default model=NAME")
    names = ("--default", "model=m", "--default", "benchmark=b")
    assert run("ingest", str(path), *names, db=db).code == 0
    (row,) = run("leaderboard", "b", "--json", db=db).rows
    expected = sum(prompt % 2 == prompt % 3 for prompt in PROMPTS) / len(PROMPTS)
    assert row["estimate"] == pytest.approx(expected)


def test_answers_of_many_words_are_asked_about(run: Caller, tmp_path: Path) -> None:
    path = written(
        tmp_path / "r.csv",
        id=[f"q{prompt}" for prompt in PROMPTS],
        pred=[f"{prompt}" if prompt % 2 else "none" for prompt in PROMPTS],
        gold=[f"{prompt}" for prompt in PROMPTS],
    )
    asked = run("ingest", str(path), db=str(tmp_path / "s.duckdb"))
    asked.fails(3, 'no column holds scores: (1) "pred" is right where it equals "gold"')


def test_which_was_shown_first_is_no_score(tmp_path: Path) -> None:
    """It was taken for one, since it is true or false and differs."""
    records = [
        {
            "id": f"d-{prompt}",
            "judge": judge,
            "plain_first": (prompt + len(judge)) % 2 == 0,
            "winner": ("plain", "variant", "tie")[prompt % 3],
        }
        for judge in ("gpt-4o", "claude-3")
        for prompt in PROMPTS
    ]
    path = tmp_path / "r.jsonl"
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    assert "scores" not in draft(path)


def test_rows_with_text_and_target_are_prompts_whatever_columns_are_called(
    tmp_path: Path,
) -> None:
    path = written(
        tmp_path / "r.csv",
        id=[*PROMPTS],
        query=[f"What is {prompt} and why?" for prompt in PROMPTS],
        expected=[("tool", "direct")[prompt % 2] for prompt in PROMPTS],
        lenient=[prompt % 3 > 0 for prompt in PROMPTS],
        strict=[prompt % 3 > 1 for prompt in PROMPTS],
    )
    mapping = draft(path)
    assert "matrix" not in mapping and mapping["sample"]["prompt_id"] == "id"
    assert any("lenient" in reading for reading in mapping["choose"][0]["between"])


def test_hashes_of_prompts_name_them(tmp_path: Path) -> None:
    """They look as if they were drawn for each row."""
    hashes = [f"{prompt * 2654435761 % 2**32:08x}" * 8 for prompt in PROMPTS]
    scores = [prompt % 4 / 4 for prompt in PROMPTS]
    path = written(tmp_path / "r.csv", prompt_id=hashes, score=scores)
    assert draft(path)["sample"]["prompt_id"] == "prompt_id"


def test_the_model_that_was_judged_is_the_model(tmp_path: Path) -> None:
    path = written(
        tmp_path / "r.csv",
        id=[*PROMPTS],
        generation_model=["gpt-4o"] * len(PROMPTS),
        judge_model=["claude-3"] * len(PROMPTS),
        score=[prompt % 4 / 4 for prompt in PROMPTS],
    )
    mapping = draft(path)
    assert mapping["run"]["model"] == "generation_model"
    assert mapping["scorer"] == {"judge_model": "judge_model"}


def test_a_rating_beside_named_ones_is_asked_about(tmp_path: Path) -> None:
    """One of three was left out in silence, as its name says nothing."""
    ratings = [1 + prompt * 7 % 10 for prompt in PROMPTS]
    path = written(
        tmp_path / "r.csv",
        prompt_id=[f"p{prompt}" for prompt in PROMPTS],
        helpfulness=ratings,
        correctness=ratings[5:] + ratings[:5],
        clarity=ratings[9:] + ratings[:9],
    )
    (choice,) = draft(path)["choose"]
    assert [reading.partition(" ")[0] for reading in choice["between"]] == [
        "helpfulness",
        "correctness",
        "clarity",
        "none",
    ]


def test_an_answer_alone_names_no_prompt(run: Caller, tmp_path: Path) -> None:
    """Rows were prompts by their place, and two ways to run a model one mean."""
    ways = [way for way in ("plain", "assisted") for _ in PROMPTS]
    path = written(
        tmp_path / "graded.csv",
        model=["ada"] * len(ways),
        layer=ways,
        qid=[f"q{prompt}" for prompt in PROMPTS] * 2,
        answer=[f"{prompt * 7 % 13}.5" for prompt in range(len(ways))],
        correct=[prompt % 3 == 0 for prompt in range(len(ways))],
    )
    given = ("--default", "benchmark=b")
    asked = run("ingest", str(path), *given, db=str(tmp_path / "s.duckdb"))
    asked.fails(3, 'what "layer" tells apart', "runs, a figure each")


def test_keys_of_an_object_of_scores_are_metrics(tmp_path: Path) -> None:
    """What stands beside each score gives its reason, and is no response."""
    path = tmp_path / "scores.jsonl"
    with path.open("w") as lines:
        for prompt in PROMPTS:
            scores = {
                name: {"score": (prompt + place) % 3, "reason": f"{name}: as {prompt}"}
                for place, name in enumerate(("creep", "candour", "clarity"))
            }
            line = {"task_id": f"t{prompt}", "model": "ada", "scores": scores}
            lines.write(json.dumps(line) + "\n")
    mapping = draft(path)
    assert mapping["sample"] == {"prompt_id": "^.task_id"}
    assert [rule["metric"] for rule in mapping["scores"]] == [{"path": "@key"}]
    (found,) = read(tmp_path, mapping, {"benchmark": "b"}).runs
    assert {spec.name for spec in found.metrics} == {"creep", "candour", "clarity"}


def test_verdicts_of_which_one_is_not_known_are_offered(tmp_path: Path) -> None:
    models, verdicts = of_two(
        lambda model, prompt: "correct" if right(model, prompt) else "made_up"
    )
    path = written(
        tmp_path / "graded.csv",
        question_id=[*PROMPTS] * 2,
        model_name=models,
        category=verdicts,
    )
    (choice,) = draft(path)["choose"]
    assert choice["between"][0] == '"category", in which correct = 1, made_up = 0'


def test_conditions_and_repeats_of_each_prompt_are_asked_about(tmp_path: Path) -> None:
    """Neither tells rows of one prompt apart alone."""
    ways = [(way, run) for way in ("base", "guard") for run in (1, 2) for _ in PROMPTS]
    path = written(
        tmp_path / "scores.csv",
        model=["ada"] * len(ways),
        condition=[way for way, _ in ways],
        run=[run for _, run in ways],
        scenario_id=[f"s{prompt}" for prompt in PROMPTS] * 4,
        cs=[row * 7 % 12 / 12 for row in range(len(ways))],
    )
    choice = draft(path)["choose"][0]
    assert choice["what"].startswith('what "condition" and "run" together tell apart')
    assert '"condition" runs, "run" generations of each prompt' in choice["between"]


def test_numbers_that_differ_between_models_are_offered(tmp_path: Path) -> None:
    """Their name says nothing, and they are of no usual range."""
    models, distances = of_two(
        lambda model, prompt: (prompt * 7 % 24 + len(model) * prompt % 5) * 1.7,
        models=("ada", "robert"),
    )
    path = written(tmp_path / "s.csv", id=[*PROMPTS] * 2, model=models, tvd=distances)
    (choice,) = draft(path)["choose"]
    assert choice["between"][0].startswith("tvd (number, ")


def test_a_count_beside_its_rate_is_no_score_of_a_prompt(
    run: Caller, tmp_path: Path
) -> None:
    """Systems with an id were prompts, and the number that they solved a score."""
    entries = [
        {"id": name, "cases": 100, "resolved": solved, "resolve_rate": solved / 100}
        for name, solved in (("ref", 74), ("knn", 75), ("rules", 73), ("mix", 71))
    ]
    path = tmp_path / "board.json"
    path.write_text(json.dumps({"title": "b", "dynamic": {"routers": entries}}))
    asked = run("ingest", str(path), db=str(tmp_path / "s.duckdb"))
    asked.fails(3, "(2) published figures of whole benchmarks")
    mapping = draft(path)
    assert "prompt_id" not in mapping.get("sample", {})
    assert "resolved" not in mapping["choose"][0]["between"][0].split()


def test_the_sum_of_ratings_is_offered_beside_them(tmp_path: Path) -> None:
    """With halves, and with one that is full marks in all rows."""
    models, rows = of_two(
        lambda model, prompt: (prompt + len(model)) % 5, models=("ada", "robert")
    )
    ratings = {
        "correctness": [5 if row else 0 for row in rows],
        "code_quality": [row + 0.5 for row in rows],
        "autonomy": [5 - row / 2 for row in rows],
        "regressions": [5] * len(rows),
    }
    total = [sum(row) for row in zip(*ratings.values(), strict=True)]
    path = written(
        tmp_path / "r.csv",
        id=[*PROMPTS] * 2,
        model=models,
        **ratings,
        total_20=total,
    )
    (choice,) = draft(path)["choose"]
    offered = {reading.partition(" ")[0] for reading in choice["between"]}
    ratings = {"correctness", "code_quality", "autonomy", "total_20"}
    assert offered == {*ratings, "none"}
