"""Votes between two models: mappings with [votes], tables by their usual names, and the
figures of real dumps."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Caller
from tests.support.stores import store_at
from warehouse.analysis.leaderboard.answer import leaderboard
from warehouse.analysis.prefer.votes import read_votes
from warehouse.errors import MappingError, MisuseError
from warehouse.ingest.pipeline import ingest
from warehouse.stats.preferences.ballots import BOTH_BAD, FIRST, SECOND, TIE
from warehouse.store.connection import Store
from warehouse.store.load.state import LoadOptions
from warehouse.store.open import open_store

ARENA = Path(__file__).parents[1] / "data" / "votes" / "arena.jsonl"
SHARED = Path(__file__).parents[2].parent / "shared" / "data"
Take = Callable[..., Any]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(store_at(tmp_path / "votes.duckdb"), write=True) as opened:
        yield opened


def table(folder: Path, text: str, name: str = "votes.csv") -> Path:
    path = folder / "dump" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_arena_lines_are_votes_by_the_names_of_their_fields(store: Store) -> None:
    (report,) = ingest(store, [ARENA], defaults={"benchmark": "arena"}).sources
    assert (report.n_votes, report.n_runs) == (5, 0)
    assert "model_a is taken for the one that was shown first" in report.notes[0]
    votes = read_votes(store, "arena", "people", covariates=["length"])
    assert votes.models == ("org/ada", "org/bob", "org/cy") and {*votes.voter} == {0, 1}
    assert votes.outcome.tolist() == [FIRST, BOTH_BAD] and votes.left_out == {
        "no finite covariate": 1
    }
    assert votes.covariates["length"].tolist() == [[3, 2], [8, 9]]
    judged = read_votes(store, "arena", "gpt-4")
    assert judged.outcome.tolist() == [SECOND] and judged.left_out == {"no verdict": 1}
    assert judged.models == ("org/ada", "org/cy") and judged.scorers[0].kind == "model"
    texts = store.rows("select tool_id, text from prompt order by tool_id")
    assert [tuple(row.values()) for row in texts] == [
        ("c1", "Name a river."), ("c2", "Name a lake."), ("c3", "Name a hill.")
    ]  # fmt: skip


def test_the_same_bytes_are_no_new_votes(store: Store, tmp_path: Path) -> None:
    text = (
        "model_a,model_b,winner,voter,question_id\nm,n,model_a,u1,q1\nm,n,tie,u2,q1\n"
    )
    first = table(tmp_path, text)
    ingest(store, [first], defaults={"benchmark": "arena"})
    assert (
        ingest(store, [first], defaults={"benchmark": "arena"}).sources[0].state
        == "unchanged"
    )
    copy = table(
        tmp_path,
        text.replace("u2,q1", "u2,q1\n").replace("\n\n", "\n") + "n,o,b,u1,q2\n",
        "grown.csv",
    )
    (report,) = ingest(store, [copy], defaults={"benchmark": "arena"}).sources
    assert report.n_votes == 3 and report.notes[-1].startswith("2 votes in source 1 (")
    votes = read_votes(store, "arena")
    assert (len(votes), votes.n_shared) == (5, 2)


def test_bad_rows_are_named_with_file_and_row(store: Store, tmp_path: Path) -> None:
    rows = [
        "m,n,model_a,1",
        "m,,tie,1",
        "m,n,perhaps,1",
        "m,n,n,0",
        "m,n,n,2",
        "m,n,,x",
    ]
    path = table(tmp_path, "left,right,winner,weight\n" + "\n".join(rows) + "\n")
    (refused,) = ingest(store, [path], defaults={"benchmark": "arena"}).sources
    assert (
        refused.state == "refused"
        and "4 rows were rejected; first: votes.csv row 3" in refused.error
    )
    options = LoadOptions(max_rejected=4)
    (report,) = ingest(
        store, [path], defaults={"benchmark": "arena"}, options=options
    ).sources
    assert (report.n_votes, report.n_rejected) == (2, 4)
    found = store.rows("select place, found, expected from rejection order by place")
    assert [(row["place"], row["found"]) for row in found] == [
        ("votes.csv row 3", "no model_b"),
        ("votes.csv row 4", "'perhaps'"),
        ("votes.csv row 5", "the weight 0.0"),
        ("votes.csv row 7", "'x'"),
    ]
    assert (
        found[1]["expected"]
        == "[votes] outcome: a, b, tie, both_bad, or the name of one of both models"
    )
    votes = read_votes(store, "arena")
    assert votes.outcome.tolist() == [FIRST, SECOND] and votes.weight.tolist() == [1, 2]
    assert votes.prompt.tolist() == [-1, -1] and votes.voter.tolist() == [-1, -1]


def test_a_benchmark_must_be_said(store: Store, tmp_path: Path) -> None:
    (report,) = ingest(
        store, [table(tmp_path, "model_a,model_b,winner\nm,n,tie\n")]
    ).sources
    assert (
        "nothing says on which benchmark these votes are" in report.error
        and "--default benchmark=" in report.error
    )


def test_mistakes_of_a_mapping_are_named(store: Store, tmp_path: Path) -> None:
    path = table(tmp_path, "model_a,model_b,winner\nm,n,tie\n")
    mapping = tmp_path / "mapping.toml"
    mapping.write_text(
        "[run]\n"
        'benchmark = { const = "x" }\n'
        "[votes]\n"
        'model_a = "model_a"\n'
        'outcome = "winner"\n'
        'looser = "x"\n'
        "[votes.covariates.length]\n"
        "a = 1\n"
        "[[scores]]\n"
        'metric = "x"\n'
        'value = "winner"\n'
    )
    with pytest.raises(MappingError) as caught:
        ingest(store, [path], mapping=mapping)
    told = str(caught.value)
    for part in (
        "[votes]: expected model_b",
        "expected `a` and `b`",
        "[votes] looser: no such key",
        "stands alone",
    ):
        assert part in told


def test_a_table_of_no_votes_is_refused(store: Store, tmp_path: Path) -> None:
    path = table(tmp_path, "model_a,model_b,winner,benchmark\n")
    (refused,) = ingest(store, [path]).sources
    assert refused.error and "expected votes; there are no rows" in refused.error


def test_a_board_of_votes_alone_sends_to_strengths(store: Store) -> None:
    ingest(store, [ARENA], defaults={"benchmark": "arena"})
    with pytest.raises(
        MisuseError,
        match=(
            "arena has votes between models, and no scores; see: warehouse prefer arena"
        ),
    ):
        leaderboard(store, benchmark="arena")


def lines(path: Path, records: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def counted(store: Store) -> list[tuple[Any, ...]]:
    """Pair, wins of the first model by name, wins of the other, ties (each by weight),
    votes without a verdict."""
    votes = store.rows(
        "select model_a, model_b, outcome, weight from preference_current order by "
        "benchmark"
    )
    totals: dict[tuple[str, ...], list[float]] = {}
    for vote in votes:
        pair = (vote["model_a"], vote["model_b"])
        total = totals.setdefault(tuple(sorted(pair)), [0, 0, 0, 0])
        winner = {"a": 0, "b": 1}.get(vote["outcome"])
        at = (
            3
            if vote["outcome"] is None
            else 2
            if winner is None
            else sorted(pair).index(pair[winner])
        )
        total[at] += 1 if at == 3 else vote["weight"]
    return [(*pair, *total) for pair, total in sorted(totals.items())]


def test_two_games_of_mt_bench_are_one_vote_as_the_tool_counts(
    store: Store, tmp_path: Path, run: Caller
) -> None:
    games = [  # a win wants both games; an error in either is no verdict
        ("model_1", "model_1"), ("model_2", "model_2"), ("model_2", "model_2"), ("model_1", "model_2"), ("tie", "tie"),
        ("model_1", "tie"), ("tie", "model_2"), ("error", "model_1"), ("tie", "error"), ("error", "error"),
    ]  # fmt: skip
    shared = {
        "model_1": "vicuna",
        "model_2": "alpaca",
        "judge": ["gpt-4", "pair-v2"],
        "turn": 1,
        "tstamp": 1.5,
    }
    path = tmp_path / "mt_bench" / "model_judgment" / "gpt-4_pair.jsonl"
    records = [
        {**shared, "question_id": 81 + at, "g1_winner": first, "g2_winner": second}
        for at, (first, second) in enumerate(games)
    ]
    lines(
        path,
        [*records, {**records[0], "turn": 2, "judge": ["gpt-4", "pair-v2-multi-turn"]}],
    )
    lines(
        tmp_path / "mt_bench" / "question.jsonl",
        [{"question_id": 81, "category": "writing", "turns": ["Go", "On"]}],
    )
    assert (
        "the shipped mapping mt_bench_pair"
        in run("ingest", str(path), db=store_at(tmp_path / "none.duckdb")).err
    )
    assert ingest(store, [tmp_path], mapping="mt_bench_pair").sources[0].n_votes == 11
    assert counted(store) == [("alpaca", "vicuna", 2, 2, 4, 3)]
    votes = read_votes(store, "mt_bench", "gpt-4")
    assert votes.scorers[0].kind == "model" and not votes.order_known.any()
    assert store.rows("select text from prompt where tool_id = '81'") == [
        {"text": "Go"}
    ]


def test_ratings_of_mt_bench_are_averaged_as_the_tool_does(
    store: Store, tmp_path: Path
) -> None:
    ratings = {
        ("org/a", 81): (7, -1),
        ("org/a", 82): (4, 6),
        ("org/b", 81): (9, 2),
        ("org/b", 82): (-1, -1),
    }
    records = [
        {
            "question_id": question,
            "model": model,
            "judge": ["gpt-4", "single-v1"],
            "score": score,
            "turn": turn,
        }
        | {"user_prompt": "x", "judgment": f"Rating: [[{score}]]", "tstamp": 1.5}
        for (model, question), scores in ratings.items()
        for turn, score in enumerate(scores, 1)
    ]
    lines(tmp_path / "model_judgment" / "gpt-4_single.jsonl", records)
    options = LoadOptions(cluster_by=("question_id",))
    ingest(store, [tmp_path], mapping="mt_bench_single", options=options)
    found = store.rows(
        "select model, metric_filter, estimate, n_prompts, n_clusters from "
        "score_summary order by model"
    )
    assert [tuple(row.values()) for row in found] == [
        ("org/a", "gpt-4", pytest.approx(17 / 3), 3, 2), ("org/b", "gpt-4", pytest.approx(11 / 2), 2, 1)
    ]  # fmt: skip


@pytest.mark.parametrize("mapping", ["arena_hard", "arena_hard_v01"])
def test_each_game_of_arena_hard_is_a_vote_as_the_tool_counts(
    store: Store, tmp_path: Path, run: Caller, mapping: str
) -> None:
    is_new = mapping == "arena_hard"
    games = [
        ("A>>B", "A>B"),
        ("A=B", "B>>A"),
        ("B>A", "A=B"),
        ("A>B", None),
        ("A>B", "A>>B"),
    ]
    shared = {"model": "org/m", "judge": "gpt-4.1"}
    if is_new:
        shared |= {"category": "hard_prompt", "baseline": "base"}
    records: list[dict[str, Any]] = [
        {
            **shared,
            "uid" if is_new else "question_id": f"u{at}",
            "games": [{"score": score} for score in pair],
        }
        for at, pair in enumerate(games)
    ]
    if is_new:
        records.append({**records[0], "uid": "u5", "games": [None, {"score": "A>B"}]})
    path = tmp_path / "model_judgment" / "gpt-4.1" / "m.jsonl"
    lines(path, records)
    assert (
        f"the shipped mapping {mapping}"
        in run("ingest", str(path), db=store_at(tmp_path / "none.duckdb")).err
    )
    assert ingest(store, [tmp_path], mapping=mapping).sources[0].state == "loaded"
    baseline, benchmark = (
        ("base", "arena-hard-v2.0_hard_prompt")
        if is_new
        else ("gpt-4-0314", "arena-hard-v0.1")
    )
    # A is the baseline in the first game and the model in the second. Baseline: 3 + 3 +
    # 1, and 1 of the question of which only v0.1 counts one game alone. Model: 1 + 1 +
    # 3.
    assert counted(store) == [
        (baseline, "org/m", *((7, 5, 2, 4) if is_new else (8, 5, 2, 1)))
    ]
    votes = read_votes(store, benchmark, "gpt-4.1")
    assert votes.order_known.all() and votes.scorers[0].kind == "model"
    assert Counter(votes.models[at] for at in votes.first.tolist()) == (
        {baseline: 4, "org/m": 4} if is_new else {baseline: 5, "org/m": 4}
    )


@pytest.mark.parametrize("mapping", ["arena_55k", "arena_log"])
def test_votes_of_the_arena_by_columns_and_by_log_lines(
    store: Store, tmp_path: Path, run: Caller, mapping: str
) -> None:
    kinds = ["leftvote", "leftvote", "rightvote", "tievote"]
    states = [
        {"model_name": name, "messages": [["user", "hi"], ["assistant", "x"]]}
        for name in ("m-a", "m-b")
    ]
    path = tmp_path / (
        "train.csv" if mapping == "arena_55k" else "2024-01-01-conv.json"
    )
    if mapping == "arena_log":
        lines(
            path,
            [
                {"tstamp": 1.5, "type": kind, "states": states}
                for kind in (*kinds, "chat")
            ],
        )
    else:
        wins = [
            f"{at},m-a,m-b,hi,x,y,{k[0] == 'l':d},{k[0] == 'r':d},{k[0] == 't':d}"
            for at, k in enumerate(kinds)
        ]
        header = "id,model_a,model_b,prompt,response_a,response_b,winner_model_a,winner_model_b,winner_tie"
        path.write_text("\n".join([header, *wins]))
        draft = run("mapping", str(path)).out
        assert "[matrix]" not in draft and f"--map {mapping}" in draft
    assert (
        f"the shipped mapping {mapping}"
        in run("ingest", str(path), db=store_at(tmp_path / "none.duckdb")).err
    )
    ingest(store, [path], mapping=mapping)
    assert counted(store) == [("m-a", "m-b", 2, 1, 1, 0)]


@pytest.mark.skipif(
    not (SHARED / "llmfao").is_dir(), reason="the developer data set llmfao is not here"
)
def test_llmfao_has_its_published_counts(store: Store) -> None:
    ingest(store, [SHARED / "llmfao"], mapping="llmfao")
    crowd = read_votes(store, "llmfao", "people")
    outcomes = Counter(crowd.outcome.tolist())
    assert (outcomes[FIRST], outcomes[SECOND], outcomes[TIE], len(crowd)) == (
        2911,
        2549,
        3471,
        8931,
    )
    assert (crowd.voter.max() + 1, crowd.prompt.max() + 1, len(crowd.models)) == (
        124,
        13,
        59,
    )
    assert crowd.order_known.all() and not crowd.left_out and not crowd.n_shared
    pairs = {
        frozenset(pair)
        for pair in zip(crowd.first.tolist(), crowd.second.tolist(), strict=True)
    }
    assert len(pairs) == 927
    judge = Counter(read_votes(store, "llmfao", "GPT-4").outcome.tolist())
    assert (judge[FIRST], judge[SECOND], judge[TIE]) == (943, 1130, 66)
    (row,) = store.rows("select n_units, n_agree, agreement from judge_agreement")
    assert (row["n_units"], round(row["agreement"], 9)) == (2139, 0.523141655)
    (total,) = store.rows(
        "select cast(sum(n_votes) as bigint) as n from preference_summary where scorer "
        "= 'people'"
    )
    assert total["n"] == 8931
    assert store.rows("select count(*) as n from prompt where text is not null") == [
        {"n": 13}
    ]


@pytest.mark.skipif(
    not (SHARED / "llmbar").is_dir(), reason="the developer data set llmbar is not here"
)
def test_llmbar_has_its_published_counts_in_every_file(store: Store) -> None:
    ingest(store, [SHARED / "llmbar"], mapping="llmbar")
    ingest(store, [SHARED / "llmbar"], mapping="llmbar_labels")
    votes = read_votes(store, "llmbar_Natural", by_scorer=True)
    names = [scorer.label for scorer in votes.scorers]
    gold = names.index("label")
    # output_1 is the model of the lower code, whichever was shown first
    better = [
        None if outcome == TIE else first if outcome == FIRST else second
        for first, second, outcome in zip(
            votes.first, votes.second, votes.outcome, strict=True
        )
    ]
    label = {
        votes.prompt[at]: better[at]
        for at in range(len(votes))
        if votes.scorer[at] == gold
    }
    right: Counter[tuple[str, bool]] = Counter()
    for at in range(len(votes)):
        right[names[votes.scorer[at]], bool(votes.first[at] == 1)] += (
            better[at] == label[votes.prompt[at]]
        )
    files = sorted((SHARED / "llmbar").glob("*/evaluators/*/*/statistics.json"))
    assert len(files) == len(names) - 1 == 27 and len(label) == 100
    for file in files:
        published = json.loads(file.read_text())
        for swapped in (False, True):
            count = int(published[f"correct_{swapped}"].partition(" ")[0])
            assert right[f"{file.parts[-3]} {file.parts[-2]}", swapped] == count, file


def test_votes_of_nobody_knows_whom_are_not_taken_for_those_of_people(
    tmp_path: Path, run: Caller
) -> None:
    head = "prompt,model_a,model_b,winner"
    for name, more in (("crowd", ",worker"), ("judge", "")):
        lines = [head + more]
        for key in range(8):
            own = f",w{key % 3}" if more else ""
            lines.append(f"q{key},x,y,{'model_a' if key % 2 else 'model_b'}{own}")
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
    url = str(tmp_path / "votes.db")
    said = run("ingest", str(tmp_path), "--default", "benchmark=arena", db=url)
    assert "no column says who judged" in said.err
    assert "warehouse leaderboard" not in said.out + said.err
    asked = run("prefer", "arena", db=url)
    asked.fails(2, "people (human, 8 votes)", "judge (match, 8 votes)", "never pooled")
