"""What tokens cost: prices read from a table, the price of the day, and what is unknown
stays so."""

from __future__ import annotations

import math
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from warehouse.analysis.frontier.costs import cost_source, read_costs
from warehouse.errors import InputError
from warehouse.store.curate.prices import (
    Price,
    models_without_price,
    put_prices,
    read_prices,
    stored_prices,
)

HEADER = "model,date,input,output,cached\n"
LONG = "model,date,until,input,output,reasoning,currency\n"


def _load(kit: Any, day: int, **tokens: Any) -> None:
    row = kit.row("a", 1.0, response=f"x{day}", **tokens)
    kit.load(kit.header(str(day), started_at=datetime(2026, 3, day)), [row])


def test_the_price_of_the_day_counts(kit: Any, whole: Any) -> None:
    _load(kit, 1, input_tokens=1000, output_tokens=10)
    _load(kit, 10, input_tokens=1000, output_tokens=20)
    put_prices(
        kit.store,
        [
            Price("org/a", datetime(2026, 3, 5), 2.0, 8.0),
            Price("org/a", datetime(2026, 3, 20), 1, 1),
        ],
    )
    columns = "n_priced, priced_cost, price_date, n_unknown, cost"
    rows = kit.all(f"select {columns} from run_cost order by run_id")
    assert rows[0] == (0, None, None, 1, None)  # no price held yet
    cost = (1000 * 2 + 20 * 8) / 1e6
    assert rows[1] == (
        1,
        pytest.approx(cost),
        datetime(2026, 3, 5),
        0,
        pytest.approx(cost),
    )
    assert models_without_price(kit.store) == ["org/a"]
    assert [(item.date.day, item.n_runs) for item in stored_prices(kit.store)] == [
        (5, 1),
        (20, 0),
    ]


def test_cached_tokens_have_their_own_price_and_what_is_recorded_stays(
    kit: Any,
) -> None:
    _load(kit, 6, input_tokens=1000, output_tokens=0, transcript={"cached_tokens": 800})
    _load(kit, 7, input_tokens=1000, output_tokens=5, cost=0.5)
    _load(kit, 8, input_tokens=1000)  # output unknown
    put_prices(kit.store, [Price("org/a", datetime(2026, 1, 1), 2.0, 8.0, 0.5)])
    rows = kit.all(
        "select n_recorded, n_priced, n_unknown, cost from run_cost order by run_id"
    )
    priced = pytest.approx((200 * 2 + 800 * 0.5) / 1e6)
    assert rows == [(0, 1, 0, priced), (1, 0, 0, 0.5), (0, 0, 1, None)]


def test_input_that_was_written_into_a_cache_has_its_own_price(kit: Any) -> None:
    tokens = {"cached_tokens": 100, "cache_write_tokens": 600}
    _load(kit, 6, input_tokens=1000, output_tokens=10, transcript=tokens)
    put_prices(kit.store, [Price("org/a", datetime(2026, 1, 1), 2.0, 8.0, 0.5)])
    assert kit.all("select priced_cost from run_cost")[0][0] == pytest.approx(
        (900 * 2 + 100 * 0.5 + 80) / 1e6
    )
    put_prices(
        kit.store,
        [Price("org/a", datetime(2026, 1, 1), 2.0, 8.0, 0.5, cache_write=2.5)],
    )
    priced = pytest.approx((300 * 2 + 100 * 0.5 + 600 * 2.5 + 80) / 1e6)
    assert kit.all("select priced_cost from run_cost")[0][0] == priced
    assert (
        kit.all("select total from prompt_cost where cost = 'cost_priced'")[0][0]
        == priced
    )
    assert [item.cache_write for item in stored_prices(kit.store)] == [2.5]


@pytest.mark.parametrize(
    ("header", "meant"),
    [
        ("cachd", "did you mean cached?"),
        ("cach_write", "cache_write"),
        ("note", "there is none of this name"),
    ],
)
def test_a_column_of_another_name_is_refused(
    tmp_path: Path, header: str, meant: str
) -> None:
    path = tmp_path / "prices.csv"
    path.write_text(f"model,date,input,output,{header}\norg/a,2026-01-01,1,2,0.5\n")
    with pytest.raises(InputError) as error:
        read_prices(path)
    assert (
        header in str(error.value)
        and meant in str(error.value)
        and "line 1" in str(error.value)
    )


def test_a_row_with_more_cells_than_the_header_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "prices.csv"
    path.write_text("model,date,input,output\norg/a,2026-01-01,1,2,0.5\n")
    with pytest.raises(InputError, match=r"line 2: 5 cells; expected 4"):
        read_prices(path)


def test_what_a_dump_says_of_the_whole_run_stands_where_its_generations_do_not_tell(
    kit: Any,
) -> None:
    kit.load(kit.header("figures", cost=3.5, published=(kit.figure("acc", 0.5),)), [])
    kit.load(kit.header("silent", cost=2.0), [kit.row("a", 1.0, response="x")])
    kit.load(kit.header("told", cost=9.0), [kit.row("a", 1.0, response="y", cost=0.5)])
    rows = kit.all(
        "select n_generations, n_unknown, stated_cost, cost from run_cost order by "
        "run_id"
    )
    assert rows == [(0, 0, 3.5, 3.5), (1, 1, 2.0, 2.0), (1, 0, 9.0, 0.5)]


def test_a_price_ends_and_reasoning_has_its_own(kit: Any) -> None:
    for day in (6, 12, 21):
        _load(
            kit,
            day,
            input_tokens=0,
            output_tokens=100,
            transcript={"reasoning_tokens": 80},
        )
    first, second = datetime(2026, 3, 5), datetime(2026, 3, 20)
    prices = [
        Price("org/a", first, 1.0, 10.0, reasoning=2.0, until=datetime(2026, 3, 12)),
        Price("org/a", second, 1.0, 10.0),
    ]
    put_prices(kit.store, prices)
    costs = [(20 * 10 + 80 * 2) / 1e6, None, 100 * 10 / 1e6]
    assert [
        row[0] for row in kit.all("select cost from run_cost order by run_id")
    ] == pytest.approx(costs)
    (_, total), (_, missing), _ = kit.all(
        "select n_known, total from cost_summary where cost = 'cost_priced' order by "
        "run_id"
    )
    assert (total, missing) == (pytest.approx(costs[0]), None)
    assert [
        (one.date, one.until, one.reasoning) for one in stored_prices(kit.store)
    ] == [
        (first, datetime(2026, 3, 12), 2.0),
        (second, None, None),
    ]
    source = cost_source(kit.store, "dollars", "stored")
    runs = {
        run: run for (run,) in kit.all("select run_id from run_current order by run_id")
    }
    found = read_costs(kit.store, runs, source)
    assert [float(one.values[0]) for one in found.values()] == pytest.approx(
        [costs[0], math.nan, costs[2]], nan_ok=True
    )


def test_a_price_is_replaced_by_that_of_the_same_day(kit: Any) -> None:
    day = datetime(2026, 3, 5)
    put_prices(kit.store, [Price("org/a", day, 2.0, 8.0)])
    put_prices(kit.store, [Price("org/a", day, 3.0, 9.0, 1.0)])
    assert [
        (item.input, item.output, item.cached) for item in stored_prices(kit.store)
    ] == [(3.0, 9.0, 1.0)]


def test_a_file_of_prices_is_read(tmp_path: Path) -> None:
    path = tmp_path / "prices.csv"
    path.write_text(
        HEADER + "org/a,2026-03-05,$2.5,10,\norg/a,2026-04-01T02:00+02:00,2,8,0.2\n",
        encoding="utf-8",
    )
    assert read_prices(path) == [
        Price("org/a", datetime(2026, 3, 5), 2.5, 10.0),
        Price("org/a", datetime(2026, 4, 1), 2.0, 8.0, 0.2),
    ]
    path.write_text(
        LONG + "org/a,2026-03-05,2026-04-01,2,8,9,USD\norg/a,2026-04-01,,2,8,,\n",
        encoding="utf-8",
    )
    until = datetime(2026, 4, 1)
    assert read_prices(path) == [
        Price("org/a", datetime(2026, 3, 5), 2.0, 8.0, None, 9.0, until),
        Price("org/a", until, 2.0, 8.0),
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("model,date\n", "no column input"),
        (HEADER, "no rows"),
        (HEADER + "org/a,soon,1,2,\n", "date 'soon'"),
        (HEADER + "org/a,2026-01-01,,2,\n", "no price of input"),
        (HEADER + "org/a,2026-01-01,-1,2,\n", "input '-1'"),
        (HEADER + "org/a,2026-01-01,nan,2,\n", "input 'nan'"),
        (HEADER + ",2026-01-01,1,2,\n", "no model"),
        (
            HEADER + "org/a,2026-01-01,1,2,\norg/a,2026-01-01,1,3,\n",
            "a second price of org/a",
        ),
        (HEADER + "org/a,,1,2,\n", "no date"),
        (
            LONG + "org/a,2026-02-01,,1,2,,\norg/a,2026-01-01,2026-02-02,1,3,,\n",
            "a second price of org/a from 2026-02-01",
        ),
        (LONG + "org/a,2026-02-01,2026-02-01,1,2,,\n", "until 2026-02-01"),
        (LONG + "org/a,2026-02-01,,1,2,,eur\n", "prices in EUR"),
    ],
)
def test_what_is_no_price_is_refused_with_its_line(
    tmp_path: Path, text: str, found: str
) -> None:
    path = tmp_path / "prices.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_prices(path)
    assert found in str(caught.value) and "prices.csv" in str(caught.value)
