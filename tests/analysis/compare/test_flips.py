"""Flips in pages, what filters keep, intervals of what they keep, and claims to be
tested on other data."""

from __future__ import annotations

import hashlib
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

from tests.support.builders import StoreRows
from tests.support.cli import Caller
from tests.support.flips import (
    EXAM,
    MARKS,
    ODD,
    ONLY_A,
    ONLY_B,
    A,
    B,
    N,
    build_flips,
    scores,
    subject,
)
from tests.support.stores import filled_store
from warehouse.analysis.audit.health import FEWEST_MODELS, HealthPart, read_health
from warehouse.analysis.compare.answer import ComparedPairs, compared_pairs
from warehouse.analysis.compare.exploratory import explore, freeze
from warehouse.analysis.compare.flips import (
    Flips,
    PromptFilter,
    flips_of_pairs,
    prompts_of,
)
from warehouse.analysis.compare.question import Compare
from warehouse.analysis.power.answer import PowerQuestion, plan_power
from warehouse.analysis.power.question import PowerPilot
from warehouse.errors import MisuseError
from warehouse.records.canonical_json import canonical_json
from warehouse.stats import paired_difference
from warehouse.store.connection import Store
from warehouse.store.open import open_store

ROWS = build_flips()
OF_A, OF_B = scores(3)


@pytest.fixture(scope="module")
def compared(url: str) -> ComparedPairs:
    with open_store(url) as store:
        return compared_pairs(store, Compare(A, B))


def flips(world: Store, compared: ComparedPairs, **filtered: object) -> Flips:
    wanted = PromptFilter(**filtered)  # type: ignore[arg-type]
    return flips_of_pairs(
        compared.pairs, wanted, prompts_of(world, compared.pairs, wanted)
    )


def keys(world: Store, found: Flips) -> set[str]:
    return {str(row.tool_id) for row in found.rows(world, 0, 1000)}


def test_pages_hold_every_flip_once_the_largest_first_with_both_sides(
    world: Store, compared: ComparedPairs
) -> None:
    found, rows, key = flips(world, compared), [], ""
    while page := found.rows(world, found.index_after(key) if key else 0, 7):
        rows, key = [*rows, *page], page[-1].key
    assert (
        len(rows) == len(found) == len({(row.benchmark, row.prompt_id) for row in rows})
    )
    order = [(-abs(row.difference or 0), row.prompt_id) for row in rows]
    assert order == sorted(order)
    exam = [row for row in rows if row.benchmark == EXAM]
    assert {row.tool_id: (row.score_a, row.score_b) for row in exam} == {
        key: (OF_A[key], OF_B[key]) for key in OF_A if OF_A[key] != OF_B[key]
    }
    assert all(
        (row.response_a or "").startswith(f"{A} says of {row.tool_id}") for row in exam
    )
    assert all(
        (row.response_b or "").startswith(f"{B} says of {row.tool_id}") for row in exam
    )
    assert max(len(row.response_a or "") for row in exam) < 30_000  # of 5 MB
    gone = f"{rows[3].key.partition(':')[0]}:{rows[3].prompt_id}:99"  # its prompt is no longer there
    assert found.index_after(gone) == 4
    with pytest.raises(MisuseError, match="no place in a list"):
        found.index_after("1:x")


def test_a_page_of_many_benchmarks_reads_as_often_as_one(
    world: Store, compared: ComparedPairs, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, asked, read = flips(world, compared), [], Store.rows
    monkeypatch.setattr(
        Store,
        "rows",
        lambda store, sql, *rest: asked.append(sql) or read(store, sql, *rest),
    )
    assert len({row.benchmark for row in found.rows(world, 0, 1000)}) > 1
    assert len(asked) == len(set(asked))


def test_what_only_one_has_is_counted_and_shown_without_a_score(
    world: Store, compared: ComparedPairs
) -> None:
    counts = flips(world, compared, text="question e").counts
    assert (counts.n_both, counts.higher_a, counts.higher_b) == (
        N,
        sum(OF_A[key] > OF_B[key] for key in OF_A),
        sum(OF_A[key] < OF_B[key] for key in OF_A),
    )
    (pair,) = (pair for pair in compared.pairs if pair.benchmark == EXAM)
    counts = flips_of_pairs([pair], PromptFilter(), None).counts
    assert (counts.only_a, counts.only_b, counts.unscored) == (ONLY_A, ONLY_B + 1, 1)
    assert counts.overlap == N / (N + ONLY_A + ONLY_B + 1)
    assert f"{N} of {N + ONLY_A + ONLY_B + 1} prompts" in counts.caution
    alone = flips(world, compared, show="only_a").rows(world, 0, 99)
    assert [
        (row.tool_id, row.score_a, row.score_b, row.difference) for row in alone
    ] == [(f"x{n}", 1.0, None, None) for n in range(ONLY_A)]
    (nobody,) = flips(world, compared, show="unscored").rows(world, 0, 99)
    assert (nobody.tool_id, nobody.score_a, nobody.unscored_a, nobody.score_b) == (
        "nobody",
        None,
        1,
        1.0,
    )


def test_filters_by_what_prompts_are_and_by_how_the_two_did(
    world: Store, compared: ComparedPairs
) -> None:
    differ = {key for key in OF_A if OF_A[key] != OF_B[key]}
    of_field = keys(world, flips(world, compared, field="subject=Ärger"))
    assert of_field == {key for key in differ if subject(key) == "Ärger"}
    assert keys(world, flips(world, compared, text="QUESTION E1")) == {
        key for key in differ if key[:2] == "e1"
    }
    assert keys(world, flips(world, compared, in_cluster="c2", show="all")) == {
        "e6",
        "e7",
        "e8",
    }
    assert keys(world, flips(world, compared, field="first=true", show="all")) == {"e0"}
    assert not flips(
        world, compared, in_cluster="wins", show="all"
    )  # made of scores: it chooses by the outcome
    right = flips(world, compared, show="a_right")
    assert {key for key in keys(world, right) if key[0] == "e"} == {
        key for key in OF_A if OF_A[key] > OF_B[key]
    }
    assert [note.partition(":")[0] for note in right.notes] == [
        ODD
    ]  # nobody has said which end is right
    large = flips(world, compared, least=3.0).rows(world, 0, 99)
    assert large and all(abs(row.difference or 0) >= 3 for row in large)
    with pytest.raises(MisuseError, match="FIELD=VALUE"):
        PromptFilter(field="subject")


def test_an_interval_of_a_filter_is_that_of_compare_on_its_prompts_without_a_test(
    world: Store, compared: ComparedPairs
) -> None:
    wanted = PromptFilter(field="subject=algebra")
    prompts = prompts_of(world, compared.pairs, wanted)
    assert prompts is not None
    (row,) = explore(compared, prompts).rows
    own = [key for key in OF_A if subject(key) == "algebra"]
    by_hand = paired_difference(
        [OF_A[key] for key in own],
        [OF_B[key] for key in own],
        clusters=[int(key[1:]) // 3 for key in own],
        bounds=(0.0, 1.0),
    )
    assert (row["n_prompts"], row["n_clusters"]) == (len(own), by_hand.n_clusters)
    assert (row["difference"], row["ci_low"], row["ci_high"]) == pytest.approx(
        (by_hand.difference, by_hand.ci_low, by_hand.ci_high), abs=1e-12
    )
    assert not [name for name in row if name.startswith("p_") or name == "better"]
    everything = np.unique(np.concatenate([pair.prompts for pair in compared.pairs]))
    for found, whole in zip(
        explore(compared, everything).rows, compared.comparison.rows, strict=True
    ):
        assert (found["difference"], found["ci_low"]) == (
            whole.difference,
            whole.ci_low,
        )


def test_a_frozen_claim_says_what_was_seen_and_how_it_is_tested(world: Store) -> None:
    one = compared_pairs(world, Compare(A, B, benchmark=MARKS))
    claim = freeze(
        one, PromptFilter(), None, [{"path": "p", "sha256": "s"}], datetime(2026, 1, 2)
    )
    row = one.comparison.rows[0]
    assert claim["seen"]["difference"] == row.difference
    assert claim["direction"][0] == ("a" if row.difference > 0 else "b")
    assert ("better" in claim["claim"]) == (row.difference < 0)  # lower is better
    seen, half = (
        claim["prompts_needed"][name]
        for name in ("if_the_difference_is_as_seen", "if_it_is_half_of_that")
    )
    pilot = PowerPilot((A, B), benchmark=MARKS).ask(world)
    plan = plan_power(PowerQuestion(delta=abs(row.difference), k=(3,)), pilot)
    assert seen == plan.rows[0].n and 4 * seen - 4 <= half <= 4 * seen
    assert (claim["prompts_needed"]["draws_a"], claim["prompts_needed"]["draws_b"]) == (
        3,
        3,
    )
    runs = Compare(
        *(f"run:{one[0]}" for one in (row.runs_a, row.runs_b))
    )  # another store numbers them otherwise
    asked = freeze(
        compared_pairs(world, runs), PromptFilter(), None, [], datetime(2026, 1, 2)
    )["test"]["command"]
    assert (
        asked
        == Compare(A, B, benchmark=MARKS, metric="marks").command()
        == claim["test"]["command"]
    )
    digest = claim.pop("digest")
    assert digest == hashlib.sha256(canonical_json(claim)).hexdigest()
    assert (
        claim["test"]["command"].startswith("warehouse compare")
        and "no evidence" in claim["found_by_looking"]
    )
    with pytest.raises(MisuseError, match="one benchmark"):
        freeze(
            compared_pairs(world, Compare(A, B)),
            PromptFilter(),
            None,
            [],
            datetime(2026, 1, 2),
        )


def test_health_names_what_is_wrong_with_a_command_for_each(world: Store) -> None:
    parts = {part.name: part for part in read_health(world)}
    assert parts["truncated"].rows[0]["n_truncated"] == 1
    assert [row["command"] for row in parts["directions"].rows] == [
        "warehouse fix metric odd --metric odd --higher-is-better"
    ]
    assert parts["unscored"].n == 1 and parts["refused"].n == 0
    assert all(
        row["command"].startswith("warehouse ")
        for part in parts.values()
        for row in part.rows
    )
    with pytest.raises(MisuseError, match="there are: refused"):
        read_health(world, part="nothing")


def test_the_command_for_a_refused_source_has_what_the_reading_lacked(
    request: pytest.FixtureRequest,
) -> None:
    rows = StoreRows()
    rows.add("source", (1,), sha256="1" * 64, settings_key="", path="a b.json", format="lm_eval", importer_version="1",
             state="refused", notes=["a b.json: no model; give the name with --default model=ORG/NAME"])  # fmt: skip
    with filled_store(request, "duckdb", rows) as store:
        (part,) = read_health(store, part="refused")
    assert (
        part.rows[0]["notes"] == "no model; give the name with --default model=ORG/NAME"
    )
    assert (
        part.rows[0]["command"]
        == "warehouse ingest 'a b.json' --default model=ORG/NAME"
    )


def test_what_was_mended_and_read_again_is_no_complaint(
    run: Caller, tmp_path: Path
) -> None:
    url, file = f"duckdb:///{tmp_path}/s.duckdb", tmp_path / "a.csv"
    run("store", "init", db=url)  # which a first load that is refused does not leave
    rows = [f"r{n % 2},{n % 2},b,{n // 2},{n % 3 % 2}" for n in range(20)]

    def read(*lines: str) -> dict[str, HealthPart]:
        file.write_text("\n".join(["run_id,model,benchmark,id,score", *lines]))
        run("ingest", str(file), "--higher-is-better", "--max-rejected", "1", db=url)
        with open_store(url) as store:
            return {part.name: part for part in read_health(store)}

    assert read(*rows, "0", "1")["refused"].rows[0]["state"] == "refused"
    parts = read(*rows[1:], f"{rows[0]},more")
    assert [row["state"] for row in parts["refused"].rows] == ["loaded"] and parts[
        "superseded"
    ].n == 0
    parts = read(*rows)
    assert parts["refused"].n == parts["left_out"].n == 0
    assert [row["command"] for row in parts["superseded"].rows] == [
        "warehouse show run:3"
    ]


def test_keys_are_judged_only_where_answers_are_stored(
    request: pytest.FixtureRequest,
) -> None:
    rows = StoreRows()
    nothing = dict.fromkeys(
        (
            "extracted_answer",
            "error",
            "explanation",
            "latency",
            "input_tokens",
            "output_tokens",
        )
    )
    for benchmark in ("scores alone", "answered"):
        for model in range(FEWEST_MODELS):
            run = rows.run(f"lab/{model}", benchmark)
            rows.scores(run, {f"{benchmark}{key}": 1.0 for key in range(2)})
            if benchmark == "answered":
                rows.generation(
                    run,
                    f"{benchmark}0",
                    0,
                    "four",
                    **nothing | {"extracted_answer": "4"},
                )
    for prompt in rows.rows["prompt"]:
        prompt |= {"target": "4"}
    with filled_store(request, "duckdb", rows) as store:
        (part,) = read_health(store, part="keys")
    assert [row["benchmark"] for row in part.rows] == ["answered"]


def test_health_names_votes_that_two_sources_hold(
    request: pytest.FixtureRequest,
) -> None:
    rows = StoreRows()
    for source in (1, 2):
        rows.add("source", (source,), sha256=f"{source}" * 64, settings_key="", path=f"{source}.csv", format="tabular",
                 importer_version="1", state="loaded")  # fmt: skip
        rows.votes(source, "arena", (A, B), ["a", "b"])
    with filled_store(request, "duckdb", rows) as store:
        (part,) = read_health(store, part="shared_votes")
    assert [(row["n"], row["other"], row["command"]) for row in part.rows] == [
        (2, "1.csv", "warehouse fix forget 2")
    ]


def test_benchmarks_whose_prompts_are_joined_need_no_link(
    request: pytest.FixtureRequest,
) -> None:
    rows = StoreRows()
    for benchmark in ("old", "new", "third"):
        ids = [
            rows.prompt(benchmark, f"{benchmark}{place}", text=f"Question {place}")
            for place in range(3)
        ]
        rows.scores(
            rows.run(A, benchmark), {f"{benchmark}{place}": 1.0 for place in range(3)}
        )
        if benchmark == "old":
            first = ids
        for own, other in zip(ids, first, strict=True):
            if benchmark == "new":
                rows.add(
                    "prompt_link",
                    (own,),
                    prompt_id=own,
                    canonical_prompt_id=other,
                    method="same text",
                )
    with filled_store(request, "duckdb", rows) as store:
        (part,) = read_health(store, part="shared")
    assert [row["command"] for row in part.rows] == ["warehouse fix link third old"]
