"""``:name`` parameters in SQL text: finding them, and writing them as an engine's driver does."""

from __future__ import annotations

import re
from collections.abc import Callable

_TOKEN = re.compile(
    r"""'(?:[^']|'')*'        # text in quotes
      | "(?:[^"]|"")*"        # a quoted name
      | --[^\n]*              # a comment to the end of the line
      | /\*.*?\*/             # a comment in brackets
      | ::                    # a cast
      | :(?P<name>[A-Za-z_]\w*)""",
    re.VERBOSE | re.DOTALL,
)


def bind_names(sql: str) -> tuple[str, ...]:
    """Names of the parameters of a statement, in order of first use.

    >>> bind_names("select ':a', :b::text, :c -- :d")
    ('b', 'c')
    """
    found = (match.group("name") for match in _TOKEN.finditer(sql))
    return tuple(dict.fromkeys(name for name in found if name))


def rename_binds(sql: str, style: str) -> tuple[str, tuple[str, ...]]:
    """Write the parameters as ``$name`` (style ``"$"``) or ``%(name)s`` (style ``"%("``).

    Returns:
        the text and the names it uses.
    """
    form = "%({})s" if style == "%(" else "${}"
    return replace_binds(sql, form.format), bind_names(sql)


def replace_binds(sql: str, written: Callable[[str], str]) -> str:
    """The text with every parameter written as a function of its name says.

    >>> replace_binds("select ':a', :b", str.upper)
    "select ':a', B"
    """
    return _TOKEN.sub(
        lambda match: written(match.group("name")) if match.group("name") else match.group(0), sql
    )
