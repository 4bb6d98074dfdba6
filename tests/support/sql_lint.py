"""What SQL of ours may not say: the portable subset, held by walking syntax trees.

The subset is what DuckDB, PostgreSQL and Spark read alike and answer alike. `faults`
takes one statement and returns sentences; none means that one text serves all three.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from string import Formatter

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokens import TokenType

DIALECTS = ("duckdb", "postgres", "spark")
#: Functions that the three share (engines.md lists how that was tried).
FUNCTIONS = {
    *(
        "abs",
        "avg",
        "bool_and",
        "bool_or",
        "ceil",
        "coalesce",
        "corr",
        "count",
        "covar_pop",
        "covar_samp",
    ),
    *(
        "cume_dist",
        "dense_rank",
        "exp",
        "floor",
        "greatest",
        "lag",
        "lead",
        "least",
        "ln",
        "lower",
        "max",
        "min",
    ),
    "ntile",
    *(
        "nullif",
        "percentile_cont",
        "power",
        "rank",
        "regr_r2",
        "regr_slope",
        "round",
        "row_number",
        "sqrt",
    ),
    *("stddev_pop", "stddev_samp", "substring", "sum", "var_pop", "var_samp"),
}
#: Types that all three know by one name and give one meaning.
TYPES = {"BIGINT", "INT", "BOOLEAN", "DATE", "TIMESTAMP"}
#: Numbers that have no other literal.
NOT_FINITE = ("Infinity", "-Infinity", "NaN")
#: The engines that hold stores; statements of our own program run on no other.
STORES = ("duckdb", "postgres")
#: What these share beyond the subset.
_STORE_FUNCTIONS, _STORE_TYPES = {"str_position", "length"}, {"TEXT", "DOUBLE"}
#: What stands for a placeholder of a template, by its kind, so that the text can be
#: parsed.
PLACEHOLDERS = {
    "condition": "1 = 1",
    "column": "prompt_id",
    "number": "1",
    "numbers": "1, 2",
    "join": "",
    "table": "run",
}
_PLACEHOLDER = re.compile(
    r"^-- placeholder: (?P<name>\w+) (?P<kind>\w+) -- .+", re.MULTILINE
)
#: Names that the parser gives to a function of the subset.
_SAME = {
    "logical_and": "bool_and",
    "logical_or": "bool_or",
    "ceiling": "ceil",
    "pow": "power",
    "stddev": "stddev_samp",
    "variance": "var_samp",
    "variance_pop": "var_pop",
}
#: Parts of a statement that the parser takes for functions.
_SYNTAX = (exp.Case, exp.If, exp.Cast, exp.And, exp.Or, exp.Xor, exp.Exists, exp.Any)
_REFUSED: dict[type[exp.Expression], str] = {
    exp.Qualify: "QUALIFY",
    exp.Lambda: "a lambda",
    exp.Pivot: "PIVOT",
    exp.Bracket: "a subscript",
    exp.Array: "a list",
    exp.Struct: "a struct",
    exp.TryCast: "TRY_CAST",
    exp.ILike: "ILIKE",
    exp.RegexpLike: "a regular expression",
    exp.NullSafeEQ: "IS NOT DISTINCT FROM",
    exp.NullSafeNEQ: "IS DISTINCT FROM",
    exp.TableSample: "a sample",
    exp.Interval: "an interval",
    exp.Columns: "COLUMNS()",
}


@dataclass(frozen=True)
class Schema:
    """What a statement can read: columns by table or view, and which of those are
    facts."""

    columns: Mapping[str, Set[str]] = field(default_factory=dict)
    facts: Set[str] = frozenset()


def faults(
    sql: str, schema: Schema | None = None, dialects: Sequence[str] = DIALECTS
) -> list[str]:
    """What is not portable in one SELECT, in words.

    Args:
        sql: one statement.
        schema: what it can read.
        dialects: the engines that are to read it, DuckDB first: all, or those that hold
            stores.
    """
    known = schema or Schema()
    try:
        trees = {dialect: sqlglot.parse(sql, read=dialect) for dialect in dialects}
    except SqlglotError as error:
        return [f"is not read by every engine: {str(error).splitlines()[0]}"]
    if any(
        len(found) != 1 or not isinstance(found[0], exp.Query)
        for found in trees.values()
    ):
        return ["is not one SELECT"]
    tree = trees["duckdb"][0]
    assert tree is not None
    stores = set(dialects) <= set(STORES)
    functions = FUNCTIONS | _STORE_FUNCTIONS if stores else FUNCTIONS
    return [
        *_tokens(sql),
        *_refused_parts(tree),
        *_functions(tree, functions),
        *_types(tree, TYPES | _STORE_TYPES if stores else TYPES),
        *_stars(tree),
        *_groups(tree),
        *_frames(tree),
        *_orders(trees),
        *_shadows(tree, known),
        *_repeated_facts(tree, known),
    ]


def statement_faults(sql: str, dialect: str) -> list[str]:
    """What keeps a text from being one statement of an engine, in words."""
    try:
        trees = sqlglot.parse(sql, read=dialect)
    except SqlglotError as error:
        return [f"is not read by {dialect}: {str(error).splitlines()[0]}"]
    return [] if len(trees) == 1 else ["is not one statement"]


def filled(template: str) -> str:
    """A template with each placeholder replaced by text of the kind that its header
    declares.

    Raises:
        ValueError: a placeholder that is declared but not used, or used but not
            declared.
        KeyError: a kind that there is not.
    """
    kinds = {match["name"]: match["kind"] for match in _PLACEHOLDER.finditer(template)}
    used = {name for _, name, _, _ in Formatter().parse(template) if name}
    if used != kinds.keys():
        raise ValueError(f"placeholders {sorted(used)}, declared {sorted(kinds)}")
    numbers = {name: 1 for name, kind in kinds.items() if kind == "number"}
    return template.format(
        **{name: PLACEHOLDERS[kind] for name, kind in kinds.items()} | numbers
    )


def reads_facts(sql: str, facts: Set[str]) -> bool:
    """Whether a statement reads one of some tables, also through its own WITH."""
    tree = sqlglot.parse_one(sql, read="duckdb")
    return any(table.name in facts for table in tree.find_all(exp.Table))


def _tokens(sql: str) -> Iterator[str]:
    for token in sqlglot.tokenize(sql, read="duckdb"):
        if token.token_type == TokenType.DCOLON:
            yield "casts with :: (write CAST)"
        if token.token_type == TokenType.IDENTIFIER:
            yield f'quotes the name "{token.text}" (a text on Spark)'
        if "%" in token.text:
            yield "has a percent sign (a placeholder for a driver)"


def _refused_parts(tree: exp.Expression) -> Iterator[str]:
    for node in tree.walk():
        for kind, words in _REFUSED.items():
            if type(node) is kind:
                yield f"uses {words}"
    if any(node.args.get("on") for node in tree.find_all(exp.Distinct)):
        yield "uses DISTINCT ON"


def _functions(tree: exp.Expression, known: Set[str]) -> Iterator[str]:
    for node in tree.find_all(exp.Func):
        if isinstance(node, _SYNTAX):
            continue
        name = node.name if isinstance(node, exp.Anonymous) else node.sql_name()
        name = _SAME.get(name.lower(), name.lower())
        if name not in known:
            yield f"calls {name}()"
        elif name == "percentile_cont" and not isinstance(node.parent, exp.WithinGroup):
            yield "calls percentile_cont() without WITHIN GROUP"


def _types(tree: exp.Expression, known: Set[str]) -> Iterator[str]:
    for node in tree.find_all(exp.Cast):
        word = node.this
        if isinstance(word, exp.Literal) and word.is_string and word.name in NOT_FINITE:
            continue  # one text under all three, of which the type has another name in Spark (`spark_sql`)
        if node.to.this.name not in known:
            yield f"casts to {node.to.sql()}"


def _stars(tree: exp.Expression) -> Iterator[str]:
    for node in tree.find_all(exp.Star):
        if any(
            node.args.get(key) for key in ("except_", "except", "replace", "rename")
        ):
            yield "uses * EXCLUDE or REPLACE"


def _groups(tree: exp.Expression) -> Iterator[str]:
    for node in tree.find_all(exp.Group):
        if node.args.get("all") or any(
            item.name.lower() == "all" for item in node.expressions
        ):
            yield "uses GROUP BY ALL"
        if any(isinstance(item, exp.Literal) for item in node.expressions):
            yield "groups by the number of a column"
    for node in tree.find_all(exp.Order):
        if node.args.get("all") or any(
            item.this.name.lower() == "all" for item in node.expressions
        ):
            yield "uses ORDER BY ALL"


def _frames(tree: exp.Expression) -> Iterator[str]:
    for node in tree.find_all(exp.WindowSpec):
        kind = str(node.args.get("kind")).upper()
        if kind != "ROWS":
            yield f"has a window frame of {kind} (only ROWS)"


def _orders(trees: Mapping[str, list[exp.Expression | None]]) -> Iterator[str]:
    """Without NULLS LAST one engine or the other puts nulls first."""
    wrong = {
        node.this.sql()
        for dialect in trees.keys() - {"duckdb"}
        for tree in trees[dialect]
        if tree is not None
        for node in tree.find_all(exp.Ordered)
        if node.args.get("nulls_first")
    }
    return (f"orders by {name} without NULLS LAST" for name in sorted(wrong))


def _shadows(tree: exp.Expression, schema: Schema) -> Iterator[str]:
    """An alias that is also a column, used bare where engines choose differently."""
    outputs = {cte.alias: set(cte.this.named_selects) for cte in tree.find_all(exp.CTE)}
    for select in tree.find_all(exp.Select):
        sources = {
            name
            for table in _sources(select)
            for name in _columns(table, outputs, schema)
        }
        aliases = {
            item.alias
            for item in select.selects
            if isinstance(item, exp.Alias)
            and not _is_column(item.this, item.alias)
            and (item.alias in sources or item.alias in _own_columns(item))
        }
        used = {
            column.name for part in _clauses(select) for column in _bare_columns(part)
        }
        yield from (
            f"alias {name} shadows a column and is used bare" for name in aliases & used
        )


def _is_column(node: exp.Expression, name: str) -> bool:
    return isinstance(node, exp.Column) and node.name == name


def _own_columns(item: exp.Expression) -> set[str]:
    return {column.name for column in item.find_all(exp.Column)}


def _sources(select: exp.Select) -> Iterator[exp.Table]:
    from_ = select.args.get("from_") or select.args.get("from")
    for part in [from_, *(select.args.get("joins") or [])]:
        if part is not None and isinstance(part.this, exp.Table):
            yield part.this


def _columns(
    table: exp.Table, outputs: Mapping[str, Set[str]], schema: Schema
) -> Set[str]:
    return outputs.get(table.name) or schema.columns.get(table.name) or frozenset()


def _clauses(select: exp.Select) -> Iterator[exp.Expression]:
    for name in ("group", "having", "order"):
        part = select.args.get(name)
        if part is not None:
            yield part


def _bare_columns(part: exp.Expression) -> Iterator[exp.Column]:
    return (column for column in part.find_all(exp.Column) if not column.table)


def _repeated_facts(tree: exp.Expression, schema: Schema) -> Iterator[str]:
    """An engine may run such an expression once for each use, or keep all its rows;
    unless it says which."""
    heavy: set[str] = set(schema.facts)
    for cte in tree.find_all(exp.CTE):
        if any(table.name in heavy for table in cte.this.find_all(exp.Table)):
            heavy.add(cte.alias)
        inside = {id(table) for table in cte.this.find_all(exp.Table)}
        uses = [
            table
            for table in tree.find_all(exp.Table)
            if table.name == cte.alias and id(table) not in inside
        ]
        if cte.alias in heavy and len(uses) > 1 and not cte.args.get("materialized"):
            yield f"uses {cte.alias}, which holds a fact table, {len(uses)} times"
