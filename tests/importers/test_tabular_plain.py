"""Tables of strangers without a mapping: usual names of columns, words for scores,
directions."""

from __future__ import annotations

import json
import shlex
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Caller
from tests.support.stores import store_at
from tests.support.tabular import candidates
from warehouse.errors import InputError
from warehouse.importers.tabular.column_names import guess
from warehouse.importers.tabular.importer import IMPORTER
from warehouse.ingest.pipeline import ingest
from warehouse.records import ImportSettings, MetricSpec, RunHeader
from warehouse.store.open import open_store

FULL = """model,benchmark,prompt_id,question,answer,prediction,score
a,sums,1,1+3?,4,4,1
a,sums,2,2+3?,5,4,0
"""


def taken(
    folder: Path,
    text: str,
    name: str = "r.csv",
    stated: bool | None = None,
    **values: Any,
) -> tuple[tuple[RunHeader, ...], list[dict[str, Any]], list[str]]:
    """Runs, rows and notes of a table that is read without a mapping."""
    (folder / name).write_text(text, encoding="utf-8")
    (source,) = IMPORTER.claim(candidates(folder))
    dump = IMPORTER.read(source, ImportSettings(values, higher_is_better=stated))
    rows = [row for batch in dump.batches for row in batch.to_pylist()]
    assert not dump.rejections
    return tuple(dump.runs), rows, dump.notes


def values_of(rows: list[dict[str, Any]]) -> list[Any]:
    return [score["value"] for row in rows for score in row["scores"]]


def test_texts_are_taken_by_the_usual_names(tmp_path: Path) -> None:
    (run,), rows, notes = taken(tmp_path, FULL)
    assert (run.model, run.benchmark) == ("a", "sums")
    assert [(r["text"], r["target"], r["response"]) for r in rows] == [
        ("1+3?", "4", "4"),
        ("2+3?", "5", "4"),
    ]
    assert any(
        "question as text, answer as target, prediction as response" in n for n in notes
    )


def test_a_label_that_judges_the_response_is_no_target(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a target it would make other prompts of those of which models got other
    verdicts."""
    text = "model,benchmark,question,label,score\n" + "".join(
        f"{model},quiz,q{i},{'correct' if right == '1' else 'incorrect'},{right}\n"
        for model, verdicts in (("a", "1111"), ("b", "1010"))
        for i, right in enumerate(verdicts)
    )
    (tmp_path / "r.csv").write_text(text)
    caller, db = Caller(capsys), str(tmp_path / "t.duckdb")
    assert (
        "columns not used: label"
        in caller("ingest", str(tmp_path / "r.csv"), db=db).err
    )
    (compared,) = caller("compare", "a", "b", "--json", db=db).rows
    assert (compared["n_prompts"], compared["difference"]) == (4, 0.5)
    _, rows, _ = taken(
        tmp_path, text.replace("incorrect", "no").replace("correct", "yes")
    )
    assert {row.get("target") for row in rows} == {None}  # both answers to one question
    same = text.replace("incorrect", "no").replace("correct", "no")
    _, rows, _ = taken(tmp_path, same)
    assert {row["target"] for row in rows} == {"no"}  # of the question
    phoenix = {"input": "text", "output": "response", "explanation": "explanation"}
    assert guess(["input", "output", "label", "score", "explanation"]).renamed == {
        field: column for column, field in phoenix.items() if field != column
    }


def test_a_first_row_larger_than_a_files_beginning(tmp_path: Path) -> None:
    row = (
        '{"model": "a", "benchmark": "sums", "id": "1", "response": "%s", "score": 1}\n'
    )
    (run,), rows, _ = taken(tmp_path, row % ("x" * 100_000), name="r.jsonl")
    assert run.model == "a" and values_of(rows) == [1]


@pytest.mark.parametrize("text", ["question", "prompt", "input", "problem"])
@pytest.mark.parametrize("target", ["answer", "target", "gold", "label"])
@pytest.mark.parametrize("response", ["prediction", "response", "output", "completion"])
def test_documented_names_of_texts(text: str, target: str, response: str) -> None:
    found = guess(["id", text, target, response, "score"])
    assert found.sample == {
        "prompt_id": "id",
        "text": text,
        "target": target,
        "response": response,
    }
    assert not found.unused


@pytest.mark.parametrize(
    "truth", ["ground_truth", "reference", "expected_answer", "truth"]
)
def test_an_answer_beside_the_right_one_is_the_models(truth: str) -> None:
    found = guess(["question", "answer", truth, "score"])
    assert found.sample == {"text": "question", "target": truth, "response": "answer"}
    assert (
        guess(["question", "answer", truth, "output", "score"]).sample["target"]
        == "answer"
    )


@pytest.mark.parametrize("benchmark", ["benchmark", "task", "dataset"])
@pytest.mark.parametrize("key", ["id", "prompt_id", "question_id", "idx"])
@pytest.mark.parametrize("score", ["score", "correct", "acc", "is_correct"])
def test_documented_names_of_keys_and_scores(
    benchmark: str, key: str, score: str
) -> None:
    found = guess(
        ["model", benchmark, key, score, "seed", "step", "temperature", "subject"]
    )
    assert found.run == {
        "model": "model",
        "benchmark": benchmark,
        "training_seed": "seed",
        "step": "step",
        "temperature": "temperature",
    }
    assert found.sample == {"prompt_id": key} and found.metadata == {
        "subject": "subject"
    }
    assert found.scores == ((score, score),) and not found.unused


def test_a_fields_own_name_comes_first_and_the_rest_is_named() -> None:
    found = guess(["target", "answer", "prompt_id", "id", "Score", "f1"])
    assert found.sample == {"prompt_id": "prompt_id", "target": "target"}
    assert found.scores == (("score", "Score"),)
    assert found.unused == ("answer", "id", "f1")


def test_columns_that_are_not_used_are_named(tmp_path: Path) -> None:
    text = FULL.replace("score\n", "score,remark,difficult.y\n").replace(
        ",1\n", ",1,x,y\n"
    )
    _, _, notes = taken(tmp_path, text.replace(",0\n", ",0,z,n\n"))
    (unused,) = [
        note
        for note in notes
        if note.startswith("columns not used: remark, difficult.y;")
    ]
    assert f"`warehouse mapping {shlex.quote(str(tmp_path / 'r.csv'))}`" in unused


@pytest.mark.parametrize(
    ("column", "cells", "expected", "higher"),
    [
        ("correct", ("True", "False"), [1, 0], True),
        ("acc", ("1", "0"), [1, 0], True),
        ("exact_match", ("1.0", "0.0"), [1, 0], True),
        ("score", ("1", ""), [1, None], True),
        ("is_correct", ("yes", "No"), [1, 0], True),
        ("correct", ("✓", "✗"), [1, 0], True),
        ("score", ("t", "f"), [1, 0], True),
        ("score", ("0.5", "1"), [0.5, 1], None),
        ("score", ("85%", "12.5 %"), [0.85, 0.125], None),
        ("correct", ("1", "N/A"), [1, None], True),
        ("score", ("1", "perhaps"), [1, None], None),
    ],
)
def test_what_the_values_of_scores_tell(
    tmp_path: Path,
    column: str,
    cells: tuple[str, str],
    expected: list[Any],
    higher: bool | None,
) -> None:
    text = f"model,benchmark,id,{column}\na,b,1,{cells[0]}\na,b,2,{cells[1]}\n"
    (run,), rows, notes = taken(tmp_path, text)
    assert values_of(rows) == pytest.approx(expected)
    (metric,) = run.metrics
    assert (metric.name, metric.higher_is_better) == (column, higher)
    word = "is not known" if higher is None else "higher is better"
    assert any(word in note for note in notes)


def test_a_metric_that_is_no_truth_has_no_direction(tmp_path: Path) -> None:
    (run,), _, notes = taken(
        tmp_path,
        "model,benchmark,id,metric,value\na,b,1,acc,1\na,b,1,toxic,0\na,b,2,toxic,1\n",
    )
    assert {m.name: m.higher_is_better for m in run.metrics} == {
        "acc": True,
        "toxic": None,
    }
    assert any("whether a higher toxic is better" in note for note in notes)


def test_a_spreadsheet_with_semicolons_and_decimal_commas(tmp_path: Path) -> None:
    text = "\ufeffModel;Task;Question ID;Score\na;b;1;0,5\na;b;2;1\n"
    (run,), rows, notes = taken(tmp_path, text)
    assert (run.model, run.benchmark) == ("a", "b")
    assert values_of(rows) == [0.5, 1] and [row["prompt_id"] for row in rows] == [
        "1",
        "2",
    ]
    assert "Score: decimal commas" in notes


@pytest.mark.parametrize("said", ["sep=;\n", '"sep=;"\r\n', "\ufeffSEP=;\n"])
def test_a_first_line_may_say_what_parts_the_cells(tmp_path: Path, said: str) -> None:
    (run,), rows, _ = taken(
        tmp_path,
        f"{said}model;benchmark;id;question, if any;score\na;b;1;x;1\na;b;2;y;0\n",
    )
    assert (run.model, run.benchmark, values_of(rows)) == ("a", "b", [1, 0])
    (tmp_path / "r.csv").write_text(
        f"{said}model;benchmark;id;score\na;b;1;1\na;b;2;1;7\n"
    )
    (source,) = IMPORTER.claim(candidates(tmp_path))
    dump = IMPORTER.read(source, ImportSettings({}))
    assert sum(batch.num_rows for batch in dump.batches) == 1
    assert [item.place for item in dump.rejections] == ["r.csv row 4"]


@pytest.mark.parametrize(("first", "second"), [("0,85", "0.9"), ("85,0 %", "90.0%")])
def test_points_among_decimal_commas_are_points(
    tmp_path: Path, first: str, second: str
) -> None:
    _, rows, _ = taken(
        tmp_path, f"model;benchmark;id;score\na;b;1;{first}\na;b;2;{second}\n"
    )
    assert values_of(rows) == pytest.approx([0.85, 0.9])


@pytest.mark.parametrize("form", ["{:.2f}%", "{:.4f}"])
def test_numbers_in_words_are_read_however_many_there_are(
    tmp_path: Path, form: str
) -> None:
    """As texts only those were read that are whole: of F1 scores the zeros and ones."""
    texts = [form.format(i).replace(".", ",") for i in range(40)]
    rest = [] if "%" in form else ["0", "1.234,5"]
    lines = "".join(f"a;b;{i};{text}\n" for i, text in enumerate([*texts, *rest]))
    _, rows, _ = taken(tmp_path, f"model;benchmark;id;score\n{lines}")
    expected = [*range(40), 0, 1234.5] if rest else [i / 100 for i in range(40)]
    assert values_of(rows) == pytest.approx(expected)


@pytest.mark.parametrize("text", ["85%", '"0,85"'])
def test_numbers_of_two_forms_are_refused(tmp_path: Path, text: str) -> None:
    """The mean would be that of the plain ones alone."""
    with pytest.raises(
        InputError,
        match=r"r\.csv: '.*85.*' beside plain numbers in scores of score; expected",
    ):
        taken(tmp_path, f"model,benchmark,id,score\na,b,1,{text}\na,b,2,0\n")


def test_blanks_around_names_make_no_other_run(tmp_path: Path) -> None:
    (run,), rows, _ = taken(
        tmp_path, "model,benchmark,id,score\na,b,1,1\na ,b,2,0\n a, b ,3,1\n"
    )
    assert (run.model, run.benchmark, len(rows)) == ("a", "b", 3)


def test_whole_numbers_with_decimals_name_what_integers_name(tmp_path: Path) -> None:
    """pandas has integers beside gaps as 1.0: neither another prompt nor another seed."""
    lines = (
        '{"model":"a","benchmark":"b","id":7.0,"seed":1.0,"score":1}',
        '{"model":"a","benchmark":"b","id":8,"score":1}',
    )
    (run, unseeded), rows, _ = taken(tmp_path, "\n".join(lines), "r.jsonl")
    assert [row["prompt_id"] for row in rows] == ["7", "8"]
    assert (run.training_seed, unseeded.training_seed) == ("1", None)
    (tmp_path / "r.jsonl").unlink()
    (run,), _, _ = taken(tmp_path, "model,benchmark,id,seed,score\na,b,7,1.0,1\n")
    assert run.training_seed == "1"


def test_lines_in_json_and_tables_in_a_zip_are_read_by_their_names(
    tmp_path: Path, run: Caller
) -> None:
    rows = [
        f"{model},quiz,q{i},{(i + (model == 'b')) % 2}"
        for model in "ab"
        for i in range(3)
    ]
    records = [
        dict(zip(("model", "task", "id", "score"), row.split(","), strict=True))
        for row in rows
    ]
    (tmp_path / "lines.json").write_text(
        "".join(f"{json.dumps(record)}\n" for record in records)
    )
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as packed:
        for place, name in enumerate(("x/b.csv", "a.csv")):
            packed.writestr(
                name, "\n".join(("model,task,id,score", *rows[3 * place :][:3]))
            )
        packed.writestr("README.md", "# of whom")
    for name in ("lines.json", "two.zip"):
        store = str(tmp_path / f"{name}.duckdb")
        assert run("ingest", str(tmp_path / name), db=store).code == 0
        assert {
            row["model"]: row["estimate"]
            for row in run("leaderboard", "quiz", "--json", db=store).rows
        } == {
            "a": pytest.approx(1 / 3),
            "b": pytest.approx(2 / 3),
        }
    with zipfile.ZipFile(tmp_path / "two.zip", "a") as packed:
        packed.writestr("config.json", "{}")
    run("ingest", str(tmp_path / "two.zip"), db=str(tmp_path / "s.duckdb")).fails(
        3, "unpack first"
    )


def test_without_ids_the_content_is_the_key(tmp_path: Path) -> None:
    text = "model,benchmark,question,correct\na,b,q1,1\na,b,q2,0\nc,b,q2,1\n"
    _, rows, _ = taken(tmp_path, text)
    keys = [row["identity"] for row in rows]
    assert keys[1] == keys[2] != keys[0]


def test_names_with_dots_and_quotes(tmp_path: Path) -> None:
    text = 'model.name,benchmark,"id","is correct"\na,b,1,1\n'
    (run,), rows, _ = taken(tmp_path, text)
    assert run.model == "a" and values_of(rows) == [1]


def test_what_the_user_says_of_the_direction_holds(tmp_path: Path) -> None:
    (run,), _, notes = taken(tmp_path, FULL, stated=False)
    assert run.metrics[0].higher_is_better is None  # ingest fills it in
    assert not any("better" in note for note in notes)


def test_a_missing_column_is_named_with_what_to_do(tmp_path: Path) -> None:
    text = "question,answer,correct\nq,a,1\n"
    with pytest.raises(
        InputError, match="names the model.*names the bench.*--default model=NAME --de"
    ):
        taken(tmp_path, text)
    with pytest.raises(InputError, match="`warehouse mapping FILE`"):
        taken(tmp_path, text, model="m")


@pytest.mark.parametrize(
    "header", ["id,question,gpt-4,llama", "id,text", "value,input,label", "score,model"]
)
def test_tables_without_scores_or_prompts_are_left_alone(
    tmp_path: Path, header: str
) -> None:
    (tmp_path / "r.csv").write_text(
        f"{header}\n{','.join('1' for _ in header.split(','))}\n"
    )
    assert not list(IMPORTER.claim(candidates(tmp_path)))


def test_the_store_has_the_text_and_the_direction(
    tmp_path: Path, store_url: str
) -> None:
    (tmp_path / "r.csv").write_text(FULL)
    with open_store(store_url, create=True) as store:
        report = ingest(store, [tmp_path / "r.csv"])
        assert [source.state for source in report.sources] == ["loaded"]
        prompts = store.arrow(
            "select text, target from prompt order by text"
        ).to_pylist()
        metrics = store.arrow(
            "select higher_is_better as h from benchmark_metric"
        ).to_pylist()
    assert prompts == [{"text": "1+3?", "target": "4"}, {"text": "2+3?", "target": "5"}]
    assert [row["h"] for row in metrics] == [True]


@pytest.mark.parametrize(
    ("option", "expected"), [("--higher-is-better", True), ("--lower-is-better", False)]
)
def test_the_direction_is_an_option(
    tmp_path: Path, run: Caller, option: str, expected: bool
) -> None:
    (tmp_path / "r.csv").write_text(FULL)
    url = f"duckdb:///{tmp_path / 's.duckdb'}"
    done = run("--db", url, "ingest", str(tmp_path / "r.csv"), option)
    assert done.code == 0 and "taken as higher" not in done.err
    with open_store(url) as store:
        found = store.arrow(
            "select higher_is_better as h from benchmark_metric"
        ).to_pylist()
    assert [row["h"] for row in found] == [expected]


def test_a_dump_that_knows_its_direction_keeps_it(tmp_path: Path) -> None:
    mapping = tmp_path / "m.toml"
    mapping.write_text(
        "[run]\n"
        'model = "model"\n'
        'benchmark = "benchmark"\n'
        "[sample]\n"
        'prompt_id = "prompt_id"\n'
        "[[scores]]\n"
        'metric = "score"\n'
        'value = "score"\n'
        "[metrics.score]\n"
        "higher_is_better = true\n"
    )
    (tmp_path / "r.csv").write_text(FULL)
    with open_store(store_at(tmp_path / "s.duckdb"), write=True) as store:
        report = ingest(
            store, [tmp_path / "r.csv"], mapping=mapping, higher_is_better=False
        )
        found = store.arrow(
            "select higher_is_better as h from benchmark_metric"
        ).to_pylist()
    assert [row["h"] for row in found] == [True]
    assert any(
        "higher score is better: this holds" in n for n in report.sources[0].notes
    )


def test_questions_without_a_target_are_known_by_their_text(tmp_path: Path) -> None:
    text = (
        "model,benchmark,question,answer,score\n"
        "a,sums,1+1?,2,1\n"
        "a,sums,say something,,0\n"
    )
    _, rows, _ = taken(tmp_path, text)
    assert values_of(rows) == [1, 0]


@pytest.mark.parametrize("average", ["50%", "0.5", "1/2"])
def test_a_row_that_sums_up_does_not_say_how_scores_are_written(
    tmp_path: Path, average: str
) -> None:
    (tmp_path / "r.csv").write_text(f"id,score\nq1,1\nq2,0\nAverage,{average}\n")
    (source,) = IMPORTER.claim(candidates(tmp_path))
    dump = IMPORTER.read(source, ImportSettings({"model": "m", "benchmark": "b"}))
    assert values_of([row for batch in dump.batches for row in batch.to_pylist()]) == [
        1,
        0,
    ]
    assert [item.place for item in dump.rejections] == ["r.csv row 4"]
    assert "only 0 and 1 in score" in " ".join(dump.notes)


RATED = "model,benchmark,prompt_id,score,{}\n"


def rated(folder: Path, column: str, *cells: str) -> list[MetricSpec]:
    """The metrics of the runs of a table in which each prompt is scored by several."""
    lines = [
        f"m,b,{prompt},{number % 2},{cell}\n"
        for prompt in "pq"
        for number, cell in enumerate(cells)
    ]
    runs, _, _ = taken(folder, RATED.format(column) + "".join(lines))
    return [metric for run in runs for metric in run.metrics]


@pytest.mark.parametrize(
    ("column", "cell", "expected"),
    [
        ("judge_model", "gpt-4o", ("", "model", "gpt-4o")),
        ("Judge", "j-1", ("", "model", "j-1")),
        ("judge", "human", ("people", "human", "")),
        ("annotator", "ann1", ("people", "human", "")),
        ("labeler", "claude-sonnet", ("", "model", "claude-sonnet")),
        ("rater_id", "7", ("people", "human", "")),
        ("grader", "gpt-4o", ("", "model", "gpt-4o")),
        ("grader", "humans", ("people", "human", "")),
        ("scorer", "exact", ("exact", "match", "")),
        ("scorer", "model_graded_qa", ("model_graded_qa", "model", "")),
        ("scorer", "", ("", "match", "")),
    ],
)
def test_who_scored_is_told_by_its_column(
    tmp_path: Path, column: str, cell: str, expected: tuple[str, ...]
) -> None:
    (metric,) = rated(tmp_path, column, cell)
    assert (metric.scorer, metric.scorer_kind, metric.judge_model) == expected


@pytest.mark.parametrize(
    ("column", "cells"),
    [("judge_model", ("gpt-4o", "claude-3")), ("scorer", ("strict", "loose"))],
)
def test_two_that_score_the_same_answers_are_two_figures(
    tmp_path: Path, column: str, cells: tuple[str, str]
) -> None:
    first, second = rated(tmp_path, column, *cells)
    assert first.name == second.name and first != second


ANSWERED = "model,benchmark,prompt_id,response,score\nm,b,p,four,{}\nm,b,q,five,{}\n"


@pytest.mark.parametrize(
    ("second", "n_refused"),
    [
        (ANSWERED.format(1, 0), 1),  # the same answers, scored otherwise
        (ANSWERED.format(1, 0).replace("five", "six"), 0),  # a second draw
        (
            ANSWERED.format(1, 0).replace("score", "acc"),
            0,
        ),  # another metric of the same answers
        (
            ANSWERED.format(1, 0)
            .replace("score", "score,scorer")
            .replace(",1\n", ",1,x\n"),
            0,
        ),
    ],
)
def test_the_same_answers_scored_otherwise_are_no_second_draw(
    store_url: str, tmp_path: Path, second: str, n_refused: int
) -> None:
    (tmp_path / "one.csv").write_text(ANSWERED.format(1, 1))
    (tmp_path / "two.csv").write_text(
        second.replace(",0\n", ",0,x\n") if ",x" in second else second
    )
    with open_store(store_url, create=True, write=True) as store:
        report = ingest(store, [tmp_path / "one.csv", tmp_path / "two.csv"])
        assert len(report.refused) == n_refused
        assert all("scorer" in str(refusal) for refusal in report.refused)


def test_a_kind_of_scorer_that_there_is_not_is_no_run(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text(RATED.format("scorer_kind") + "m,b,p,1,oracle\n")
    (source,) = IMPORTER.claim(candidates(tmp_path))
    dump = IMPORTER.read(source, ImportSettings())
    assert list(dump.batches) == []
    (rejection, *_) = dump.rejections
    assert "one of match, model, execution, human" in rejection.expected


@pytest.mark.parametrize(
    "order", [("judge.csv", "people.csv"), ("people.csv", "judge.csv")]
)
def test_models_are_compared_by_one_scorer_whatever_came_first(
    run: Caller,
    duckdb_url: str,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    order: tuple[str, str],
) -> None:
    for name, column, cell, wrong in (
        ("judge.csv", "judge_model", "gpt-4o", 3),
        ("people.csv", "annotator", "x", 2),
    ):
        lines = [
            f"{m},b,p{n},{int(m == 'a' or n % wrong > 0)},{cell}\n"
            for m in "ab"
            for n in range(12)
        ]
        (tmp_path / name).write_text(RATED.format(column) + "".join(lines))
    for name in order:
        run("ingest", str(tmp_path / name), db=duckdb_url)
    caplog.set_level("WARNING", logger="warehouse")
    (compared,) = run("compare", "a", "b", "--json", db=duckdb_url).rows
    assert compared["difference"] == pytest.approx(1 / 3)  # the judge's; people say 1/2
    assert "b: scored by gpt-4o (12 questions) and by people" in caplog.text
    assert "Taken: gpt-4o, the headline metric. people instead: --where" in caplog.text
