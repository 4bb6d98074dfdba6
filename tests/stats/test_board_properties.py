"""What must not change what is found of a board: the order of rows and columns, columns
of texts, the scale of figures."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.boards import audited, made, names, printed, scores
from warehouse.stats.board.audit import audit_board
from warehouse.stats.board.cells import parse_figure
from warehouse.stats.board.table import make_board

Found = set[tuple[object, ...]]


def table_of(seed: int) -> dict[str, list[str]]:
    """A board with an average, one wrong cell of it, a wrong share and a gap."""
    columns = scores(24, (500, 400, 250, 164), seed)
    average = np.mean(list(columns.values()), axis=0)
    table = {name: printed(values, 2) for name, values in columns.items()}
    table["Average"] = printed(average, 2)
    rng = np.random.default_rng(seed)
    table["Average"][rng.integers(24)] = "12.34"
    table["task D"][rng.integers(24)] = "30.07"
    table["task B"][rng.integers(24)] = ""
    return table


def found_of(table: dict[str, list[str]], entries: list[str]) -> Found:
    """Findings by the names of their entries, but for those of the order."""
    found = audited(table, entries)
    return {
        (
            one.grade,
            one.rule,
            frozenset(entries[row] for row in one.entries),
            one.column,
        )
        for one in found.findings
        if one.rule != "B7"
    }


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_order_of_rows_and_columns_changes_nothing(seed: int) -> None:
    table, entries = table_of(seed), names(24)
    expected = found_of(table, entries)
    assert any(grade == "wrong" for grade, *_ in expected)
    order = np.random.default_rng(seed).permutation(24)
    rows = {name: [texts[row] for row in order] for name, texts in table.items()}
    assert found_of(rows, [entries[row] for row in order]) == expected
    # blocks stay together, in which the mean of neighbours is looked for
    turned = dict(reversed(table.items()))
    assert found_of(turned, entries) == expected


@settings(max_examples=8, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    words=st.lists(st.text(max_size=8), min_size=24, max_size=24),
)
def test_a_column_of_texts_changes_nothing(seed: int, words: list[str]) -> None:
    table, entries = table_of(seed), names(24)
    texts = [f"w{word}" for word in words]
    assert found_of(table | {"remark": texts}, entries) == found_of(table, entries)


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_shares_are_as_per_cent(seed: int) -> None:
    table, entries = table_of(seed), names(24)
    shares = {
        name: [text and f"{float(text) / 100:.4f}" for text in texts]
        for name, texts in table.items()
    }
    assert found_of(shares, entries) == found_of(table, entries)


@given(st.decimals(-1000, 1000, places=3))
def test_what_was_printed_is_read(number: object) -> None:
    figure = parse_figure(f"{number}")
    assert figure is not None
    assert f"{float(figure.value):.3f}" == f"{float(str(number)):.3f}"


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_texts_are_a_board(data: st.DataObject) -> None:
    n_rows, n_columns = data.draw(st.integers(0, 12)), data.draw(st.integers(0, 5))
    odd = st.sampled_from(
        ["", "–", "N/A", "71.4", "71.4 %", "1,234", "0", "1", "100", "-5", "1e9", "nan"]
        + ["58 / 130", "**3.2**", "71,4", "2025-13-45", "0.5", "x", "7B/z"]
    )
    cell = st.one_of(odd, st.text(max_size=6))
    columns = {}
    for place in range(n_columns):
        kind = data.draw(
            st.sampled_from(["acc", "acc_stderr", "n", "cost", "date", "k"])
        )
        columns[f"{kind}{place or ''}"] = data.draw(
            st.lists(cell, min_size=n_rows, max_size=n_rows)
        )
    entries = data.draw(st.lists(st.text(max_size=5), min_size=n_rows, max_size=n_rows))
    found = audit_board(make_board(entries, columns))
    assert found.n_figures >= 0


def test_a_board_of_nothing() -> None:
    assert audit_board(make_board([], {})).findings == ()
    assert audit_board(made({"a": ["1"]}, ["x"])).n_figures == 0
