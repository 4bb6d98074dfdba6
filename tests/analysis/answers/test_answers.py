"""Stored answers against targets, on both engines: which classes there are, what names
one, and figures against scikit-learn."""

from __future__ import annotations

import random
from typing import Any

import pytest
from sklearn import metrics as sklearn_metrics

from tests.support.builders import StoreRows
from warehouse.analysis.answers.answer import answer_metrics
from warehouse.analysis.answers.rows import AnswerMetricRow
from warehouse.analysis.answers.view import AnswerReport
from warehouse.errors import MisuseError
from warehouse.store.connection import Store
from warehouse.tables.text import in_text

N = 60
TARGETS = {f"q{i:02d}": "Yes" if i % 3 else "No" for i in range(N)}
LABELS = ["entailment", "neutral", "contradiction"]


def target(
    rows: StoreRows, benchmark: str, key: str, text: str | None, choices: Any = None
) -> None:
    """Give a prompt its target, and its options."""
    prompt = rows.prompt(benchmark, key)
    row = rows.rows["prompt"][prompt - 1]
    row["target"] = text
    row["choices"] = choices


def answer(
    rows: StoreRows,
    model: str,
    benchmark: str,
    answers: dict[str, list[str | None]],
    right: dict[str, str],
    **columns: Any,
) -> int:
    """A run with extracted answers, each scored by whether it begins like the
    target."""
    run = rows.run(model, benchmark, **columns)
    marks: dict[str, list[float | None]] = {}
    for key, own in answers.items():
        marks[key] = [
            float(bool(text) and str(text)[:2].lower() == right[key][:2].lower())
            for text in own
        ]
    rows.scores(run, marks)
    for key, own in answers.items():
        for draw, text in enumerate(own):
            rows.generation(run, key, draw, f"so {text}", extracted_answer=text)
    return run


def said(share: float, seed: int) -> dict[str, str]:
    """Right answers to so many, else the other one."""
    rng = random.Random(seed)
    other = {"Yes": "No", "No": "Yes"}
    return {
        key: own if rng.random() < share else other[own] for key, own in TARGETS.items()
    }


GOOD, POOR = said(0.9, 1), said(0.6, 2)


def build() -> StoreRows:
    rows = StoreRows()
    rows.describe("bool", rows.metric())
    for key, text in TARGETS.items():
        target(rows, "bool", key, f" {text}")
    answer(rows, "org/good", "bool", {k: [v] for k, v in GOOD.items()}, TARGETS)
    answer(rows, "org/poor", "bool", {k: [v] for k, v in POOR.items()}, TARGETS)
    odd: dict[str, list[str | None]] = {key: [f"{v}."] for key, v in GOOD.items()}
    odd["q00"], odd["q01"], odd["q02"] = [None], ["both, perhaps"], ["ANSWER: yes"]
    answer(rows, "org/odd", "bool", odd, TARGETS)
    part = [*TARGETS][:9]
    answer(rows, "org/part", "bool", {k: [GOOD[k]] for k in part}, TARGETS)
    only = {key: ["Yes"] for key in TARGETS if TARGETS[key] == "Yes"}
    answer(rows, "org/only", "bool", {k: only[k] for k in [*only][:5]}, TARGETS)
    drawn: dict[str, list[str | None]] = {
        key: [GOOD[key], POOR[key], GOOD[key]] for key in TARGETS
    }
    answer(rows, "org/draws", "bool", drawn, TARGETS)
    silent = rows.run("org/silent", "bool")
    rows.scores(silent, dict.fromkeys(TARGETS, 1.0))
    add_options(rows)
    add_numbers(rows)
    add_refused(rows)
    return rows


def add_options(rows: StoreRows) -> None:
    """Options that are the same in each prompt, in another order; letters; and what
    models find likeliest."""
    rows.describe("nli", rows.metric())
    rows.describe("letters", rows.metric())
    rows.describe("likely", rows.metric())
    right, shuffled = {}, {}
    for i in range(24):
        key = f"n{i:02d}"
        options = LABELS[i % 3 :] + LABELS[: i % 3]
        right[key] = LABELS[i * 7 % 3]
        shuffled[key] = "ABC"[options.index(right[key])]
        target(rows, "nli", key, right[key], options)
        target(rows, "letters", key, "ABC"[i * 5 % 3], [f"x{i}", f"y{i}", f"z{i}"])
        target(rows, "likely", key, "no" if i % 2 else "yes", ["yes", "no", "maybe"])
    answer(rows, "org/good", "nli", {k: [v] for k, v in shuffled.items()}, shuffled)
    letters = {f"n{i:02d}": ["ABC"[i * 5 % 3] if i % 4 else "A"] for i in range(24)}
    answer(rows, "org/good", "letters", letters, {k: v[0] for k, v in letters.items()})
    run = rows.run("org/good", "likely")
    rows.scores(run, {f"n{i:02d}": float(i % 3 > 0) for i in range(24)})
    rows.rows["run"][run - 1]["n_choices"] = 72
    for i in range(24):
        chosen = i % 2 if i % 3 else 1 - i % 2
        for option in range(3):
            rows.rows["choice"].append(
                {
                    "run_id": run,
                    "prompt_id": rows.prompt("likely", f"n{i:02d}"),
                    "variant_id": rows.variant(),
                    "draw": 0,
                    "choice_index": option,
                    "loglikelihood": -1.0 if option == chosen else -2.0,
                }
            )


def add_numbers(rows: StoreRows) -> None:
    rows.describe("sizes", rows.metric())
    numbers = {f"s{i:02d}": str(i * i % 97) for i in range(40)}
    for key, text in numbers.items():
        target(rows, "sizes", key, text)
    near: dict[str, list[str | None]] = {
        key: [f"{int(text) + i % 5 - 2}.0"]
        for i, (key, text) in enumerate(numbers.items())
    }
    near["s03"] = ["many"]
    answer(rows, "org/good", "sizes", near, numbers)


def add_refused(rows: StoreRows) -> None:
    """Free text, one class, whole responses, no targets."""
    odd = {f"o{i:02d}": ["(no answer)", "target \\ answer"][i % 2] for i in range(12)}
    rows.describe("odd", rows.metric())
    for key, text in odd.items():
        target(rows, "odd", key, text)
    answer(rows, "org/good", "odd", {key: ["(no answer)"] for key in odd}, odd)
    silent: dict[str, list[str | None]] = {key: [None] for key in odd}
    silent["o00"] = ["(no answer)"]
    answer(rows, "org/mute", "odd", silent, odd)
    for name in ("free", "single", "prose", "blank"):
        rows.describe(name, rows.metric())
    keys = [f"f{i:02d}" for i in range(12)]
    for key in keys:
        target(rows, "free", key, f"a sentence on {key}")
        target(rows, "single", key, "yes")
        target(rows, "prose", key, "yes" if key < "f06" else "no")
        target(rows, "blank", key, None)
    plain = dict.fromkeys(keys, "yes")
    for name in ("free", "single", "blank"):
        answer(rows, "org/good", name, {key: ["yes"] for key in keys}, plain)
    run = rows.run("org/good", "prose")
    rows.scores(run, dict.fromkeys(keys, 1.0))
    for key in keys:
        text = f"Let me think. Of {key} I would say yes."
        rows.generation(run, key, 0, text, extracted_answer=None)


def ask(store: Store, *words: str, **options: Any) -> AnswerReport:
    """The answer to a benchmark and models."""
    return answer_metrics(store, words[0], words[1:], **options)


def rows_of(report: AnswerReport, model: str) -> dict[tuple[str, Any], AnswerMetricRow]:
    """Rows of a model by metric and class."""
    return {
        (row.metric, row.of_class): row for row in report.rows if row.model == model
    }


def test_figures_are_those_of_scikit_learn(world: Store) -> None:
    report = ask(world, "bool")
    keys = [*TARGETS]
    y = [TARGETS[key] for key in keys]
    for model, answers in (("org/good", GOOD), ("org/poor", POOR)):
        found = rows_of(report, model)
        a = [answers[key] for key in keys]
        assert found["macro_f1", None].estimate == pytest.approx(
            sklearn_metrics.f1_score(y, a, average="macro")
        )
        assert found["kappa", None].estimate == pytest.approx(
            sklearn_metrics.cohen_kappa_score(y, a)
        )
        assert found["recall", "No"].estimate == pytest.approx(
            sklearn_metrics.recall_score(y, a, pos_label="No")
        )
    assert report.classes == ("No", "Yes")
    assert report.ranked[0].model == "org/good"
    assert report.lead is not None and report.lead.model_a == "org/good"


def test_what_names_no_class_is_no_answer_and_told(world: Store) -> None:
    report = ask(world, "bool")
    facts = {one.model: one for one in report.models}["org/odd"]
    assert (facts.n_no_answer, facts.n_no_class) == (1, 1)
    assert facts.no_class == ("both, perhaps",)
    assert facts.share_answered == pytest.approx((N - 2) / N)
    notes = " ".join(report.all_notes)
    assert "org/odd: 1 of 60 answers name no class, such as 'both, perhaps'" in notes
    answered = rows_of(ask(world, "bool", answered=True), "org/odd")
    assert answered["accuracy", None].n_prompts == N - 2


def test_a_part_comes_last_and_other_classes_have_no_row(world: Store) -> None:
    report = ask(world, "bool")
    assert report.ranked[-1].model == "org/part"
    assert "subset" in report.ranked[-1].flags
    assert any(
        "org/only" in line and "other classes" in line for line in report.left_out
    )
    assert any("1 without stored answers: org/silent" in note for note in report.notes)


def test_draws_are_parts_of_their_prompt(world: Store) -> None:
    report = ask(world, "bool", "org/draws")
    right = [
        (2 * (GOOD[key] == own) + (POOR[key] == own)) / 3
        for key, own in TARGETS.items()
    ]
    assert rows_of(report, "org/draws")["accuracy", None].estimate == pytest.approx(
        sum(right) / N
    )
    counts = {(cell.target, cell.answer): cell.n for cell in report.confusion}
    assert sum(counts.values()) == pytest.approx(N)
    assert counts["No", None] == 0


def test_two_models_are_compared_on_common_prompts(world: Store) -> None:
    report = ask(world, "bool", "good", "poor")
    row = {row.metric: row for row in report.differences}["accuracy"]
    assert (row.model_a, row.model_b, row.n_prompts) == ("org/good", "org/poor", N)
    share = sum(GOOD[k] == v for k, v in TARGETS.items()) / N
    other = sum(POOR[k] == v for k, v in TARGETS.items()) / N
    assert row.difference == pytest.approx(share - other)
    assert row.n_differing == sum(GOOD[k] != POOR[k] for k in TARGETS)
    assert row.verdict == "better"
    assert "org/good is better than org/poor by macro F1" in report.one_line
    back = ask(world, "bool", "poor", "good", metric="accuracy").differences[0]
    assert (back.difference, back.verdict) == (pytest.approx(-row.difference), "worse")
    part = ask(world, "bool", "good", "part", metric="accuracy").differences[0]
    assert (part.n_prompts, part.verdict) == (9, "")


def test_shuffled_options_are_classes_by_their_text(world: Store) -> None:
    report = ask(world, "nli", "org/good")
    assert report.classes == tuple(sorted(LABELS))
    assert rows_of(report, "org/good")["accuracy", None].estimate == 1
    assert not any("letters of options" in note for note in report.notes)
    assert "takes no class for another" in report.one_line


def test_letters_of_other_options_are_said_to_be_places(world: Store) -> None:
    report = ask(world, "letters")
    assert report.classes == ("A", "B", "C")
    assert any(
        "classes are letters of options (A, B, C)" in note for note in report.notes
    )


def test_likeliest_options_are_answers(world: Store) -> None:
    report = ask(world, "likely")
    assert report.classes == ("no", "yes")
    assert report.models[0].source == "options"
    assert any("no prompt has maybe as target" in note for note in report.notes)
    found = rows_of(report, "org/good")["accuracy", None]
    assert found.estimate == pytest.approx(16 / 24)


def test_numbers_have_errors_and_correlations(world: Store) -> None:
    report = ask(world, "sizes")
    assert report.kind == "numbers"
    found = rows_of(report, "org/good")
    errors = [abs(i % 5 - 2) for i in range(40) if i != 3]
    assert found["mae", None].estimate == pytest.approx(sum(errors) / 39)
    assert found["spearman", None].n_prompts == 39
    assert "has an MAE of" in report.one_line
    with pytest.raises(MisuseError, match="kappa is of classes"):
        ask(world, "sizes", metric="kappa")
    with pytest.raises(
        MisuseError, match="40 prompts.*free text is no classification|have no classes"
    ):
        ask(world, "sizes", of_class="4", metric="f1")


@pytest.mark.parametrize(
    ("words", "options", "message"),
    [
        (("free",), {}, "12 different targets on 12 prompts"),
        (("single",), {}, "all targets of single are 'yes'"),
        (("prose",), {}, "stored answers are whole responses .* 0 of 12 name a class"),
        (
            ("blank",),
            {},
            "no targets are stored for blank: .* scores alone do not tell",
        ),
        (("bool", "silent"), {}, "needs? stored answers|no answers are stored"),
        (("bool",), {"of_class": "Maybe"}, "no class 'Maybe'; there are: No, Yes"),
        (("bool",), {"metric": "f1"}, "f1 is of one class: name it with --class"),
        (("bool",), {"metric": "bleu"}, "bleu is no function of answers and targets"),
        (("bool",), {"metric": "kapa"}, "no metric .* 'kapa'; did you mean kappa"),
        (("bool",), {"metric": "micro_f1"}, "micro_f1 is the accuracy"),
        (("bool",), {"metric": "mae"}, "mae is of numbers"),
        (("bool",), {"kind": "numbers"}, "no target of bool is a number"),
        (("bool", "good", "good"), {}, "are the same runs"),
        (("bool", "a", "b", "c"), {}, "3 models are named"),
        (("bool", "nobody"), {}, "nobody"),
        (("nowhere",), {}, "no benchmark is called 'nowhere'"),
    ],
)
def test_what_cannot_be_told_is_refused(
    world: Store, words: tuple[str, ...], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(MisuseError, match=message):
        ask(world, *words, **options)


def test_views_say_the_answer_first(world: Store) -> None:
    board = in_text(ask(world, "bool").view())
    assert board.splitlines()[1].startswith("org/good has the highest macro F1 of 5")
    model = in_text(ask(world, "bool", "poor").view())
    assert "most often it says" in model and "target \\ answer" in model
    assert "95% interval" in model
    chosen = in_text(ask(world, "bool", of_class="No", metric="f2,recall").view())
    assert "F2 of 'No'" in chosen.splitlines()[1]
    many = in_text(ask(world, "letters", "good", metric="kappa").view())
    assert "kappa" in many.splitlines()[1]


def test_a_class_may_be_called_like_a_heading(world: Store) -> None:
    report = ask(world, "odd", "good")
    counts = {(cell.target, cell.answer): cell.n for cell in report.confusion}
    assert counts["(no answer)", "(no answer)"] == 6
    assert counts["target \\ answer", "(no answer)"] == 6
    assert counts["(no answer)", None] == 0
    mute = ask(world, "odd", "mute")
    cells = {(cell.target, cell.answer): cell.n for cell in mute.confusion}
    assert cells["(no answer)", None] == 5
    assert in_text(mute.view()).count("(no answer)") >= 3


def test_clusters_widen_the_intervals_of_both(world: Store) -> None:
    alone = rows_of(ask(world, "bool", cluster="none"), "org/good")["kappa", None]
    assert alone.n_clusters is None
