"""Our SQL in the words of Spark: quotes, literals, and the few things that it says
otherwise."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any

from warehouse.errors import MisuseError
from warehouse.store.sql.bind_parameters import bare_text, replace_binds, replace_quoted

#: A recursion that only counts: ``step as (select 0 as j union all select j + 1 as j
#: from step where j < 199)``.
_COUNTING = re.compile(
    r"\brecursive\s+(?P<name>\w+)\s+as\s*\(\s*select\s+(?P<first>\d+)\s+as\s+(?P<column>\w+)\s+union\s+all\s+"
    r"select\s+(?P=column)\s*\+\s*1\s+as\s+(?P=column)\s+from\s+(?P=name)\s+where\s+(?P=column)\s*<\s*(?P<last>\d+)\s*\)",
    re.IGNORECASE,
)
#: What these engines decide by themselves.
_MATERIALIZED = re.compile(r"\bas\s+materialized\s*\(", re.IGNORECASE)
_CAST = re.compile(r"\bcast\s*\(", re.IGNORECASE)
_TYPE = re.compile(r"\bas\s+(text|varchar|double\s+precision)\s*$", re.IGNORECASE)
_BRACKETS = re.compile(r"[()]|'(?:[^'\\]|\\.)*'|`[^`]*`", re.DOTALL)
_BRACKETS_AND_COMMAS = re.compile(rf"{_BRACKETS.pattern}|,", re.DOTALL)
_CORR = re.compile(r"\bcorr\s*\(", re.IGNORECASE)
_POSITION = re.compile(r"\bstrpos\s*\(", re.IGNORECASE)
#: A named window before a minus, which would be taken for a name with a hyphen.
_WINDOW = re.compile(
    r"'(?:[^'\\]|\\.)*'|`[^`]*`|\bover\s+\w+\s*(-)(?!-)", re.DOTALL | re.IGNORECASE
)
#: A comparison with the empty text, seven times as slow as that of lengths on Sail.
_UNPERTURBED = re.compile(
    r"'(?:[^'\\]|\\.)*'|`[^`]*`|((?:\b\w+\.)?\bperturbation)\s*=\s*''", re.DOTALL
)
_FIRST_WORD = re.compile(r"(?:\s|--[^\n]*\n|/\*.*?\*/|\()*(\w+)", re.DOTALL)
#: Relations that are files, and functions that reach out or run what they are given.
_FILES = re.compile(
    r"\b(parquet|delta|csv|json|text|orc|avro|arrow|xml|binaryfile|iceberg|hudi|jdbc|image|vortex)\s*\.\s*[\w/.]",
    re.IGNORECASE,
)
_PATH = re.compile(r"\.\s*[`\"][^`\"]*[/\\:]")
_FUNCTIONS = re.compile(
    r"\b(read_\w+|java_method|reflect|try_reflect|http_request|ai_query|remote_query|input_file_name"
    r"|current_database|from_csv_file|secret|try_secret|cloud_files_state)\s*\(",
    re.IGNORECASE,
)


def translated(sql: str, params: Mapping[str, Any]) -> str:
    """A SELECT with its values written into it, as Spark reads it."""

    def value_of(name: str) -> str:
        return _literal_of(params[name])

    text = replace_binds(sql, value_of)
    text = replace_quoted(text, literal, quoted)
    text = _MATERIALIZED.sub("as (", _COUNTING.sub(_range, text))
    text = _WINDOW.sub(_with_plus_minus, text)
    text = _UNPERTURBED.sub(_by_length, text)
    return _with_stable_corr(_POSITION.sub("instr(", _with_types(text)))


def _with_plus_minus(match: re.Match[str]) -> str:
    if match[1]:
        return match[0].removesuffix("-") + "+ -"
    return match[0]


def _by_length(match: re.Match[str]) -> str:
    if match[1]:
        return f"octet_length({match[1]}) = 0"
    return match[0]


def quoted(name: str) -> str:
    """A name in the quotes of Spark."""
    return "`" + name.replace("`", "``") + "`"


def literal(text: str) -> str:
    """A text in the quotes of Spark, where a backslash and what follows mean something
    else."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def require_reading(sql: str) -> None:
    """Refuse a text that is no SELECT, or that reaches for files (MisuseError: says
    what)."""
    word = _FIRST_WORD.match(sql)
    if word is None or word.group(1).lower() not in (
        "select",
        "with",
        "values",
        "table",
    ):
        raise MisuseError(
            "expected one SELECT; query connections cannot change anything"
        )
    if _PATH.search(sql) or _FILES.search(bare_text(sql).replace("`", "")):
        raise MisuseError(
            "a query of a lake may not read files by their path; its tables have names"
        )
    if call := _FUNCTIONS.search(bare_text(sql)):
        raise MisuseError(
            f"a query may not call {call[1].lower()}: it does more than read the lake"
        )


def _range(match: re.Match[str]) -> str:
    numbers = (
        f"select cast(id as int) as {match['column']} from range({match['first']}, "
        f"{int(match['last']) + 1})"
    )
    return f"{match['name']} as ({numbers})"


def _with_types(text: str) -> str:
    """The text with the types of its casts under the names that Spark has for them."""
    parts, end = [], 0
    for start in _CAST.finditer(text):
        closing = _closing(text, start.end())
        if not closing:
            continue
        match = _TYPE.search(text, start.end(), closing)
        if match is None:
            continue
        kind = "string"
        if match[1][0] in "dD":
            kind = "double"
        parts.append((match.start(1), match.end(1), kind))
    pieces = []
    for first, last, name in sorted(parts):
        pieces += [text[end:first], name]
        end = last
    return "".join([*pieces, text[end:]])


def _with_stable_corr(text: str) -> str:
    """Correlations from centred sums: an engine's own may lose half the digits of
    values far from 0."""
    if match := _CORR.search(text):
        closing = _closing(text, match.end())
        comma = _comma(text, match.end(), closing)
        a = text[match.end() : comma].strip()
        b = text[comma + 1 : closing].strip()
        stable = (
            f"(covar_pop({a}, {b}) / nullif(sqrt(var_pop({a})) * sqrt(var_pop({b})), "
            "0))"
        )
        rest = _with_stable_corr(text[closing + 1 :])
        return text[: match.start()] + stable + rest
    return text


def _comma(text: str, start: int, end: int) -> int:
    """The comma between two arguments that stand at a place."""
    depth = 0
    for match in _BRACKETS_AND_COMMAS.finditer(text, start, end):
        depth += {"(": 1, ")": -1}.get(match.group(), 0)
        if match.group() == "," and not depth:
            return match.start()
    return end


def _closing(text: str, start: int) -> int:
    """Where the bracket that was opened before a place is closed; 0: nowhere."""
    depth = 1
    for match in _BRACKETS.finditer(text, start):
        depth += {"(": 1, ")": -1}.get(match.group(), 0)
        if not depth:
            return match.start()
    return 0


def _literal_of(value: Any) -> str:
    """A value as our SQL writes it; texts and names are written for Spark later."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        if value:
            return "true"
        return "false"
    if isinstance(value, int):
        return f"({value})"
    if isinstance(value, float):
        return f"cast('{value!r}' as double)"
    if isinstance(value, datetime):
        moment = value
        if value.tzinfo:
            moment = value.astimezone(UTC).replace(tzinfo=None)
        return f"cast('{moment.isoformat(sep=' ')}' as timestamp)"
    if isinstance(value, date):
        return f"cast('{value.isoformat()}' as date)"
    return "'" + str(value).replace("'", "''") + "'"
