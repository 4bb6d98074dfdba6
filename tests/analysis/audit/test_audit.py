"""Suspected wrong keys from the store: planted ones come first, what cannot be judged
says why."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import warehouse
from tests.support.embedders import TinyEmbedder
from tests.support.sections import section_of
from tests.support.simulated_votes import simulate
from tests.support.stores import store_at
from warehouse.analysis.audit.answer import audit
from warehouse.analysis.audit.keys import (
    PromptOptions,
    first_number,
    free_form,
    free_form_keys,
)
from warehouse.analysis.audit.report import AuditReport
from warehouse.analysis.items.section import PromptsSection
from warehouse.analysis.items.single_prompts import Suspects
from warehouse.analysis.report_data.report import ReportData, read_report
from warehouse.errors import InputError, MisuseError, StatisticsError
from warehouse.ingest.pipeline import ingest
from warehouse.report.writing import write_report
from warehouse.stats.labels.votes import votes_for_options
from warehouse.stats.labels.wrong_keys import wrong_keys
from warehouse.store.curate.aliases import alias
from warehouse.store.curate.field_clusters import cluster_by
from warehouse.store.curate.prompt_links import link
from warehouse.store.open import open_store

N, MODELS, LETTERS = 300, 6, "ABCD"
ANSWERS, KEYS, WRONG = simulate(N, MODELS, 4, rate=0.04, seed=3)
Line = dict[str, Any]


def lines(
    change: Callable[[Line], Line | None] = lambda line: line, n: int = N
) -> list[Line]:
    """One line per model and prompt: letters of options, keys of which some are wrong."""
    found = []
    for item in range(n):
        for model in range(MODELS):
            said, key = LETTERS[ANSWERS[item, model]], LETTERS[KEYS[item]]
            line = change(
                {
                    "model": f"org/m{model}",
                    "benchmark": "quiz",
                    "prompt_id": f"p{item:03}",
                    "question": f"which of four is right in case {item}?",
                    "target": key,
                    "choices": [
                        f"{name} of {item}"
                        for name in ("red", "blue", "green", "black")
                    ],
                    "extracted_answer": said,
                    "category": "odd" if item % 2 else "even",
                    "acc": int(said == key),
                }
            )
            found += [] if line is None else [line]
    return found


MAPPING = """
files = ["*.jsonl"]
[run]
model = "model"
benchmark = "benchmark"
temperature = { path = "temperature", optional = true }
[sample]
prompt_id = "prompt_id"
text = "question"
target = { path = "target", optional = true }
choices = { path = "choices", optional = true }
extracted_answer = { path = "extracted_answer", optional = true }
response = { path = "response", optional = true }
draw = { path = "draw", default = 0, optional = true }
[metadata]
category = { path = "category", optional = true }
[[scores]]
metric = "acc"
value = "acc"
[metrics.acc]
kind = "binary"
low = 0
high = 1
higher_is_better = true
is_default = true
"""
LIKELIHOODS = """
[choice_scores]
loglikelihood = "loglikelihoods"
n_bytes = "n_bytes"
"""


def store_of(
    folder: Path, rows: list[Line], mapping: str = MAPPING, url: str = ""
) -> str:
    (folder / "quiz.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "mapping.toml").write_text(mapping)
    url = url or store_at(folder / "audit.duckdb")
    with open_store(url, create=True) as store:
        done = ingest(store, [folder / "quiz.jsonl"], mapping=folder / "mapping.toml")
        assert not done.refused, done
    return url


def audited(
    folder: Path, rows: list[Line], mapping: str = MAPPING, **asked: Any
) -> AuditReport:
    with open_store(store_of(folder, rows, mapping)) as store:
        return audit(store, "quiz", **asked)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    return store_of(tmp_path_factory.mktemp("audit"), lines())


@pytest.fixture(scope="module")
def report(url: str) -> AuditReport:
    with open_store(url) as store:
        return audit(store, "quiz", strata="category", effect=True)


def by_key(report: AuditReport) -> dict[str, Any]:
    return {row.key: row for row in report.rows}


def test_the_figures_are_those_of_the_statistic(report: AuditReport) -> None:
    labels = np.array(["odd" if item % 2 else "even" for item in range(N)])
    expected = wrong_keys(
        votes_for_options(ANSWERS, KEYS, 4), labels, models=range(MODELS)
    )
    rows = by_key(report)
    assert len(report.rows) == N and report.models == tuple(
        f"org/m{model}" for model in range(MODELS)
    )
    for item in range(N):
        row = rows[f"p{item:03}"]
        assert row.posterior == pytest.approx(expected.posterior[item], abs=1e-12)
        assert row.votes_key == (ANSWERS[item] == KEYS[item]).sum()
        assert row.recorded.startswith(f"{LETTERS[KEYS[item]]}. ")
        assert row.rival is None or row.rival.startswith(LETTERS[expected.rival[item]])
        assert (row.stratum, row.stratum_rate) == (
            labels[item],
            pytest.approx(expected.stratum_rate[item]),
        )
    assert {row.stratum: row.rate for row in report.strata} == {
        one.stratum: one.rate for one in expected.strata
    }


def test_planted_wrong_keys_come_first(report: AuditReport) -> None:
    order = [row.key for row in report.rows]
    planted = [f"p{item:03}" for item in np.flatnonzero(WRONG)]
    assert sum(key in planted for key in order[: len(planted)]) > 0.6 * len(planted)
    listed = report.listed
    assert listed == report.rows[: len(listed)] and all(
        row.posterior >= 0.1 for row in listed
    )
    assert listed[-1].running_fdr == pytest.approx(report.expected_fdr)
    assert len(listed) * (1 - (report.expected_fdr or 0)) == pytest.approx(
        report.expected_wrong
    )
    assert (
        f"{len(listed)} of {N} keys are suspect at 0.1 (quiz, 6 models)"
        in report.one_line
    )


def test_the_leaderboard_without_the_suspects(report: AuditReport) -> None:
    kept = np.array(
        [not row.listed for row in sorted(report.rows, key=lambda row: row.key)]
    )
    right = KEYS[:, None] == ANSWERS
    for row in report.effect:
        own = right[:, int(row.model[-1])]
        assert row.estimate == pytest.approx(
            own.mean()
        ) and row.estimate_kept == pytest.approx(own[kept].mean())
        assert (row.n_prompts, row.n_kept, row.heard) == (N, kept.sum(), True)
    leader, *others = report.effect
    assert leader.rank == 1 and leader.difference is None
    first = right[:, int(leader.model[-1])].astype(float)
    for row in others:
        apart = right[:, int(row.model[-1])] - first
        assert (
            row.difference == pytest.approx(apart.mean())
            and row.ci_low < row.difference < row.ci_high
        )
        assert row.difference_kept == pytest.approx(apart[kept].mean())
    plan = report.plan()
    assert (
        plan["n_prompts"] + plan["n_left_out"] == N
        and len(plan["prompts"]) == kept.sum()
    )
    assert [one["id"] for one in plan["left_out"]] == [row.key for row in report.listed]


def test_both_engines_and_every_form_of_an_answer_say_the_same(
    store_url: str, tmp_path: Path, report: AuditReport
) -> None:
    """Option texts, letters in words and numbers; responses where no answer was
    extracted; log-likelihoods."""
    forms = [
        lambda line: line["choices"][LETTERS.index(line["extracted_answer"])].upper(),
        lambda line: f"({line['extracted_answer'].lower()})",
        lambda line: (
            f"{line['extracted_answer']}. "
            f"{line['choices'][LETTERS.index(line['extracted_answer'])]}"
        ),
    ]

    def other(line: Line) -> Line:
        said = forms[int(line["model"][-1]) % 3](line)
        field = "response" if line["model"] == "org/m4" else "extracted_answer"
        return {
            **line,
            "extracted_answer": None,
            field: said,
            "target": line["choices"][LETTERS.index(line["target"])],
        }

    with open_store(store_of(tmp_path, lines(other), url=store_url)) as store:
        found = audit(store, "quiz", strata="category")
    told = [
        (row.key, row.posterior, row.recorded, row.rival, row.votes_unparsed)
        for row in found.rows
    ]
    assert told == [
        (row.key, row.posterior, row.recorded, row.rival, row.votes_unparsed)
        for row in report.rows
    ]


def scored(line: Line) -> Line:
    """The answer as likelihoods of the options, by which it is the likeliest for its
    length."""
    place = LETTERS.index(line["extracted_answer"])
    per_byte = [-1.0 if option == place else -2.0 for option in range(4)]
    sizes = [40, 40, 40, 5]
    shares = {
        "loglikelihoods": [p * n for p, n in zip(per_byte, sizes, strict=True)],
        "n_bytes": sizes,
    }
    return {**line, "extracted_answer": None, **shares}


def test_log_likelihoods_by_the_measure_of_the_metric(
    tmp_path: Path, report: AuditReport
) -> None:
    """The raw likelihoods favour the last option of all: the scores are those of
    likelihoods per byte."""

    found = audited(tmp_path, lines(scored), MAPPING + LIKELIHOODS, strata="category")
    assert [(row.key, row.votes_key) for row in found.rows] == [
        (row.key, row.votes_key) for row in report.rows
    ]


def test_options_with_likelihoods_of_a_prompt_without_a_key_are_no_votes(
    tmp_path: Path,
) -> None:
    def fault(line: Line) -> Line:
        return scored(line) | ({"target": None} if line["prompt_id"] == "p000" else {})

    found = by_key(audited(tmp_path, lines(fault, 40), MAPPING + LIKELIHOODS))
    assert (found["p000"].reason, found["p000"].posterior) == ("no key is stored", None)
    assert all(
        row.votes_key == (ANSWERS[n] == KEYS[n]).sum()
        for n in range(1, 40)
        if (row := found[f"p{n:03}"])
    )


def test_draws_share_a_vote_and_are_a_data_map(tmp_path: Path) -> None:
    """Two draws of each model that agree count as one; what is answered wrongly and
    alike is a suspect there."""
    rows = [{**line, "draw": draw} for line in lines(n=80) for draw in range(2)]
    found = audited(tmp_path, rows)
    once = KEYS[:, None] != ANSWERS
    for row in found.rows:
        item = int(row.key[1:])
        assert (
            row.votes_key == pytest.approx((~once[item]).sum())
            and row.datamap_models == once[item].sum()
        )


def test_free_form_answers_and_keys(tmp_path: Path) -> None:
    """Numbers are compared as numbers; an answer that the metric calls right is the
    key."""

    def free(line: Line) -> Line:
        item, said = int(line["prompt_id"][1:]), LETTERS.index(line["extracted_answer"])
        key = LETTERS.index(line["target"])
        text = (
            f"{1000 + item + said:,}.0"
            if line["model"] != "org/m2" or said != key
            else "as they say"
        )
        return {
            **line,
            "choices": None,
            "target": f"so it is\n#### {1000 + item + key}",
            "extracted_answer": text,
        }

    found = audited(tmp_path, lines(free))
    for row in found.rows:
        item = int(row.key[1:])
        assert row.votes_key == (ANSWERS[item] == KEYS[item]).sum()
    top = found.rows[0]
    assert top.recorded == str(1000 + int(top.key[1:]) + KEYS[int(top.key[1:])])
    assert top.rival is not None and "," in top.rival
    planted = {f"p{item:03}" for item in np.flatnonzero(WRONG)}
    assert sum(row.key in planted for row in found.rows[: len(planted)]) > 0.6 * len(
        planted
    )


def test_equal_questions_with_other_keys_contradict(tmp_path: Path) -> None:
    def twin(line: Line) -> Line:
        return (
            {**line, "question": "the same", "choices": list("wxyz")}
            if line["prompt_id"] in ("p000", "p001")
            else line
        )

    rows = [
        {**line, "target": "A" if line["prompt_id"] == "p000" else "B"}
        for line in lines(twin, 80)
    ]
    found = by_key(audited(tmp_path, rows))
    assert (
        found["p000"].contradicts == found["p001"].prompt
        and found["p001"].contradicts == found["p000"].prompt
    )
    assert all(row.contradicts is None for key, row in found.items() if key > "p001")


def test_what_stands_beside_a_key(tmp_path: Path) -> None:
    """Questions that are nearly alike by stored vectors, clusters of the benchmark,
    constant prompts."""

    def twin(line: Line) -> Line:
        asked = {"p000": "the very same words", "p001": "same words the very"}.get(
            line["prompt_id"]
        )
        return (
            line
            if asked is None
            else line | {"question": asked, "choices": list("wxyz")}
        )

    rows = [
        line | ({"target": "A"} if line["prompt_id"] == "p000" else {"target": "B"})
        for line in lines(twin, 60)
    ]
    url = store_of(tmp_path, rows)
    before = by_key(warehouse.connect(url).audit("quiz"))
    assert before["p000"].contradicts is None and before["p000"].cluster is None
    warehouse.connect(url).embed("quiz", embedder=TinyEmbedder())
    with open_store(url, write=True) as store:
        cluster_by(store, "quiz", ["category"], default=True)
    report = warehouse.connect(url).audit("quiz", threshold=0.02)
    found = by_key(report)
    assert found["p000"].contradicts == found["p001"].prompt
    assert any("near-duplicates" in note and "tiny" in note for note in report.notes)
    listed = {
        name: sum(row.listed for row in report.rows if row.cluster == name)
        for name in ("odd", "even")
    }
    for row in report.rows:
        assert (
            row.cluster == ("odd" if int(row.key[1:]) % 2 else "even")
            and row.cluster_size == 30
        )
        assert row.cluster_listed == listed[row.cluster]
    scores: dict[str, set[int]] = {}
    for line in rows:
        scores.setdefault(line["prompt_id"], set()).add(line["acc"])
    assert all(row.constant is (len(scores[row.key]) == 1) for row in report.rows)
    assert all(row.negative is not None for row in report.rows)


def test_yes_and_no_without_options_are_two_options(tmp_path: Path) -> None:
    """Taken for twelve, agreement on the other answer would count against all odds:
    nearly every miss is listed."""

    def as_words(line: Line) -> Line:
        words = ("yes", "no")
        target, said = (
            words[LETTERS.index(line[name]) % 2]
            for name in ("target", "extracted_answer")
        )
        return line | {
            "target": target,
            "extracted_answer": said,
            "choices": None,
            "acc": int(said == target),
        }

    found = audited(tmp_path, lines(as_words))
    assert any(
        "300 prompts have two options: where a prompt misleads" in note
        for note in found.notes
    )
    assert {row.rival for row in found.rows} == {
        "yes",
        "no",
        None,
    } and found.n_judged == 300  # None: nobody says so
    answers, keys = ANSWERS % 2, KEYS % 2
    assert {row.key: row.posterior for row in found.rows} == pytest.approx(
        {
            f"p{i:03}": p
            for i, p in enumerate(
                wrong_keys(votes_for_options(answers, keys, 2)).posterior
            )
        },
        abs=1e-9,
    )


def test_a_prompt_that_better_models_fail_is_negative(tmp_path: Path) -> None:
    """Forty models by ability: the best half fails prompt 0, whose key is wrong."""
    dice, n = np.random.default_rng(1), 30
    rows = []
    for model in range(40):
        for item in range(n):
            right = (
                model < 20
                if item == 0
                else dice.random() < 1 / (1 + np.exp(-(model - 20) / 4))
            )
            said = "A" if right else "B"
            row = {
                "model": f"m{model:02}",
                "benchmark": "quiz",
                "prompt_id": f"p{item}",
                "question": f"what is {item}?",
            }
            rows.append(
                row
                | {
                    "target": "A",
                    "choices": list("wxyz"),
                    "extracted_answer": said,
                    "acc": int(right),
                }
            )
    report = audited(tmp_path, rows)
    assert [row.key for row in report.rows if row.negative] == ["p0"] and report.rows[
        0
    ].key == "p0"
    assert len(report.models) <= 20 and report.rows[0].votes_rival == len(report.models)


@pytest.mark.rare
def test_prompts_of_two_harnesses_that_are_linked_are_one(tmp_path: Path) -> None:
    """Half of the models under another name of the benchmark and other ids: in either
    order of ingest."""
    first = [line for line in lines(n=80) if line["model"] < "org/m3"]
    second = [
        line | {"benchmark": "quiz_b", "prompt_id": f"b{line['prompt_id']}"}
        for line in lines(n=80)
    ]
    second = [line for line in second if line["model"] >= "org/m3"]
    told = []
    for place, order in enumerate(((first, second), (second, first))):
        folder = tmp_path / str(place)
        folder.mkdir()
        for part in order:
            url = store_of(folder, part)
        with open_store(url, write=True) as store:
            alias(store, "benchmark", "quiz_b", "quiz")
            link(store, "quiz_b", "quiz")
            report = audit(store, "quiz", effect=True)
        assert (
            len(report.rows) == 80
            and len(report.models) == MODELS
            and {row.n_models for row in report.rows} == {MODELS}
        )
        assert {row.n_prompts for row in report.effect} == {80}
        told.append(
            [
                (row.key, row.posterior, row.recorded, row.votes_key)
                for row in report.rows
            ]
        )
    together = audited(tmp_path, lines(n=80))
    assert (
        told[0]
        == told[1]
        == [
            (row.key, row.posterior, row.recorded, row.votes_key)
            for row in together.rows
        ]
    )


def test_single_prompts_that_cannot_be_judged_say_why(tmp_path: Path) -> None:
    def fault(line: Line) -> Line:
        faults: dict[str, Line] = {
            "p000": {"target": None},
            "p001": {"target": "purple"},
            "p002": {"choices": None},
        }
        return line | faults.get(line["prompt_id"], {})

    report = audited(tmp_path, lines(fault, 80))
    rows = by_key(report)
    assert [rows[f"p00{n}"].reason for n in range(4)] == [
        "no key is stored",
        "the key is no option",
        "no option count",
        "",
    ]
    assert (
        report.n_refused == 3
        and report.rows[-1].posterior is None
        and not report.rows[-1].listed
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda line: line | {"target": None},
            "no keys are stored for quiz: none of its 40 prompts",
        ),
        (lambda line: line | {"target": None, "choices": None}, "no keys are stored"),
        (lambda line: line | {"choices": None}, "say so with --options N"),
        (
            lambda line: line | {"target": "purple"},
            "no key of quiz can be judged: the key is no option",
        ),
        (
            lambda line: line if line["model"] < "org/m2" else None,
            "answers of 3 models; quiz has those of 2",
        ),
        (
            lambda line: line | {"extracted_answer": None},
            "those of 0; 6 have scores but no stored answers",
        ),
        (
            lambda line: (
                line
                | {"model": line["model"] if line["model"] < "org/m1" else "org/m1"}
            ),
            "one model",
        ),
    ],
    ids=[
        "no key",
        "free form without key",
        "letters",
        "no option",
        "two models",
        "no answers",
        "a model twice",
    ],
)
@pytest.mark.rare
def test_a_store_that_cannot_be_audited(
    tmp_path: Path,
    change: Callable[[Line], Line | None],
    message: str,
    request: pytest.FixtureRequest,
) -> None:
    rows = lines(change, 40)
    if request.node.callspec.id == "a model twice":
        rows = lines()
        rows += [
            row | {"model": "org/copy"} for row in rows if row["model"] == "org/m5"
        ]
        message = "org/copy and org/m5 gave the same answers throughout"
    with pytest.raises(MisuseError, match=message):
        audited(tmp_path, rows)


def test_letters_with_their_number_of_options(
    tmp_path: Path, report: AuditReport
) -> None:
    """Words that name no option are the key where the metric calls them right."""

    def bare(line: Line) -> Line:
        in_words = line["model"] == "org/m2" and line["acc"]
        return (
            line
            | {"choices": None}
            | ({"extracted_answer": "as they say"} if in_words else {})
        )

    found = audited(tmp_path, lines(bare), strata="category", n_options=4)
    assert [row.posterior for row in found.rows] == [
        row.posterior for row in report.rows
    ]


@pytest.mark.rare
def test_a_model_has_one_vote_whatever_its_conditions(tmp_path: Path) -> None:
    rows = [line | {"temperature": heat} for line in lines(n=40) for heat in (0.0, 0.7)]
    found = audited(tmp_path, rows)
    assert len(found.models) == MODELS and any(
        "6 more conditions" in note for note in found.notes
    )


def write_verdicts(
    path: Path,
    named: str = "id",
    verdict: str = "wrong",
    words: tuple[str, str] = ("1", "0"),
) -> Path:
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow([named, verdict])
        table.writerows(
            [f"p{item:03}", words[0] if WRONG[item] else words[1]] for item in range(N)
        )
    return path


def test_the_list_against_people(url: str, tmp_path: Path) -> None:
    plain = write_verdicts(tmp_path / "a.csv")
    words = write_verdicts(
        tmp_path / "b.csv",
        "Question ID",
        "error type",
        ("wrong_groundtruth", "bad clarity"),
    )
    lines_of = tmp_path / "c.jsonl"
    lines_of.write_text(
        "".join(
            json.dumps({"key": f"p{n:03}", "wrong": bool(WRONG[n])}) + "\n"
            for n in range(N)
        )
    )
    with open_store(url) as store:
        found = audit(store, "quiz", against=plain, strata="category")
        assert (
            audit(store, "quiz", against=lines_of, strata="category").agreement
            == found.agreement
        )
        same = audit(
            store,
            "quiz",
            against=words,
            wrong_is=["Wrong groundtruth"],
            strata="category",
        )
        assert same.agreement == found.agreement
        with pytest.raises(
            InputError, match="verdict 'bad clarity'.*--wrong-is VERDICT.*bad clarity"
        ):
            audit(
                store,
                "quiz",
                against=write_verdicts(
                    tmp_path / "d.csv", words=("wrong", "bad clarity")
                ),
            )
        with pytest.raises(
            MisuseError, match=r"no verdict in .* is rong; column error type has"
        ):
            audit(store, "quiz", against=words, wrong_is=["rong"])
        with pytest.raises(
            InputError,
            match=(
                "columns name, wrong; expected a column that names the prompt: prompt,"
            ),
        ):
            audit(
                store, "quiz", against=write_verdicts(tmp_path / "e.csv", named="name")
            )
        with pytest.raises(
            InputError, match="expected a column with the verdict: wrong,"
        ):
            audit(
                store,
                "quiz",
                against=write_verdicts(tmp_path / "f.csv", verdict="remark"),
            )
        (tmp_path / "g.csv").write_text("id,wrong\nx1,1\nx2,0\n")
        with pytest.raises(
            MisuseError,
            match="it names them as 'x1', the store as 'prompt:1' or 'p000'",
        ):
            audit(store, "quiz", against=tmp_path / "g.csv")
        (tmp_path / "h.csv").write_text("id,wrong\np001,1\np001,0\n")
        with pytest.raises(InputError, match="two verdicts of 'p001'"):
            audit(store, "quiz", against=tmp_path / "h.csv")
    figures = {(row.score, row.figure, row.at): row for row in found.agreement}
    own, simple = (
        figures[name, "average_precision", None].value
        for name in ("posterior", "share_wrong")
    )
    assert own is not None and simple is not None and own > 0.4
    assert figures["posterior", "observed_fdr", 0.1].n == len(found.listed)
    assert {row.key for row in found.rows if row.wrong} == {
        f"p{item:03}" for item in np.flatnonzero(WRONG)
    }


def test_mistakes_of_the_asker(url: str) -> None:
    with open_store(url) as store:
        for asked, error, message in (
            ({"threshold": 0}, StatisticsError, "threshold"),
            (
                {"n_options": 1},
                StatisticsError,
                "n_options must be at least 2, found 1",
            ),
            (
                {"strata": "subject"},
                MisuseError,
                "no field|no prompt of quiz has the field 'subject'; there are: "
                "category",
            ),
            ({"wrong_is": ["x"]}, MisuseError, "wrong_is goes with against"),
            (
                {"level": 0.9},
                MisuseError,
                "level goes with effect or verdicts: nothing else has intervals",
            ),
            ({"level": 1.5}, StatisticsError, "level"),
        ):
            with pytest.raises(error, match=message):
                audit(store, "quiz", **asked)


def test_what_an_answer_names() -> None:
    cities = PromptOptions(4, ("Paris", "Rome", "1", "2"))
    said = [
        "paris",
        "B",
        "(b)",
        " C.",
        "B. Rome",
        "1",
        "A) Paris",
        "To",
        "I think",
        "E",
        "",
        None,
    ]
    assert [cities.index_of(text) for text in said] == [
        0,
        1,
        1,
        2,
        1,
        2,
        0,
        None,
        None,
        None,
        None,
        None,
    ]
    assert (
        PromptOptions(3).index_of("2") == 2
        and PromptOptions(3, base=1).index_of("3") == 2
    )
    assert (
        first_number([PromptOptions(3)] * 2, ["1", "3"]) == 1
        and first_number([PromptOptions(3)] * 2, ["0", "2"]) == 0
    )
    assert [
        free_form(text)
        for text in (
            "$1,234.50",
            "The Cat.",
            "x-1",
            "'A'",
            "a" * 300,
            " ",
            r"\boxed{7}",
        )
    ] == [
        "2469/2",
        "the cat",
        "x-1",
        "'A'",
        None,
        None,
        "7",
    ]
    assert free_form_keys("2+2\nA: 4") == ("4",) and free_form_keys(
        '["Paris", "paris."]'
    ) == ("paris",)


def suspects_in(report: ReportData) -> Suspects | None:
    """The suspect keys of the first benchmark of a report."""
    section = section_of(report.benchmarks[0], PromptsSection)
    return section.suspects if section else None


def test_the_page_names_suspects_where_three_models_have_answers(
    url: str, tmp_path: Path
) -> None:
    with open_store(url) as store:
        found, said = audit(store, "quiz"), suspects_in(read_report(store))
        page = Path(
            write_report(read_report(store), tmp_path / "page.html").path
        ).read_text()
    assert said is not None
    assert (said.n_judged, said.n_models, said.n_listed) == (
        N,
        MODELS,
        len(found.listed),
    )
    assert said.rows == found.rows[:5]
    assert (
        f"{said.n_listed} of {N} keys are suspect by the answers of {MODELS} models"
        in page
    )
    assert "Suspected wrong keys of quiz" in page and all(
        row.key in page for row in said.rows
    )


def test_the_page_is_silent_where_answers_are_few(tmp_path: Path) -> None:
    rows = [line for line in lines(n=20) if line["model"] in ("org/m0", "org/m1")]
    with open_store(store_of(tmp_path, rows)) as store:
        assert suspects_in(read_report(store)) is None


@pytest.mark.rare
def test_the_page_names_suspects_of_a_benchmark_with_clusters(tmp_path: Path) -> None:
    url = store_of(tmp_path, lines(n=60))
    with open_store(url, write=True) as store:
        cluster_by(store, "quiz", ["category"], default=True)
        alone = audit(store, "quiz")
        said = suspects_in(read_report(store))
    assert said is not None and said.rows == alone.listed[:5] and said.rows[0].cluster
