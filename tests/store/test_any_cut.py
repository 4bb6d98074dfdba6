"""One table, cut into files in any way, in any order, with runs taken back in between:
the same store."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.support.stores import empty_store
from warehouse.importers.base import batch_of
from warehouse.records import Dump, RunHeader
from warehouse.store.curate import catalogue
from warehouse.store.load import source_ledger
from warehouse.store.load.state import LoadOptions
from warehouse.store.schema.migrate import check

pytestmark = [pytest.mark.engine]

MODELS, STEPS, PROMPTS, DRAWS = ("ada", "bob"), (100, 200), ("p", "q", "r"), (0, 1)
#: Model, step of its training, prompt and draw of a row; its score follows from these.
Place = tuple[str, int, str, int]
ROWS: list[Place] = [
    (model, step, prompt, draw)
    for model in MODELS
    for step in STEPS
    for prompt in PROMPTS
    for draw in DRAWS
]
#: Rows of one file, by the run that they are of.
File = tuple[Place, ...]

_RUNS = """
select run.recorded_key, run.content_digest, newer.content_digest as newer, run.status,
    cast(run.marks as varchar) as marks, run.n_found, run.n_scores
from run
left join run as newer on newer.id = run.superseded_by
"""
_LINKS = """
select source.path, run.recorded_key, run.content_digest, newer.content_digest as newer
from run_source
join run on run.id = run_source.run_id
join source on source.id = run_source.source_id
left join run as newer on newer.id = run_source.superseded_by
"""
_FIGURES = "select model, checkpoint, metric, estimate, n_prompts from score_summary"


def name_of(number: int) -> str:
    return f"cut_{number}.json"


def score_of(place: Place) -> float:
    return float(sha256(repr(place).encode()).digest()[0] % 2)


@st.composite
def cuts(draw: st.DrawFn, *, is_growing: bool) -> list[File]:
    """Files that hold all rows: each its own part, by models, steps, prompts, draws or
    at random; or each also all that the one before it holds."""
    by = draw(st.sampled_from(("model", "step", "prompt", "draw", "any")))
    n_files = draw(st.integers(2, 4))
    parts: dict[Any, list[Place]] = defaultdict(list)
    for place in ROWS:
        key = (
            draw(st.integers(0, n_files - 1))
            if by == "any"
            else place[("model", "step", "prompt", "draw").index(by)]
        )
        parts[key].append(place)
    files = [tuple(places) for places in parts.values()]
    if is_growing:
        files = [
            tuple(place for part in files[: number + 1] for place in part)
            for number in range(len(files))
        ]
    return files


def load(kit: Any, number: int, file: File, run_id: str | None) -> None:
    """A source of the rows of a file, one run for each model and step."""
    runs: dict[tuple[str, int], list[Place]] = defaultdict(list)
    for place in file:
        runs[place[:2]].append(place)
    headers, rows = [], []
    for index, ((model, step), places) in enumerate(runs.items()):
        headers.append(
            RunHeader(
                harness="tool", model=model, benchmark="quiz", step=step, run_id=run_id
            )
        )
        for place in places:
            scores = [{"metric": "acc", "value": score_of(place)}]
            rows.append(
                {
                    "run": index,
                    "prompt_id": place[2],
                    "draw": place[3],
                    "scores": scores,
                }
            )
    claim = kit.claim(name_of(number), sha256=sha256(f"{number}".encode()).hexdigest())
    kit.loader.load(
        Dump(tuple(headers), batches=[batch_of(rows)]), claim, LoadOptions()
    )


def picture(kit: Any) -> list[list[str]]:
    assert check(kit.store).ok
    found = (kit.store.rows(sql) for sql in (_RUNS, _LINKS, _FIGURES))
    return [sorted(json.dumps(row, default=str) for row in rows) for rows in found]


def disturb(
    kit: Any,
    done: Sequence[int],
    files: Sequence[File],
    run_id: str | None,
    chosen: int,
) -> None:
    """Take something out, and give it back."""
    number = done[chosen % len(done)]
    if chosen % 2:
        source_ledger.forget(kit.store, name_of(number))
        load(kit, number, files[number], run_id)
        return
    runs = kit.all("select run_id from run_current order by run_id")
    name = f"run:{runs[chosen % len(runs)][0]}"
    catalogue.invalidate(kit.store, name, "to be looked at")
    catalogue.validate(kit.store, name)


#: Opens an empty store with its loader.
Opener = Callable[[], AbstractContextManager[Any]]


@pytest.fixture(params=["duckdb", "postgresql"])
def open_empty(request: pytest.FixtureRequest, open_kit: Any) -> Opener:
    @contextmanager
    def opened() -> Iterator[Any]:
        with empty_store(request, request.param) as url, open_kit(url) as kit:
            yield kit

    return opened


RARE = [pytest.mark.rare, pytest.mark.timeout(600)]
SLOW = [pytest.mark.slow, pytest.mark.timeout(3600)]
#: Engine, id of the tool, whether each file holds all before it, examples. An id stands
#: for a training: its checkpoints and both models share it.
CASES = [
    pytest.param("duckdb", "exp1", True, 1),
    pytest.param("postgresql", "exp1", False, 1),
    pytest.param("duckdb", "exp1", False, 2, marks=RARE),
    pytest.param("postgresql", None, False, 1, marks=RARE),
    pytest.param("duckdb", None, True, 1, marks=RARE),
    pytest.param("duckdb", "exp1", True, 100, marks=SLOW),
    pytest.param("postgresql", "exp1", True, 100, marks=SLOW),
    pytest.param("postgresql", "exp1", False, 12, marks=SLOW),
    pytest.param("duckdb", None, False, 12, marks=SLOW),
    pytest.param("postgresql", None, True, 12, marks=SLOW),
]


@pytest.mark.parametrize(
    ("open_empty", "run_id", "is_growing", "n_examples"), CASES, indirect=["open_empty"]
)
def test_files_in_any_order_make_the_same_store(
    open_empty: Opener, run_id: str | None, is_growing: bool, n_examples: int
) -> None:
    @settings(
        max_examples=n_examples, deadline=None, phases=[Phase.explicit, Phase.generate]
    )
    @given(data=st.data())
    def tried(data: st.DataObject) -> None:
        files = data.draw(cuts(is_growing=is_growing))
        pictures = []
        for _ in range(2):
            order = data.draw(st.permutations(range(len(files))))
            disturbances = data.draw(
                st.lists(st.integers(0, 99), min_size=len(files), max_size=len(files))
            )
            with open_empty() as kit:
                for place, number in enumerate(order):
                    load(kit, number, files[number], run_id)
                    if disturbances[place] % 3 == 0:
                        disturb(
                            kit, order[: place + 1], files, run_id, disturbances[place]
                        )
                pictures.append(picture(kit))
        assert pictures[0] == pictures[1]

    tried()
