"""Types of the server engine that have no form outside it: their columns come as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from warehouse.store.alchemy import sa
from warehouse.store.sql.bind_parameters import rename_binds

#: Types by number that Arrow, JSON and a table can hold.
_PLAIN = frozenset(
    {
        16,
        17,
        20,
        21,
        23,
        26,
        700,
        701,
        1700,  # bool, bytea, int8, int2, int4, oid, floats, numeric
        18,
        19,
        25,
        1042,
        1043,
        114,
        3802,  # char, name, text, bpchar, varchar, json, jsonb
        1000,
        1005,
        1007,
        1016,
        1009,
        1015,
        1021,
        1022,  # arrays of bool, int, text, varchar, float
    }
)
#: Dates and times, which the server has beyond the years 1 to 9999, and infinite.
_TIMES = frozenset({1082, 1114, 1184})


def printable(connection: sa.Connection, sql: str, params: Mapping[str, Any], times_too: bool) -> str:
    """The SELECT with columns of other types cast to text.

    Asks the server for the types by a query without rows. Where that fails the text comes back
    unchanged, and its own error tells the user what is wrong with it.
    """
    import psycopg

    raw: Any = connection.connection.driver_connection
    text, used = rename_binds(f"select * from (\n{sql}\n) as q limit 0".replace("%", "%%"), "%(")
    values = {name: params[name] for name in used if name in params}
    try:
        with raw.cursor() as cursor:
            cursor.execute(text if used else text.replace("%%", "%"), values or None)
            columns = [(column.name, column.type_code) for column in cursor.description or ()]
    except psycopg.Error:
        connection.rollback()
        return sql
    plain = _PLAIN if times_too else _PLAIN | _TIMES
    if all(kind in plain for _, kind in columns):
        return sql
    return _cast(sql, [(name, kind in plain) for name, kind in columns])


def _cast(sql: str, columns: list[tuple[str, bool]]) -> str:
    inner = ", ".join(f"c{number}" for number in range(len(columns)))
    outer = ", ".join(
        "{} as {}".format(f"c{number}" if is_plain else f"cast(c{number} as text)", '"' + name.replace('"', '""') + '"')
        for number, (name, is_plain) in enumerate(columns)
    )
    return f"select {outer} from (\n{sql}\n) as q({inner})"
