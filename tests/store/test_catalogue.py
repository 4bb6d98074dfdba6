"""Lists of what a store holds, marks on runs, aliases and prompt links, on both
engines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.builders import StoreRows
from tests.support.cli import Caller
from tests.support.stores import select
from warehouse.errors import MisuseError
from warehouse.store.connection import Store
from warehouse.store.curate import aliases, catalogue, prompt_links
from warehouse.store.open import open_store
from warehouse.store.schema.migrate import check


@pytest.fixture(scope="module")
def rows() -> StoreRows:
    """Three models on a quiz; some of its questions under other keys in other
    benchmarks."""
    rows = StoreRows()
    rows.describe("quiz", rows.metric())
    for model, value in (("org/a", 1.0), ("org/b", 0.0), ("a-old", 1.0)):
        run = rows.run(model, "quiz", temperature=0.5, fewshot=5)
        rows.scores(run, {"p1": value, "p2": 1.0, "p3": 1.0})
    rows.run("org/c", "quiz", status="invalidated")
    for key, text in (
        ("x1", "question p1"),
        ("x2", "twice"),
        ("x3", "twice"),
        ("x4", "new"),
    ):
        rows.prompt("other", key, text=text)
    rows.prompt("quiz", "p4", text="twice")
    rows.prompt("third", "p1", text="something else")
    return rows


@pytest.fixture
def store(own_url: str) -> Iterator[Store]:
    with open_store(own_url, write=True) as opened:
        yield opened


def names(store: Store, view: str = "score_summary") -> set[str]:
    return {row["model"] for row in select(store, f"select model from {view}")}


# --- runs ------------------------------------------------------------------------------------


def test_runs_are_listed_and_narrowed(store: Store) -> None:
    assert [run.run_id for run in catalogue.runs(store)] == [1, 2, 3]
    assert [run.run_id for run in catalogue.runs(store, everything=True)] == [
        1,
        2,
        3,
        4,
    ]
    for where, expected in [
        (["model=org/*"], [1, 2]),
        (["model!=org/*"], [3]),
        (["temperature=0.50", "n_found=3"], [1, 2, 3]),
        (["temperature=hot"], []),
        (["note="], [1, 2, 3]),
        (["run_id=2"], [2]),
    ]:
        assert [run.run_id for run in catalogue.runs(store, where=where)] == expected, (
            where
        )


def test_a_condition_that_cannot_be_meant_is_refused(store: Store) -> None:
    for where in ("temprature=1", "model", "=x"):
        with pytest.raises(MisuseError, match="condition"):
            catalogue.runs(store, where=[where])


def test_an_invalidated_run_leaves_every_view_and_keeps_the_reason(
    store: Store,
) -> None:
    assert catalogue.invalidate(store, "run:2", "wrong template") == 2
    assert names(store) == {"org/a", "a-old"}
    (run,) = catalogue.runs(store, where=["run_id=2"], everything=True)
    assert (run.status, run.status_reason) == ("invalidated", "wrong template")
    with pytest.raises(MisuseError, match="invalidated already: wrong template"):
        catalogue.invalidate(store, "2", "again")


def test_a_mark_that_cannot_be_meant_is_refused(store: Store) -> None:
    for reference in ("run:99", "99", "org/a", "run:", ""):
        with pytest.raises(MisuseError, match=f"no run '{reference}'"):
            catalogue.note(store, reference, "x")
    with pytest.raises(MisuseError, match="give one"):
        catalogue.invalidate(store, "2", " ")


def test_tags_and_notes_come_and_go(store: Store) -> None:
    assert catalogue.tag(store, "run:1", add=["paper", "final", "paper"]) == [
        "paper",
        "final",
    ]
    assert catalogue.tag(store, "1", add=["x"], remove=["final"]) == ["paper", "x"]
    catalogue.note(store, "1", "don't use")
    (run,) = catalogue.runs(store, where=["tags=pap*"])
    assert (run.run_id, run.tags, run.note) == (1, ("paper", "x"), "don't use")
    catalogue.note(store, "1", "")
    catalogue.tag(store, "1", remove=["paper", "x"])
    (run,) = catalogue.runs(store, where=["run_id=1"])
    assert (run.tags, run.note) == ((), None)
    with pytest.raises(MisuseError, match="has no tag paper"):
        catalogue.tag(store, "1", remove=["paper"])


# --- aliases ---------------------------------------------------------------------------------


def test_an_alias_shows_in_views_and_goes_again(store: Store) -> None:
    assert aliases.alias(store, "model", "a-old", "org/a") == "org/a"
    assert names(store) == {"org/a", "org/b"}
    shown = {row.model: (row.shown_as, row.n_runs) for row in aliases.models(store)}
    assert shown["a-old"] == ("org/a", 1)
    aliases.unalias(store, "model", "a-old")
    assert names(store) == {"org/a", "org/b", "a-old"}


def test_aliases_never_form_chains(store: Store) -> None:
    aliases.alias(store, "model", "a-old", "org/a")
    aliases.alias(store, "model", "org/a", "org/b")  # takes its own alias along
    assert aliases.alias(store, "model", "org/c", "a-old") == "org/b"
    shown = {row.model: row.shown_as for row in aliases.models(store)}
    assert shown == dict.fromkeys(("a-old", "org/a", "org/b", "org/c"), "org/b")
    assert unchained(store)
    with pytest.raises(MisuseError, match="cannot be its alias"):
        aliases.alias(store, "model", "org/b", "org/a")


def test_a_wrong_alias_is_refused(store: Store) -> None:
    for name, canonical, message in [
        ("org/a", "org/a", "cannot be its alias"),
        ("org/A", "org/b", "no model 'org/A'; did you mean "),
        ("org/a", "zzz", "no model 'zzz'; see: warehouse list models"),
    ]:
        with pytest.raises(MisuseError, match=message):
            aliases.alias(store, "model", name, canonical)
    with pytest.raises(MisuseError, match="'org/a' is no alias"):
        aliases.unalias(store, "model", "org/a")


def test_benchmarks_are_counted_and_renamed(store: Store) -> None:
    before = {row.benchmark: row for row in aliases.benchmarks(store)}
    assert (
        before["quiz"].n_prompts,
        before["quiz"].n_runs,
        before["quiz"].n_models,
    ) == (4, 3, 3)
    assert (before["other"].n_prompts, before["other"].n_runs) == (4, 0)
    aliases.alias(store, "benchmark", "quiz", "other")
    rows = select(store, "select distinct benchmark from score_summary")
    assert rows == [{"benchmark": "other"}]


# --- prompt links ----------------------------------------------------------------------------


def unchained(store: Store) -> bool:
    """Whether views, which follow one step, show the right names."""
    return "alias_chains" not in {finding.check for finding in check(store).integrity}


def joined(store: Store) -> dict[str, str]:
    sql = """
        select a.key as a, benchmark.name as benchmark, b.key as b
        from prompt_link join prompt as a on a.id = prompt_link.prompt_id
        join prompt as b on b.id = prompt_link.canonical_prompt_id
        join benchmark on benchmark.id = b.benchmark_id
    """
    return {row["a"]: f"{row['benchmark']} {row['b']}" for row in select(store, sql)}


def test_equal_questions_are_linked_and_doubtful_ones_left(store: Store) -> None:
    report = prompt_links.link(store, "other", "quiz")
    assert report == prompt_links.LinkReport(
        n_linked=1, n_already=0, n_unmatched=1, n_ambiguous=2
    )
    assert joined(store) == {"x1": "quiz p1"}
    assert prompt_links.link(store, "other", "quiz").n_already == 1
    assert prompt_links.links(store) == [
        prompt_links.LinkEntry("other", "quiz", "text", 1)
    ]
    assert (
        prompt_links.link(store, "quiz", "other").n_linked == 0
    )  # the same two, the other way round
    assert prompt_links.unlink(store, "other") == 1
    assert joined(store) == {}


def test_links_never_form_chains(store: Store) -> None:
    prompt_links.link(store, "other", "quiz")
    assert prompt_links.link(store, "quiz", "third", by="id").n_linked == 1
    assert joined(store) == {"x1": "third p1", "p1": "third p1"}
    assert unchained(store)


def test_what_is_linked_stays_so_where_it_is_linked_to_a_third(store: Store) -> None:
    prompt_links.link(store, "quiz", "other")
    prompt_links.link(store, "quiz", "third", by="id")
    assert joined(store) == {"x1": "third p1", "p1": "third p1"} and unchained(store)


def test_a_benchmark_that_is_not_there_is_named(store: Store) -> None:
    for call in (
        lambda: prompt_links.link(store, "nope", "quiz"),
        lambda: prompt_links.unlink(store, "nope"),
    ):
        with pytest.raises(MisuseError, match="no benchmark 'nope'"):
            call()


#: Tables of one benchmark, by name: of one model each, with ids of their own.
ONE_BENCHMARK = {
    "a": [
        ("q1", "one?", "1"),
        ("q2", "two?", "2"),
        ("q3", "three?", "3"),
        ("q4", "which?", "4"),
        ("q5", "which?", "5"),
    ],
    "b": [
        ("x1", "One? ", "1"),
        ("x2", "two?", "22"),
        ("x3", "three?", ""),
        ("x4", "which?", "4"),
        ("x6", "six?", "6"),
    ],
}


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_prompts_of_one_benchmark_are_linked_whose_ids_differ(
    tmp_path: Path, run: Caller, order: str
) -> None:
    """But not where targets differ, and where a run was asked both."""
    url = f"duckdb:///{tmp_path / 's.db'}"
    for name in order:
        lines = ["model,benchmark,prompt_id,question,target,score"]
        lines += [
            f"{name},quiz,{key},{text},{target},1"
            for key, text, target in ONE_BENCHMARK[name]
        ]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
        assert run("ingest", str(tmp_path / f"{name}.csv"), db=url).code == 0
    refused = run("compare", "a", "b", db=url)
    refused.fails(2, "`warehouse fix link quiz quiz` joins those of one target")
    linked = run("fix", "link", "quiz", "quiz", db=url)
    assert (
        linked.out
        == "2 prompts linked, 0 were linked already, 1 without a match, 3 ambiguous\n"
    )
    assert [
        row["n_prompts"] for row in run("compare", "a", "b", "--json", db=url).rows
    ] == [2]
    again = run("fix", "link", "quiz", "quiz", db=url)
    assert (
        again.out
        == "0 prompts linked, 2 were linked already, 1 without a match, 3 ambiguous\n"
    )
    assert run("fix", "link", "quiz", "--undo", db=url).out == "2 prompts taken apart\n"
    run("compare", "a", "b", db=url).fails(2, "no prompt in common")
