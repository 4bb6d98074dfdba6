"""Prices of a million tokens, by model and date: read from a table of the user's, kept
in the store."""

from __future__ import annotations

import csv
import io
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from warehouse.errors import InputError, refuse_unknown
from warehouse.records.own_files import own_text
from warehouse.store.alchemy import sa
from warehouse.store.connection import Store
from warehouse.store.load.dimensions import allocate
from warehouse.store.schema.later import tables
from warehouse.store.sql.query_files import query_text

#: Columns that a file of prices has; those after the fourth may be left out.
COLUMNS = (
    "model",
    "date",
    "input",
    "output",
    "cached",
    "cache_write",
    "reasoning",
    "until",
)
_EXPECTED = (
    "a header "
    "model,date,input,output[,cached][,cache_write][,reasoning][,until][,currency] and "
    "a row for each model and date"
)


@dataclass(frozen=True)
class Price:
    """The price of a million tokens of a model from a date on, in US dollars."""

    model: str  #: its name, as a dump has it or as the store shows it.
    date: datetime  #: from when on; ``until`` or the next price of the model ends it.
    input: float  #: of the prompt.
    output: float  #: of the response.
    cached: float | None = None  #: of input that was cached; None: as other input.
    #: of output that is reasoning; None: as other output.
    reasoning: float | None = None
    #: the first moment at which it holds no more; None: it goes on.
    until: datetime | None = None
    #: of input that was written into a cache; None: as other input.
    cache_write: float | None = None


@dataclass(frozen=True)
class StoredPrice(Price):
    """A price in a store; ``n_runs`` counts the current runs that cost is computed of
    by it."""

    n_runs: int = 0


def read_prices(path: str | Path) -> list[Price]:
    """Prices from a CSV file (InputError: it cannot be read, or a row is no price;
    names the line)."""
    path = Path(path)
    try:
        text = own_text(path, _EXPECTED)
        prices = list(_prices(csv.DictReader(io.StringIO(text, newline="")), str(path)))
    except csv.Error as error:
        raise InputError(
            f"cannot be read: {error}", path=str(path), expected=_EXPECTED
        ) from None
    if not prices:
        raise InputError("no rows", path=str(path), expected=_EXPECTED)
    return prices


def put_prices(store: Store, prices: Sequence[Price]) -> None:
    """Store prices; one of the same model and date is replaced.

    Args:
        store: open for writing.
        prices: no two of one model and date.
    """
    price = tables.price
    with store.changing_catalogue() as connection:
        first = allocate(connection, "price", len(prices))
        for number, item in enumerate(prices):
            same = (price.c.model == item.model) & (price.c.valid_from == item.date)
            connection.execute(sa.delete(price).where(same))
            connection.execute(
                sa.insert(price).values(
                    id=first + number,
                    model=item.model,
                    valid_from=item.date,
                    input_price=item.input,
                    output_price=item.output,
                    cached_price=item.cached,
                    reasoning_price=item.reasoning,
                    valid_until=item.until,
                    cache_write_price=item.cache_write,
                )
            )


def stored_prices(store: Store) -> list[StoredPrice]:
    """All prices, by model and date."""
    return [StoredPrice(**row) for row in store.rows(query_text("store", "prices"))]


def models_without_price(store: Store) -> list[str]:
    """Models of which tokens are stored, and neither their cost nor a price of the day."""
    return [
        str(row["model"])
        for row in store.rows(query_text("store", "models_without_price"))
    ]


def _prices(rows: csv.DictReader[str], path: str) -> Iterator[Price]:
    lacking = [name for name in COLUMNS[:4] if name not in (rows.fieldnames or ())]
    if lacking:
        found = (
            f"no column {lacking[0]}; there are: "
            f"{', '.join(rows.fieldnames or ()) or 'none'}"
        )
        raise InputError(found, path=path, place="line 1", expected=_EXPECTED)
    known = (*COLUMNS, "currency")
    refuse_unknown(rows.fieldnames or (), known, path)
    seen = defaultdict[str, list[Price]](list)
    for row in rows:
        line = f"line {rows.line_num}"
        if None in row:
            found = f"{len(rows.fieldnames or ()) + len(row[None])} cells"
            raise InputError(
                found,
                path=path,
                place=line,
                expected=f"{len(rows.fieldnames or ())}, as the header has",
            )
        price = _price(row, path, line)
        for other in seen[price.model]:
            first, second = sorted((other, price), key=lambda item: item.date)
            if first.date == second.date or (
                first.until is not None and first.until > second.date
            ):
                found = (
                    f"a second price of {price.model} from {second.date:%Y-%m-%d} on"
                )
                raise InputError(found, path=path, place=line, expected="one")
        seen[price.model].append(price)
        yield price


def _price(row: Mapping[str, str | None], path: str, line: str) -> Price:
    model = (row["model"] or "").strip()
    if not model:
        raise InputError(
            "no model", path=path, place=line, expected="the name of a model"
        )
    if (currency := (row.get("currency") or "").strip().upper()) not in ("", "USD"):
        raise InputError(
            f"prices in {currency}", path=path, place=line, expected="US dollars"
        )
    day, until = (_day(row.get(name), name, path, line) for name in ("date", "until"))
    if day is None or (until is not None and until <= day):
        if day is None:
            found, expected = ("no date", "YYYY-MM-DD")
        else:
            found = f"until {until:%Y-%m-%d}"
            expected = "a day after its date"
        raise InputError(found, path=path, place=line, expected=expected)
    amounts = {}
    for name in COLUMNS[2:7]:
        amounts[name] = _amount(row.get(name), name, path, line)
    for name in COLUMNS[2:4]:
        if amounts[name] is None:
            raise InputError(
                f"no price of {name}",
                path=path,
                place=line,
                expected="US dollars for a million tokens; 0 if free",
            )
    per_token = amounts["input"] or 0.0, amounts["output"] or 0.0
    return Price(
        model,
        day,
        *per_token,
        amounts["cached"],
        amounts["reasoning"],
        until,
        cache_write=amounts["cache_write"],
    )


def _day(text: str | None, name: str, path: str, line: str) -> datetime | None:
    if not (text or "").strip():
        return None
    try:
        day = datetime.fromisoformat((text or "").strip())
    except ValueError:
        raise InputError(
            f"{name} {text!r}", path=path, place=line, expected="YYYY-MM-DD"
        ) from None
    if day.tzinfo is None:
        return day
    return day.astimezone(UTC).replace(tzinfo=None)


def _amount(text: str | None, name: str, path: str, line: str) -> float | None:
    text = (text or "").strip().removeprefix("$")
    if not text:
        return None
    try:
        amount = float(text)
    except ValueError:
        amount = math.nan
    if not 0 <= amount < math.inf:
        raise InputError(
            f"{name} {text!r}",
            path=path,
            place=line,
            expected="US dollars for a million tokens",
        )
    return amount
