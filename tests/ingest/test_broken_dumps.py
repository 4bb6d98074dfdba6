"""Every small dump, broken in every way: refused or rejected with what, where and what
to do; nothing stays half.

What is proven here of all formats is not tried again among the tests of each; those
hold what a format says of its own.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.campaign.units import Unit, units
from tests.importers import test_chat_benchmarks, test_code_benchmarks, test_olmes
from tests.support.broken import (
    SAME,
    UNNAMED,
    WAYS,
    change_at_random,
    copy_of,
    has_values,
    read_or_refused,
    swap_a_value,
    targets_of,
    told,
)
from warehouse.ingest.pipeline import ingest
from warehouse.ingest.report import IngestReport
from warehouse.store.connection import Store
from warehouse.store.load import source_ledger
from warehouse.store.load.state import LoadOptions
from warehouse.store.open import open_store
from warehouse.store.schema.migrate import check
from warehouse.testing.contents import Contents, contents, differences

#: Sources of each group of shipped dumps; a mapping is none.
UNITS = {
    name: [unit for unit in group if unit.mapping not in unit.files]
    for name, group in units(None).items()
}
#: Formats of which no dump is shipped, and who writes one.
BUILT: dict[str, Callable[[Path], object]] = {
    "alpaca_eval": test_chat_benchmarks.alpaca,
    "evalplus": test_code_benchmarks.evalplus,
    "livecodebench": test_code_benchmarks.livecodebench,
    "olmes": test_olmes.arc,
    "promptfoo, a quiz": test_chat_benchmarks.quiz,
}
#: Changes at random of each group of dumps, of JSON three of four of a value in it;
#: `make campaign` has thousands.
TURNS = 60


def changed_at_random(group: list[Unit], folder: Path, turns: int = TURNS) -> set[str]:
    """Read sources again and again, each time with one file changed at random; what
    became of them."""
    outcomes = set()
    for number in range(turns):
        unit = group[number % len(group)]
        rng = random.Random(f"{unit.group} {number}")
        targets = targets_of(unit, copy_of(unit, folder))
        with_values = [path for path in targets if has_values(path)]
        if with_values and number % 4:
            way = swap_a_value(rng.choice(with_values), rng)
        else:
            way = change_at_random(rng.choice(targets), rng)
        with told(unit, way, number):
            outcomes.add(read_or_refused(folder, unit))
    return outcomes


@pytest.mark.parametrize("group", UNITS)
def test_a_dump_that_is_changed_at_random_is_read_or_refused_in_words(
    group: str, tmp_path: Path
) -> None:
    outcomes = changed_at_random(UNITS[group], tmp_path / "dump")
    assert len(outcomes) > 1, "nothing that was broken was noticed"


@pytest.mark.parametrize("name", BUILT)
def test_so_is_one_of_a_format_of_which_none_is_shipped(
    name: str, tmp_path: Path
) -> None:
    (tmp_path / "built").mkdir()
    BUILT[name](tmp_path / "built")
    files = sorted(path for path in (tmp_path / "built").rglob("*") if path.is_file())
    unit = Unit(name, tmp_path / "built", tuple(files))
    assert len(changed_at_random([unit], tmp_path / "dump")) > 1


# --- in a store -------------------------------------------------------------------------------------


def load(store: Store, folder: Path, unit: Unit) -> IngestReport:
    options = LoadOptions(max_rejected=1000)
    return ingest(
        store, [folder], defaults=UNNAMED, mapping=unit.mapping, options=options
    )


def scores_of(store: Store) -> list[tuple[object, ...]]:
    """What the samples of a dump give, which no order may change."""
    rows = store.rows(
        "select model, benchmark, metric, n_prompts, estimate from score_summary"
    )
    for row in rows:
        if row["estimate"] is not None:
            row["estimate"] = round(row["estimate"], 9)
    return sorted((tuple(row.values()) for row in rows), key=str)


def assert_clear_report(report: IngestReport, folder: Path, unit: Unit) -> None:
    """Each refusal names a file, and blames no importer."""
    for item in report.refused:
        error = item.error or ""
        assert str(folder) in error or str(unit.mapping) in error, error
        assert "; " in error and "defect" not in error and "Traceback" not in error, (
            error
        )


def take_back(store: Store, report: IngestReport, empty: Contents) -> None:
    """Nothing stays of what was refused, and no more of what was loaded once it is
    forgotten."""
    loaded = [item for item in report.sources if item.state != "refused"]
    for item in loaded:
        source_ledger.forget(store, str(item.source_id))
    assert differences(contents(store), empty) == []
    assert store.rows("select state from source where state <> 'refused'") == []


def load_broken(store: Store, unit: Unit, ways: list[str], folder: Path) -> None:
    """One way after the other in one store, and at last the dump as it was: it is
    loaded as if nothing had been."""
    empty = contents(store)
    turned_round = {}
    for way in ways:
        targets = targets_of(unit, copy_of(unit, folder))
        WAYS[way](folder, targets, random.Random(f"{unit.group} {way}"))
        with told(unit, way):
            report = load(store, folder, unit)
            assert_clear_report(report, folder, unit)
            if way in SAME and not (
                report.refused or report.unread or report.all_notes
            ):
                turned_round[way] = scores_of(store)
            take_back(store, report, empty)
    copy_of(unit, folder)
    report = load(store, folder, unit)
    assert {item.state for item in report.sources} == {"loaded"}, [
        item.error for item in report.refused
    ]
    assert check(store, deep=True).ok
    scores = scores_of(store) if turned_round else []
    assert turned_round == dict.fromkeys(turned_round, scores)


#: Once these were failures of importers.
FOUND = {
    "fixtures/evalscope": ["a number for a line"],
    "fixtures/nemo_evaluator": ["null before"],
    "fixtures/promptfoo": ["keys in another order"],
}


def cases() -> list[object]:
    """Every third dump in one way, and those that once failed in theirs; all in all
    ways at leisure: what a load leaves does not depend on the format, and in what words
    it is refused is tried of each above."""
    found: list[object] = []
    names = list(WAYS)
    for place, group in enumerate(UNITS):
        usual = FOUND.get(group, [])
        if place % 3 == 0:
            usual = [names[place % len(names)], *usual]
        if usual:
            found.append(pytest.param(group, usual, id=f"{group}: {', '.join(usual)}"))
        found.append(
            pytest.param(group, names, marks=pytest.mark.slow, id=f"{group}: all")
        )
    return found


@pytest.mark.parametrize(("group", "ways"), cases())
def test_a_broken_dump_leaves_nothing_half_and_is_loaded_once_it_is_mended(
    store_url: str, group: str, ways: list[str], tmp_path: Path
) -> None:
    with open_store(store_url, write=True) as store:
        load_broken(store, UNITS[group][0], ways, tmp_path / "dump")
