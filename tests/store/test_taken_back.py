"""What is taken back is gone: the store is then the one that never had it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from tests.support.dumps import Source, small_dumps
from tests.support.stores import empty_store
from warehouse.ingest.pipeline import ingest
from warehouse.store.connection import Store
from warehouse.store.curate import aliases, catalogue, headline_metric, prompt_links
from warehouse.store.load import source_ledger
from warehouse.store.open import open_store
from warehouse.store.schema.migrate import check
from warehouse.testing.contents import Contents, contents, differences

pytestmark = [pytest.mark.engine]

#: Opens an empty store of one engine.
Opener = Callable[[], Any]

MAPPING = """
[run]
model = "model"
benchmark = "benchmark"

[sample]
prompt_id = "prompt_id"
text = "question"
target = "answer"
choices = "options"

[metadata]
topic = "topic"
hint = "hint"

[[scores]]
metric = "score"
value = "score"
"""


@pytest.fixture(params=["duckdb", "postgresql"])
def empty(request: pytest.FixtureRequest) -> Opener:
    @contextmanager
    def opened() -> Iterator[Store]:
        with (
            empty_store(request, request.param) as url,
            open_store(url, write=True) as store,
        ):
            yield store

    return opened


@pytest.fixture
def tables(tmp_path: Path) -> dict[str, Source]:
    """Tables of one benchmark that say different things of its prompts, models and
    metrics."""
    (tmp_path / "map.toml").write_text(MAPPING)

    def lines(
        name: str,
        model: str,
        scores: Sequence[float],
        *,
        n: int = 4,
        **said: Sequence[Any],
    ) -> Source:
        names = ("question", "answer", "options", "topic", "hint")
        rows = [
            {
                "model": model,
                "benchmark": "quiz",
                "prompt_id": f"q{place}",
                "score": scores[place],
            }
            | {key: said[key][place] if key in said else None for key in names}
            for place in range(n)
        ]
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return {"paths": [path], "mapping": tmp_path / "map.toml"}

    def plain(name: str, text: str, **options: Any) -> Source:
        path = tmp_path / f"{name}.csv"
        path.write_text(text)
        return {"paths": [path], **options}

    head = "model,benchmark,prompt_id,score\n"
    return {
        "bare": plain(
            "bare",
            head
            + "ada,quiz,q0,1\nada,quiz,q1,1\nada,quiz,q2,0\nbob,quiz,q0,0\nbob,quiz,q1,1\n",
        ),
        "lower": plain(
            "lower", head + "cy,quiz,q0,0\ncy,quiz,q1,1\n", higher_is_better=False
        ),
        "wide": plain("wide", head + "dan,quiz,q0,37\ndan,quiz,q1,.5\n"),
        "metric": plain(
            "metric",
            "model,benchmark,prompt_id,metric,score\n"
            "ed,quiz,q0,f1,.5\n"
            "ed,quiz,q7,f1,.25\n",
        ),
        "texts": lines(
            "texts",
            "org/fay",
            [1, 0, 1, 1],
            question=["a?", "b?", "c?", None],
            topic=["x", "x", None, "y"],
        ),
        "targets": lines(
            "targets",
            "gus",
            [0, 1, 1, 0],
            answer=list("ABCD"),
            topic=list("xxyy"),
            hint=["h"] * 4,
        ),
        "others": lines(
            "others", "hal", [0, 0, 1, 0], answer=list("DCBA"), topic=list("yxyx")
        ),
        "options": lines(
            "options",
            "ida",
            [1, 1, 1, 0],
            options=[["1", "2"]] * 4,
            question=["a?", "B?", "z?", "d?"],
        ),
        "part": lines("part", "gus", [0, 1], n=2, answer=["A", None], hint=[None, "i"]),
    }


def load(store: Store, source: Source) -> list[str]:
    """Ids of the sources that were loaded."""
    return [
        str(item.source_id)
        for item in ingest(store, **source).sources
        if item.state == "loaded"
    ]


def forget(store: Store, ids: Sequence[str]) -> None:
    for number in ids:
        source_ledger.forget(store, number)


def held(store: Store) -> Contents:
    report = check(store)
    assert report.ok, str(report)
    return contents(store)


class Expected:
    """What fresh stores hold of some sources, in the order in which they came."""

    def __init__(self, empty: Opener, sources: dict[str, Source]) -> None:
        self.empty, self.sources = empty, sources
        self.known: dict[tuple[str, ...], Contents] = {}

    def of(self, *names: str) -> Contents:
        if names not in self.known:
            with self.empty() as store:
                for name in names:
                    load(store, self.sources[name])
                self.known[names] = held(store)
        return self.known[names]

    def left(self, order: Sequence[str], *gone: str) -> list[str]:
        """What differs where some of the sources that came in an order are forgotten."""
        with self.empty() as store:
            ids = {name: load(store, self.sources[name]) for name in order}
            for name in gone:
                forget(store, ids[name])
            return differences(
                held(store), self.of(*[name for name in order if name not in gone])
            )


@pytest.mark.slow_on_server  # as the next test, which is longer
def test_a_forgotten_table_leaves_nothing_behind(
    empty: Opener, tables: dict[str, Source]
) -> None:
    """Each says something else of the same prompts, or of the same metric."""
    expected = Expected(empty, tables)
    assert expected.left(("bare", "lower"), "lower") == []
    assert expected.left(("texts", "targets", "others"), "targets") == []


@pytest.mark.parametrize(
    ("empty", "order"),
    [
        pytest.param(
            "duckdb", ("targets", "texts", "others", "options"), marks=pytest.mark.slow
        ),
        pytest.param(
            "postgresql", ("options", "wide", "part", "lower"), marks=pytest.mark.rare
        ),
    ],
    indirect=["empty"],
)
def test_the_others_stand_as_they_came(
    empty: Opener, tables: dict[str, Source], order: tuple[str, ...]
) -> None:
    expected = Expected(empty, tables)
    found = {gone: expected.left(order, gone) for gone in order}
    assert {case: lines for case, lines in found.items() if lines} == {}


@pytest.mark.slow
def test_every_pair_and_triple_of_tables(
    empty: Opener, tables: dict[str, Source]
) -> None:
    expected = Expected(empty, tables)
    orders = [*permutations(tables, 2), *permutations(tables, 3)]
    found = {
        (order, gone): expected.left(order, gone) for order in orders for gone in order
    }
    assert {case: lines for case, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    ("empty", "share"),
    [
        pytest.param("duckdb", 9, marks=pytest.mark.rare),
        pytest.param("duckdb", 1, marks=[pytest.mark.slow, pytest.mark.timeout(1800)]),
        pytest.param(
            "postgresql", 1, marks=[pytest.mark.slow, pytest.mark.timeout(1800)]
        ),
    ],
    indirect=["empty"],
)
def test_a_small_dump_that_is_forgotten_leaves_what_was_before_it(
    empty: Opener, tables: dict[str, Source], share: int
) -> None:
    """Each comes on top of all before it, and goes again."""
    lines: list[str] = []
    with empty() as store:
        before = contents(store)
        for name, source in [*small_dumps().items(), *tables.items()][::share]:
            forget(store, load(store, source))
            lines += [
                f"{name}: {line}" for line in differences(contents(store), before)
            ]
            load(store, source)
            before = contents(store)
        assert check(store).ok
    assert lines == []


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("is_gone", [0, 1])
def test_small_dumps_that_are_forgotten_leave_what_came_after_them(
    empty: Opener, tables: dict[str, Source], is_gone: int
) -> None:
    """Every second one goes: the others are those of a store that never had it."""
    sources = [*small_dumps().values(), *tables.values()]
    with empty() as store, empty() as fresh:
        ids = [load(store, source) for source in sources]
        for number, source in enumerate(sources):
            if number % 2 == is_gone:
                forget(store, ids[number])
            else:
                load(fresh, source)
        assert differences(held(store), held(fresh)) == []


@pytest.mark.parametrize(
    ("empty", "gone"),
    [
        pytest.param("duckdb", "a.csv", marks=pytest.mark.rare),
        ("duckdb", "b.csv"),
        pytest.param("duckdb", "c.csv", marks=pytest.mark.rare),
        ("postgresql", "b.csv"),
        pytest.param("postgresql", "a.csv", marks=pytest.mark.slow),
        pytest.param("postgresql", "c.csv", marks=pytest.mark.slow),
    ],
    indirect=["empty"],
)
@pytest.mark.rare
def test_sources_of_one_load_are_forgotten_as_if_each_had_come_by_itself(
    empty: Opener, tmp_path: Path, gone: str
) -> None:
    """They hold one run: the second says more of what marks it than the first, the
    third a part of that."""
    rows = "ada,quiz,q1,1{}\nada,quiz,q2,0{}\n"
    head = "model,benchmark,prompt_id,score"
    (tmp_path / "a.csv").write_text(f"{head}\n" + rows.format("", ""))
    (tmp_path / "b.csv").write_text(
        f"{head},sampling_seed,started_at\n"
        + rows.format(*[",1,2026-01-01T00:00:00"] * 2)
    )
    (tmp_path / "c.csv").write_text(
        f"{head},started_at,cost\n" + rows.format(*[",2026-01-01T00:00:00,3"] * 2)
    )
    names = ["a.csv", "b.csv", "c.csv"]
    paths = [tmp_path / name for name in names if name != gone]
    with empty() as fresh:
        ingest(fresh, paths)
        expected = held(fresh)
    for groups in ([names], [names[:1], names[1:]], [[name] for name in names]):
        with empty() as store:
            for group in groups:
                ingest(store, [tmp_path / name for name in group])
            source_ledger.forget(store, gone)
            assert differences(held(store), expected) == [], groups


def shown(kit: Any) -> list[tuple[str, str | None]]:
    sql = (
        "select m.name, o.name from model m left join model o on o.id = m.canonical_id "
        "order by 1"
    )
    return [tuple(row) for row in kit.all(sql)]


def test_an_alias_that_is_taken_back_leaves_those_said_before(kit: Any) -> None:
    for name in "abc":
        kit.load(kit.header(name, model=name), kit.rows({"p": 1.0}))
    aliases.alias(kit.store, "model", "a", "b")
    before = shown(kit)
    aliases.alias(kit.store, "model", "b", "c")
    assert shown(kit) == [("a", "c"), ("b", "c"), ("c", None)]
    aliases.unalias(kit.store, "model", "b")
    assert shown(kit) == before == [("a", "b"), ("b", None), ("c", None)]
    source_ledger.forget(kit.store, "2")
    assert shown(kit) == [("a", None), ("c", None)]
    assert check(kit.store).ok


def test_what_a_person_says_stays_while_what_it_speaks_of_is_there(kit: Any) -> None:
    kit.load(kit.header("1"), kit.rows({"p": 1.0}) + kit.rows({"p": 0.5}, metric="f1"))
    kit.load(kit.header("2", model="org/b"), kit.rows({"p": 3.0}, metric="f1"))
    headline_metric.choose(kit.store, "quiz", "f1")
    headline_metric.direct(kit.store, "quiz", "f1", False)
    headline_metric.bound(kit.store, "quiz", "f1", 0.0, 10.0)
    said = (
        "select higher_is_better, direction_by, kind, low, high from benchmark_metric "
        "order by id desc limit 1"
    )
    before = kit.one(said)
    assert tuple(before) == (False, "person", "bounded", 0.0, 10.0)
    source_ledger.forget(kit.store, "1")
    assert (
        kit.one(said) == before
        and kit.one("select headline_metric from benchmark") == "f1"
    )
    kit.load(kit.header("3"), kit.rows({"p": 1.0}))
    source_ledger.forget(kit.store, "2")
    assert kit.all("select name from metric") == [("acc",)]
    assert kit.one("select headline_metric from benchmark") is None
    assert check(kit.store).ok


@pytest.mark.rare
def test_links_and_invalidations_that_are_undone_leave_nothing(kit: Any) -> None:
    said = {"text": "one?", "target": "1"}
    kit.load(kit.header("1"), [kit.row("a", 1.0, **said), kit.row("b", 0.0)])
    kit.load(kit.header("2", benchmark="other"), [kit.row("x", 1.0, **said)])
    before = contents(kit.store)
    prompt_links.link(kit.store, "quiz", "other")
    assert differences(contents(kit.store), before) != []
    prompt_links.unlink(kit.store, "quiz")
    assert differences(contents(kit.store), before) == []
    catalogue.invalidate(kit.store, "run:1", "wrong")
    catalogue.validate(kit.store, "run:1")
    assert differences(contents(kit.store), before) == []
    prompt_links.link(kit.store, "quiz", "other")
    source_ledger.forget(kit.store, "2")
    fresh = contents(kit.store)
    assert fresh["prompt_link"] == [] and check(kit.store).ok


#: Small dumps of one tool that share prompts, or runs.
FAMILIES = {
    "agents": (
        "inspect/agents.eval",
        "inspect/agents.json",
        "inspect/agents_chunked.eval",
    ),
    "faults": ("inspect/faults.eval", "inspect/faults_retried.eval"),
    "grid": ("inspect/grid.eval", "inspect/grid.json", "inspect/grid_chunked.eval"),
    "bfcl": ("bfcl/2024-07-06", "bfcl/2024-08-10"),
}


@pytest.mark.slow
def test_all_dumps_that_share_prompts_are_in_a_family(kit: Any) -> None:
    of_source: dict[int, str] = {}
    for name, source in small_dumps().items():
        of_source |= {int(number): name for number in load(kit.store, source)}
    rows = kit.all(
        "select distinct l.source_id, s.prompt_id from run_source l join prompt_score "
        "s using (run_id)"
    )
    prompts: dict[str, set[int]] = {}
    for source_id, prompt in rows:
        prompts.setdefault(of_source[source_id], set()).add(prompt)
    together = {
        frozenset(pair)
        for pair in permutations(prompts, 2)
        if prompts[pair[0]] & prompts[pair[1]]
    }
    in_families = {
        frozenset(pair)
        for names in FAMILIES.values()
        for pair in permutations(names, 2)
    }
    assert together <= in_families


@pytest.mark.parametrize(
    ("empty", "share"),
    [
        pytest.param("duckdb", 47, marks=pytest.mark.rare),
        pytest.param("duckdb", 1, marks=[pytest.mark.slow, pytest.mark.timeout(3600)]),
        pytest.param(
            "postgresql", 1, marks=[pytest.mark.slow, pytest.mark.timeout(3600)]
        ),
    ],
    indirect=["empty"],
)
def test_small_dumps_that_share_prompts_are_forgotten_in_any_order(
    empty: Opener, share: int
) -> None:
    """Of three each is forgotten, then another one."""
    expected = Expected(empty, small_dumps())
    orders = [order for names in FAMILIES.values() for order in permutations(names)]
    cases = [(order, gone) for order in orders for gone in permutations(order, 2)]
    found = {
        (order, gone): expected.left(order, *gone) for order, gone in cases[::share]
    }
    found |= {
        (order, gone[:1]): expected.left(order, *gone[:1])
        for order, gone in cases[::share]
    }
    assert {case: lines for case, lines in found.items() if lines} == {}
