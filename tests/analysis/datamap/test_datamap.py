"""The data map on both engines: P(correct), S(consistency), suspects, four ways to
group."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import entropy
from statsmodels.stats.proportion import proportion_confint

import warehouse
from tests.support.builders import Rate, StoreRows
from tests.support.embedders import TinyEmbedder, WordsEntail
from tests.support.stores import opener_of
from warehouse.analysis.datamap import answer_grouping
from warehouse.analysis.datamap.answer import datamap
from warehouse.analysis.datamap.question import MapPrompts
from warehouse.analysis.datamap.view import DataMap, DataMapRow
from warehouse.errors import MisuseError, StatisticsError, StoreError
from warehouse.store.connection import Store
from warehouse.store.open import StoreOpener
from warehouse.testing.same_rows import difference_from_sql

#: Prompt -> answers of five generations, and which of them are correct.
ANSWERS: dict[str, tuple[list[str | None], list[float | None]]] = {
    "sure": (["7", "7", " 7", "7 ", "7"], [1, 1, 1, 1, 1]),
    "label": (["3", "3", "3", "4", "3"], [0, 0, 0, 0, 0]),
    "torn": (["1", "2", "3", "1", "4"], [0, 1, 0, 0, 0]),
    "hard": (["1", "2", "3", "4", "5"], [0, 0, 0, 0, 0]),
    "mute": ([None, "", None, "  ", None], [0, 0, 0, 0, 0]),
    "gaps": (["5", "5", "6", None, "5"], [1, 1, 0, None, None]),
}
#: Responses of a run without extracted answers.
WORDS = {
    "sure": ["red  Apple", "Red apple", "red apple", "apple red pie"],
    "torn": ["red", "blue sky", "sky blue", "green"],
}


def add_odd_draws(rows: StoreRows) -> None:
    """Draws of which the mean alone does not say how many were right."""
    run = rows.run("org/odd", "quiz")
    rows.scores(
        run, {"sure": [1.0, 1.0, 0.0, 0.0], "torn": [1.0, 0.0, 0.0], "hard": [1.0, 0.0]}
    )
    for row in rows.rows["score"][-9:]:
        if row["prompt_id"] == rows.prompt(
            "quiz", "torn"
        ):  # the right one weighs as much as four others
            row["weight"] = 2.0 if row["value"] else 0.5
        elif row["draw"] == 3:  # no draw: a value of all of them together
            row["draw"] = -1
    weighted = next(
        row
        for row in rows.rows["prompt_score"][-3:]
        if row["prompt_id"] == rows.prompt("quiz", "torn")
    )
    weighted["value"] = 2 / 3


def build() -> StoreRows:
    rows = StoreRows()
    acc, points, loss = rows.metric(), rows.metric("points"), rows.metric("loss")
    rows.describe("quiz", acc)
    for temperature in (0.2, 0.8):
        run = rows.run("org/a", "quiz", temperature=temperature)
        rows.scores(run, {key: marks for key, (_, marks) in ANSWERS.items()})
        for key, (answers, _) in ANSWERS.items():
            for draw, answer in enumerate(answers):
                rows.generation(
                    run, key, draw, f"so it is {answer}", extracted_answer=answer
                )
    for repeat in range(2):  # one generation each, pooled
        run = rows.run("org/twice", "quiz", repeat=repeat)
        rows.scores(run, {"sure": 1.0, "torn": float(repeat)})
        for key in ("sure", "torn"):
            rows.generation(
                run, key, 0, "r", extracted_answer=f"{key}{repeat * (key == 'torn')}"
            )
    run = rows.run("org/words", "quiz")
    rows.scores(run, {key: [1.0, 0.0, 0.0, 0.0] for key in WORDS})
    for key, texts in WORDS.items():
        for draw, text in enumerate(texts):
            rows.generation(run, key, draw, text, extracted_answer=None)
    rows.scores(
        rows.run("org/rates", "quiz"), {"sure": Rate(0.3, 10), "torn": Rate(0.0, 10)}
    )
    rows.scores(rows.run("org/once", "quiz"), {"sure": 1.0, "torn": 0.0})
    rows.scores(rows.run("org/silent", "quiz"), {"sure": [None, None]})
    add_odd_draws(rows)
    rows.describe("essay", points, kind="bounded", low=0.0, high=10.0)
    rows.scores(
        rows.run("org/a", "essay"),
        {"x": [10.0, 9.0, 10.0], "y": [1.0, 2.0, 8.0]},
        points,
    )
    rows.describe("lines", loss, kind="continuous", low=None, high=None, higher=False)
    rows.scores(rows.run("org/a", "lines"), {"x": [0.1, 0.9], "y": [0.5, 0.2]}, loss)
    return rows


@pytest.fixture
def opener(url: str) -> StoreOpener:
    return opener_of(url)


def rows_of(found: DataMap, **wanted: Any) -> dict[str, DataMapRow]:
    return {
        str(row.tool_id): row
        for row in found.rows
        if all(getattr(row, name) == value for name, value in wanted.items())
    }


def test_every_prompt_has_its_p_and_s(opener: StoreOpener) -> None:
    rows = rows_of(datamap(opener, "org/a", benchmark="quiz"), temperature=0.2)
    assert set(rows) == set(ANSWERS)
    for key, (answers, marks) in ANSWERS.items():
        scored = [mark for mark in marks if mark is not None]
        sets = Counter((answer or "").strip() for answer in answers)
        row = rows[key]
        assert row.p_correct == pytest.approx(np.mean(scored))
        low, high = proportion_confint(sum(scored), len(scored), method="wilson")
        assert (row.ci_low, row.ci_high) == pytest.approx(
            (max(low, 0), min(high, 1)), abs=1e-10
        )
        assert row.consistency == pytest.approx(
            -entropy(list(sets.values())), abs=1e-10
        )
        assert (row.n_sets, row.n_generations, row.n_draws) == (
            len(sets),
            5,
            len(scored),
        )
        assert row.majority_share == pytest.approx(max(sets.values()) / 5)
        assert (row.text, row.target) == (f"question {key}", f"answer {key}")
    majority = {key: row.majority_answer for key, row in rows.items()}
    assert majority == {
        "sure": "7",
        "label": "3",
        "torn": "1",
        "hard": "1",
        "mute": None,
        "gaps": "5",
    }


#: P(correct) of the conditions of a model, as the view has it.
IN_SQL = """
select
  prompt_id, temperature, p_correct, wilson_low as ci_low, wilson_high as ci_high, n_draws
from prompt_p_correct
where model = :reference and benchmark = :benchmark
"""


def test_p_is_that_of_the_view(opener: StoreOpener) -> None:
    question = MapPrompts("org/a", benchmark="quiz")
    found = question.ask(opener)
    assert len(found.rows) == 12
    with opener.reading() as store:
        assert difference_from_sql(store, question, found, IN_SQL) == ""


def test_wrong_and_always_alike_is_suspected(opener: StoreOpener) -> None:
    found = datamap(opener, "org/a", benchmark="quiz", where=["temperature=0.2"])
    assert [row.tool_id for row in found.suspects] == [
        "label"
    ]  # hard: apart; mute: no answer
    wider = datamap(
        opener,
        "org/a",
        benchmark="quiz",
        where=["temperature=0.2"],
        max_p=0.2,
        min_s=-1.7,
    )
    assert [row.tool_id for row in wider.suspects] == ["label", "hard"]
    (torn,) = [row for row in wider.rows if row.tool_id == "torn"]
    assert (
        torn.p_correct == 0.2 and torn.ci_high is not None and torn.ci_high > 0.5
    )  # draws are too few to say so
    assert any(
        "1 prompt is answered wrongly and alike in too few draws" in note
        for note in wider.notes
    )
    assert any("is not suspected" in note for note in wider.notes)
    assert any("S is never below -1.61" in note for note in wider.notes)


def test_the_distribution_is_given_by_temperature(opener: StoreOpener) -> None:
    found = datamap(opener, "org/a", benchmark="quiz")
    assert [row.temperature for row in found.distribution] == [0.2, 0.8]
    row = found.distribution[0]
    p = [np.mean([m for m in marks if m is not None]) for _, marks in ANSWERS.values()]
    assert (row.mean, row.sd) == pytest.approx((np.mean(p), np.std(p, ddof=1)))
    assert (row.p10, row.p50, row.p90) == pytest.approx(
        tuple(np.quantile(p, [0.1, 0.5, 0.9]))
    )
    assert (row.share_never, row.share_always) == pytest.approx((3 / 6, 1 / 6))
    assert row.histogram == (3, 0, 1, 0, 0, 0, 1, 0, 0, 1)
    assert (row.least_draws, row.most_draws, row.n_draws, row.n_prompts) == (
        3,
        5,
        28,
        6,
    )
    assert row.n_suspected == 1 and row.metric == "acc"
    rows = rows_of(found, temperature=0.2).values()
    assert row.mean_consistency == pytest.approx(np.mean([r.consistency for r in rows]))
    assert row.mean_sets == pytest.approx(np.mean([r.n_sets for r in rows]))


def test_the_size_of_a_read_changes_nothing(
    opener: StoreOpener, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = datamap(opener, "org/a", benchmark="quiz")
    monkeypatch.setattr(answer_grouping, "CHUNK", 2)
    assert datamap(opener, "org/a", benchmark="quiz") == whole


def test_weights_and_values_of_all_draws_count_no_draw_twice(
    opener: StoreOpener,
) -> None:
    rows = rows_of(datamap(opener, "org/odd", benchmark="quiz"))
    found = {key: (row.p_correct, row.n_draws) for key, row in rows.items()}
    assert found == {"sure": (2 / 3, 3), "torn": (1 / 3, 3), "hard": (1 / 2, 2)}


@pytest.mark.parametrize(
    ("correct_at", "p"), [(0.5, [1.0, 0.2]), (0.0, [1.0, 1.0]), (1.5, [0.0, 0.0])]
)
def test_what_is_correct_can_be_named(
    opener: StoreOpener, correct_at: float, p: list[float]
) -> None:
    rows = rows_of(
        datamap(opener, "org/a", benchmark="quiz", correct_at=correct_at),
        temperature=0.2,
    )
    assert [rows[key].p_correct for key in ("sure", "torn")] == pytest.approx(p)


def test_repeats_are_pooled(opener: StoreOpener) -> None:
    rows = rows_of(datamap(opener, "org/twice"))
    assert (rows["torn"].p_correct, rows["torn"].n_sets) == (0.5, 2)
    assert rows["torn"].consistency == pytest.approx(-math.log(2))
    assert (rows["sure"].p_correct, rows["sure"].consistency) == (1, 0)


# --- grouping ------------------------------------------------------------------------------------


def test_without_answers_texts_are_grouped(opener: StoreOpener) -> None:
    found = datamap(opener, "org/words")
    rows = rows_of(found)
    assert found.grouped_by == "normalised text"
    assert any("no answers were extracted" in note for note in found.notes)
    assert (rows["sure"].n_sets, rows["torn"].n_sets) == (2, 4)
    assert rows["sure"].majority_answer == "red  Apple"
    assert datamap(opener, "org/words", group="text").notes == ()
    responses = datamap(opener, "org/a", benchmark="quiz", group="text").rows
    assert all(row.n_generations == 5 for row in responses)
    with pytest.raises(MisuseError, match="no extracted answers; use --group text"):
        datamap(opener, "org/words", group="answer")


@pytest.mark.parametrize("threshold", [0.3, 0.9, 0.999])
def test_an_embedding_joins_what_is_near(opener: StoreOpener, threshold: float) -> None:
    found = datamap(
        opener,
        "org/words",
        group="embedding",
        embedder=TinyEmbedder(),
        threshold=threshold,
    )
    assert found.grouped_by == "embedding of responses"
    for key, texts in WORDS.items():
        vectors = TinyEmbedder().encode(texts).astype(np.float64)
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        near = unit @ unit.T >= threshold - 1e-9
        reached = np.linalg.matrix_power(near.astype(int), len(texts)) > 0
        groups = [tuple(np.flatnonzero(row)) for row in reached]
        row = rows_of(found)[key]
        assert row.n_sets == len(set(groups))
        assert row.consistency == pytest.approx(
            -entropy([groups.count(g) for g in set(groups)])
        )


def test_entailment_joins_what_follows_both_ways(opener: StoreOpener) -> None:
    model = WordsEntail()
    found = datamap(opener, "org/words", group="entailment", entailment=model)
    rows = rows_of(found)
    assert found.grouped_by == "entailment of responses"
    assert rows["torn"].n_sets == 3  # "blue sky" and "sky blue"
    assert rows["torn"].consistency == pytest.approx(-entropy([1, 2, 1]))
    assert rows["sure"].n_sets == 4  # case and the further word tell them apart
    assert 0 < model.asked <= 4 * 3 * 2
    answers = datamap(
        opener, "org/a", benchmark="quiz", group="entailment", entailment=model
    )
    assert answers.grouped_by == "entailment of answers"
    assert rows_of(answers, temperature=0.2)["mute"].majority_answer is None


def test_what_a_model_said_is_asked_once(opener: StoreOpener) -> None:
    model = WordsEntail(revision="7")
    first = datamap(opener, "org/words", group="entailment", entailment=model)
    asked = model.asked
    assert datamap(opener, "org/words", group="entailment", entailment=model) == first
    assert model.asked == asked > 0
    assert any("texts are longer than the model reads" in note for note in first.notes)
    again = datamap(
        opener, "org/words", group="entailment", entailment=model, fresh=True
    )
    assert again == first and model.asked == 2 * asked
    datamap(
        opener, "org/words", group="entailment", entailment=WordsEntail(revision="8")
    )
    for threshold in (0.5, 0.50001):
        embedder = TinyEmbedder(revision="9")
        for _ in range(2):
            datamap(
                opener,
                "org/words",
                group="embedding",
                embedder=embedder,
                threshold=threshold,
            )
        assert len(embedder.seen) == 8


def test_a_store_that_cannot_be_written_is_answered_from(opener: StoreOpener) -> None:
    def held() -> Store:
        raise StoreError("held by process 1")

    model = WordsEntail(revision="10")
    found = [
        datamap(
            StoreOpener(opener.reading, held),
            "org/words",
            group="entailment",
            entailment=model,
        )
        for _ in "ab"
    ]
    assert found[0] == found[1] and len(found[0].rows) == 2


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"group": "embedding"}, "--embedder MODEL"),
        ({"group": "entailment"}, "--entailment FOLDER"),
        ({"embedder": "x"}, "--group embedding"),
        ({"group": "text", "entailment": "x"}, "--group entailment"),
        (
            {"group": "embedding", "embedder": TinyEmbedder(), "threshold": 2},
            "threshold must be in (-1, 1]",
        ),
    ],
)
def test_contradictory_options_are_refused(
    opener: StoreOpener, options: dict[str, Any], part: str
) -> None:
    with pytest.raises(MisuseError) as caught:
        datamap(opener, "org/words", **options)
    assert part in str(caught.value)


# --- what is correct, and what is missing ----------------------------------------------------


def test_a_partial_credit_is_not_correct(opener: StoreOpener) -> None:
    rows = rows_of(datamap(opener, "org/a", benchmark="essay"))
    assert (rows["x"].p_correct, rows["y"].p_correct) == (pytest.approx(2 / 3), 0)
    rows = rows_of(datamap(opener, "org/a", benchmark="essay", correct_at=8))
    assert (rows["x"].p_correct, rows["y"].p_correct) == (1, pytest.approx(1 / 3))


def test_without_a_best_value_one_has_to_be_named(opener: StoreOpener) -> None:
    with pytest.raises(MisuseError, match="--correct-at VALUE"):
        datamap(opener, "org/a", benchmark="lines")
    rows = rows_of(
        datamap(opener, "org/a", benchmark="lines", correct_at=0.5)
    )  # lower is better
    assert (rows["x"].p_correct, rows["y"].p_correct) == (0.5, 1)


def test_rates_without_generations_have_a_p_and_no_s(opener: StoreOpener) -> None:
    found = datamap(opener, "org/rates")
    rows = rows_of(found)
    assert (rows["sure"].p_correct, rows["sure"].n_draws) == (pytest.approx(0.3), 10)
    assert rows["sure"].consistency is rows["sure"].majority_answer is None
    assert found.suspects == () and found.distribution[0].mean_consistency is None
    assert (
        "no text of generations is stored" in found.notes[0] and found.grouped_by == ""
    )


@pytest.mark.parametrize(
    ("reference", "part"),
    [
        ("org/once", "each prompt has one generation; a data map needs several"),
        ("org/silent", "has no data map"),
        ("org/nobody", "no model with runs is called"),
    ],
)
def test_what_has_no_data_map_is_said(
    opener: StoreOpener, reference: str, part: str
) -> None:
    with pytest.raises(MisuseError) as caught:
        datamap(opener, reference)
    assert part in str(caught.value)


def test_intervals_can_be_chosen(opener: StoreOpener) -> None:
    found = datamap(opener, "org/rates", interval="jeffreys", level=0.8)
    expected = proportion_confint(3, 10, alpha=0.2, method="jeffreys")
    assert (
        rows_of(found)["sure"].ci_low,
        rows_of(found)["sure"].ci_high,
    ) == pytest.approx(expected)
    with pytest.raises(StatisticsError, match="level"):
        datamap(opener, "org/rates", level=2)
    with pytest.raises(MisuseError, match="interval"):
        datamap(opener, "org/rates", interval="wald")


def test_results_come_as_frames_and_dictionaries(opener: StoreOpener) -> None:
    found = datamap(opener, "org/a", benchmark="quiz")
    assert found.one_line == "6 prompts under 2 conditions, 2 suspected label errors"
    assert len(found.to_frame()) == 12
    assert found.to_dict()["distribution"][0]["histogram"] == [
        3,
        0,
        1,
        0,
        0,
        0,
        1,
        0,
        0,
        1,
    ]


# --- real data -----------------------------------------------------------------------------------

MAPPINGS = Path(__file__).resolve().parents[3] / "docs" / "mappings"


def test_cruxeval_gives_back_what_was_published(
    data_dir: Path, duckdb_url: str
) -> None:
    """The mean of P(correct) is the published pass@1; more heat, less consistency."""
    import json

    files = [
        data_dir / "cruxeval_generations" / f"gpt-4-0613_temp{heat}_output.json"
        for heat in ("0.2", "0.8")
    ]
    store = warehouse.connect(duckdb_url)
    store.ingest(*files, mapping=MAPPINGS / "cruxeval.toml")
    found = store.datamap("gpt-4-0613", group="text")
    for file, row in zip(files, found.distribution, strict=True):
        published = json.loads(file.read_text())
        assert row.mean == pytest.approx(published["pass_at_1"] / 100, abs=1e-9)
        assert (row.n_prompts, row.least_draws, row.most_draws) == (800, 10, 10)
        of_file = {r.tool_id: r for r in found.rows if r.temperature == row.temperature}
        for key, texts in list(published["raw_generations"].items())[:200]:
            sets = Counter(" ".join(text.lower().split()) for text in texts)
            expected = -entropy(list(sets.values()))
            assert of_file[key].consistency == pytest.approx(expected, abs=1e-10), key
    cool, warm = found.distribution
    assert cool.mean_consistency is not None and warm.mean_consistency is not None
    assert cool.mean_consistency > warm.mean_consistency


def test_reasoning_gym_is_grouped_by_its_answers(
    data_dir: Path, duckdb_url: str
) -> None:
    import json

    (file,) = (data_dir / "reasoning_gym").glob(
        "zero-shot/easy/openai_o3-mini_*/logic/syllogism.json"
    )
    store = warehouse.connect(duckdb_url)
    store.ingest(file, mapping=MAPPINGS / "reasoning_gym.toml")
    found = store.datamap("openai/o3-mini")
    results = json.loads(file.read_text())["results"]
    rows = {row.text: row for row in found.rows}
    assert found.grouped_by == "extracted answer" and len(rows) == len(results)
    for result in results:
        row, given = rows[result["question"]], result["completions"]
        assert row.p_correct == pytest.approx(
            np.mean([one["score"] >= 1 for one in given])
        )
        sets = Counter((one["model_answer"] or "").strip() for one in given)
        assert row.consistency == pytest.approx(
            -entropy(list(sets.values())), abs=1e-10
        )
