"""`db check --deep`: what was changed alike in several places is found by working it
out again."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from tests.store.test_check import fill
from warehouse.errors import StoreError
from warehouse.records import parse_json
from warehouse.store.connection import Store
from warehouse.store.schema.migrate import check
from warehouse.store.schema.recomputed import require_proven


def change(store: Store, *statements: str) -> None:
    """What somebody does by hand."""
    with store.begin() as connection:
        for statement in statements:
            connection.execute(sa.text(statement))


def with_figures_alone(kit: Any) -> None:
    figures = (
        kit.figure("acc", 0.5, n=6, standard_error=0.1),
        kit.figure("m1", float("inf")),
        kit.figure("m2", 1e200),
    )
    kit.load(
        kit.header("9", benchmark="board", published=figures), [], path="board.json"
    )


#: What is changed, alike everywhere: what is found of the run.
SCORE = (
    "set value = 1 - value where metric_id = (select id from metric where name = "
    "'acc') and value in (0, 1)"
)
CHANGES: dict[str, tuple[tuple[str, ...], set[str]]] = {
    "score and mean": (
        (f"update score {SCORE}", f"update prompt_score {SCORE}"),
        {"content_digest"},
    ),
    "a response": (
        ("update generation set response_hash = prompt_hash where draw = 1",),
        {"content_digest"},
    ),
    "a choice": (
        ("update choice set loglikelihood = -9 where choice_index = 1",),
        {"content_digest"},
    ),
    "a prompt's key": (
        ("update prompt set key = 'other' where key = 'a'",),
        {"content_digest"},
    ),
    "a draw": (
        ("update score set draw = 7 where draw = 3", "delete from draw_score"),
        {"content_digest"},
    ),
    "a metric's name": (
        ("update metric set name = 'm9' where name = 'm1'",),
        {"content_digest"},
    ),
    "a figure": (
        ("update published_score set value = 0.75 where n = 6",),
        {"content_digest"},
    ),
    "a setting": (
        ('update run set settings = \'{"model": "other"}\'',),
        {"recorded_key", "condition_key"},
    ),
    "a condition": (("update run set condition_key = 'c'",), {"condition_key"}),
    "a run's id": (("update run_group set harness_run_id = 'other'",), {"run_key"}),
    "a mark": (('update run set marks = \'{"id": "other"}\'',), {"execution_key"}),
    "a digest": (
        ("update run set content_digest = 'd' where id = 1",),
        {"content_digest"},
    ),
}


def test_a_loaded_store_comes_out_again_and_what_is_changed_alike_is_found(
    kit: Any,
) -> None:
    """On one store, one change after the other: each is taken back by the next copy of
    it."""
    fill(kit)
    with_figures_alone(kit)
    store = kit.store
    report = check(store, deep=True)
    assert report.recomputed is not None and report.ok, str(report)
    assert (report.recomputed.runs, report.recomputed.texts) == ((), ())
    assert (
        report.recomputed.n_scores
        == store.rows("select sum(n_scores) as n from run")[0]["n"]
    )
    found: dict[str, set[str]] = {}
    for what, (statements, _) in CHANGES.items():
        found[what] = {fault.what for fault in changed_and_mended(store, statements)}
    assert found == {what: expected for what, (_, expected) in CHANGES.items()}


def changed_and_mended(store: Store, statements: tuple[str, ...]) -> list[Any]:
    """Faults after some changes, which are taken back."""
    from contextlib import closing

    from warehouse.store.schema.recomputed import Proof

    store.connection.begin()
    try:
        for statement in statements:
            store.connection.execute(sa.text(statement))
        with closing(Proof(store)) as proof:
            return list(proof.faults_of(proof.runs()))
    finally:
        store.connection.rollback()


def test_texts_that_are_not_those_of_their_hashes_are_found(kit: Any) -> None:
    rows = [
        kit.row("a", 1.0, text="What is it?", response="this"),
        kit.row("b", 0.0, text="And \0 that?", response="\0"),
    ]
    kit.load(kit.header("1"), rows)
    assert check(kit.store, deep=True).ok
    change(kit.store, "update content set text = 'that' where text = 'this'")
    change(
        kit.store, "update prompt set text = 'Who is it?' where text = 'What is it?'"
    )
    report = check(kit.store, deep=True)
    assert report.recomputed is not None and not report.ok
    assert [(fault.table, fault.n) for fault in report.recomputed.texts] == [
        ("content", 1),
        ("prompt", 1),
    ]


def test_characters_that_a_server_cannot_hold_are_told_apart(kit: Any) -> None:
    rows = [kit.row("a\0b", 1.0, response="x\0"), kit.row("c", 0.5, response="y")]
    kit.load(kit.header("1"), rows)
    report = check(kit.store, deep=True)
    assert report.ok, str(report.recomputed)


def test_scores_of_scanners_and_what_is_ignored_are_no_change(kit: Any) -> None:
    from warehouse.store.curate.conditions import ignore

    kit.load(kit.header("1", configuration={"note": "a"}), [kit.row("a", 1.0)])
    kit.load(kit.header("2", configuration={"note": "b"}), [kit.row("a", 0.0)])
    ignore(kit.store, "note")
    (settings, *_) = kit.store.rows("select cast(settings as varchar) as said from run")
    assert "note" in parse_json(settings["said"])
    report = check(kit.store, deep=True)
    assert report.ok, str(report.recomputed)


def test_nothing_rests_on_runs_that_were_changed(kit: Any) -> None:
    kit.load(kit.header("1"), [kit.row("a", 1.0), kit.row("b", 0.0)])
    kit.load(kit.header("2", model="org/other"), [kit.row("a", 1.0), kit.row("b", 1.0)])
    require_proven(kit.store, None)
    change(kit.store, "update prompt_score set value = 0.5 where run_id = 1")
    with pytest.raises(StoreError, match=r"run 1 \(.* on quiz\): prompt_score"):
        require_proven(kit.store, [1])
    require_proven(kit.store, [2])
    change(kit.store, "update score set value = 0.5 where run_id = 1")
    with pytest.raises(StoreError, match="content_digest"):
        require_proven(kit.store, None)
