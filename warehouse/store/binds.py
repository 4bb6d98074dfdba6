"""``:name`` parameters in SQL text: finding them, and writing them as an engine's driver does."""

from __future__ import annotations

import re

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

    def written(match: re.Match[str]) -> str:
        name = match.group("name")
        if not name:
            return match.group(0)
        return f"%({name})s" if style == "%(" else f"${name}"

    return _TOKEN.sub(written, sql), bind_names(sql)
