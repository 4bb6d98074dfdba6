"""The schema, described once. Migrations, the loader and the checks all follow this
file.

Surrogate integer keys inside; natural keys are unique. Ids are handed out by
``id_counter``, not by the engine, so that a load can number whole sets at once and the
same way on every engine. Fact tables carry no keys at all
(``docs/reference/schema.md`` says
why); what they promise is proved by ``warehouse store check``. Foreign keys and indexes
are created where the engine profits from them (:mod:`warehouse.store.engines`). Times
are naive UTC.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sqlalchemy as sa

from warehouse.store import engines

metadata = sa.MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)


def _id() -> sa.Column[int]:
    return sa.Column("id", sa.BigInteger, primary_key=True, autoincrement=False)


def _ref(name: str, *, optional: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, nullable=optional)


def _text(name: str, *, optional: bool = True) -> sa.Column[str]:
    return sa.Column(name, sa.String, nullable=optional)


def _key(name: str) -> sa.Column[str]:
    """A part of a natural key: the empty string stands for "none", never null."""
    return sa.Column(name, sa.String, nullable=False)


def _number(name: str, *, optional: bool = True) -> sa.Column[float]:
    return sa.Column(name, sa.Double, nullable=optional)


def _whole(name: str, *, optional: bool = True) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, nullable=optional)


def _small(name: str, *, optional: bool = True) -> sa.Column[int]:
    return sa.Column(name, sa.Integer, nullable=optional)


def _flag(name: str, *, optional: bool = True) -> sa.Column[bool]:
    return sa.Column(name, sa.Boolean, nullable=optional)


def _time(name: str, *, optional: bool = True) -> sa.Column[Any]:
    return sa.Column(name, sa.DateTime, nullable=optional)


def _json(name: str) -> sa.Column[Any]:
    return sa.Column(name, sa.JSON(none_as_null=True), nullable=True)


def _hash(name: str, *, optional: bool = True) -> sa.Column[bytes]:
    """sha256, 32 bytes."""
    return sa.Column(name, sa.LargeBinary, nullable=optional)


def _dimension(
    name: str,
    *parts: Any,
    unique: tuple[str, ...],
    refs: dict[str, str],
    unique_where: Callable[..., bool] | None = None,
) -> sa.Table:
    """A table with a surrogate key, a natural key, and foreign keys where the engine
    has them.

    Args:
        unique: columns of the natural key.
        refs: the table that each column points to.
        unique_where: engines that hold the natural key to be unique; None: all.
    """
    natural_key = sa.UniqueConstraint(*unique)
    if unique_where is not None:
        natural_key.ddl_if(callable_=unique_where)
    keys = [
        sa.ForeignKeyConstraint([column], [f"{target}.id"]).ddl_if(
            callable_=engines.wants_foreign_keys
        )
        for column, target in refs.items()
    ]
    return sa.Table(name, metadata, *parts, natural_key, *keys)


def _fact(name: str, *parts: Any, index: str) -> sa.Table:
    """A table without keys; one index on ``index`` where the engine wants it."""
    table = sa.Table(name, metadata, *parts)
    sa.Index(f"ix_{name}_{index}", table.c[index], **engines.SORTED_INDEX).ddl_if(
        callable_=engines.wants_indexes
    )
    return table


# --- who was evaluated ---------------------------------------------------------------------

model = _dimension(
    "model", _id(), _key("name"), _text("family"), _text("developer"),
    _whole("parameter_count"), _ref("canonical_id", optional=True), _text("release_date"),
    unique=("name",), refs={},
)  # fmt: skip

training_seed = _dimension(
    "training_seed", _id(), _ref("model_id"), _key("label"), _key("recipe"),
    _whole("initialisation_seed"), _whole("data_order_seed"), _json("hyperparameters"),
    unique=("model_id", "label", "recipe"), refs={"model_id": "model"},
)  # fmt: skip

checkpoint = _dimension(
    "checkpoint", _id(), _ref("training_seed_id"), _key("key"), _number("position"),
    _text("position_unit"), _whole("tokens"), _text("revision"), _text("base_checkpoint"),
    _flag("is_final"),
    unique=("training_seed_id", "key"), refs={"training_seed_id": "training_seed"},
)  # fmt: skip

agent = _dimension(
    "agent", _id(), _key("name"), _key("version"), _key("parameters_key"), _json("parameters"),
    unique=("name", "version", "parameters_key"), refs={},
)  # fmt: skip

# --- on what -------------------------------------------------------------------------------

benchmark = _dimension(
    "benchmark", _id(), _key("name"), _text("version"), _ref("parent_id", optional=True),
    _small("level", optional=False), _text("dataset_revision"), _text("fingerprint"),
    _ref("default_clustering_id", optional=True), _ref("canonical_id", optional=True),
    _text("headline_metric"),
    unique=("name",), refs={},
)  # fmt: skip

#: On DuckDB its natural key has no constraint: two loads conflict at ``id_counter``,
#: and the checks prove it.
prompt = _dimension(
    "prompt", _id(), _ref("benchmark_id"), _key("split"), _key("key"), _key("key_kind"),
    _small("occurrence", optional=False), _text("tool_id"), _hash("text_hash"), _text("text"),
    _text("target"), _json("choices"), _json("metadata"),
    unique=("benchmark_id", "split", "key", "occurrence"), refs={"benchmark_id": "benchmark"},
    unique_where=engines.wants_indexes,
)  # fmt: skip

prompt_link = _dimension(
    "prompt_link", _id(), _ref("prompt_id"), _ref("canonical_prompt_id"), _text("method"),
    unique=("prompt_id",), refs={"prompt_id": "prompt", "canonical_prompt_id": "prompt"},
)  # fmt: skip

prompt_variant = _dimension(
    "prompt_variant", _id(), _key("perturbation"), _key("fewshot_draw"), _key("template"),
    unique=("perturbation", "fewshot_draw", "template"), refs={},
)  # fmt: skip

clustering = _dimension(
    "clustering", _id(), _ref("benchmark_id"), _key("name"), _key("kind"), _json("parameters"),
    _time("created_at"),
    unique=("benchmark_id", "name"), refs={"benchmark_id": "benchmark"},
)  # fmt: skip

cluster = _dimension(
    "cluster", _id(), _ref("clustering_id"), _key("label"),
    unique=("clustering_id", "label"), refs={"clustering_id": "clustering"},
)  # fmt: skip

prompt_cluster = _fact(
    "prompt_cluster", _ref("clustering_id"), _ref("cluster_id"), _ref("prompt_id"),
    _number("distance"), _flag("is_medoid"),
    index="clustering_id",
)  # fmt: skip

scorer = _dimension(
    "scorer", _id(), _key("name"), _key("kind"), _key("judge_model"), _key("parameters_key"),
    _json("parameters"),
    unique=("name", "kind", "judge_model", "parameters_key"), refs={},
)  # fmt: skip

metric = _dimension(
    "metric", _id(), _key("name"), _key("filter"), _ref("scorer_id"), _key("unit"), _key("link"),
    unique=("name", "filter", "scorer_id", "unit", "link"), refs={"scorer_id": "scorer"},
)  # fmt: skip

benchmark_metric = _dimension(
    "benchmark_metric", _id(), _ref("benchmark_id"), _ref("metric_id"), _text("default_by"),
    _text("kind"), _number("low"), _number("high"), _flag("higher_is_better"),
    _number("chance_level"), _flag("is_inferred"), _text("direction_by"),
    unique=("benchmark_id", "metric_id"),
    refs={"benchmark_id": "benchmark", "metric_id": "metric"},
)  # fmt: skip

# --- what happened -------------------------------------------------------------------------

run_group = _dimension(
    "run_group", _id(), _key("key"), _key("harness"), _text("harness_version"),
    _text("harness_run_id"), _time("started_at"), _text("commit_hash"), _text("hardware"),
    _number("cost"),
    unique=("key",), refs={},
)  # fmt: skip

run = _dimension(
    "run", _id(), _ref("run_group_id"), _ref("checkpoint_id"), _ref("agent_id"),
    _ref("benchmark_id"), _key("split"), _text("task_version"), _text("benchmark_version"),
    _text("formulation"), _small("fewshot"), _whole("fewshot_seed"), _text("template_hash"),
    _text("system_prompt_hash"), _number("temperature"), _number("top_p"), _whole("max_tokens"),
    _text("reasoning_effort"), _whole("sampling_seed"), _json("sampling"), _text("endpoint"),
    _text("opponent"), _key("scorers_key"), _json("configuration"),
    _whole("n_benchmark"), _whole("n_requested"), _whole("n_found", optional=False),
    _whole("n_generations", optional=False), _whole("n_choices", optional=False),
    _whole("n_scores", optional=False),
    _time("started_at"), _key("status"), _text("status_reason"),
    _ref("superseded_by", optional=True), _json("tags"), _text("note"),
    _key("condition_key"), _text("run_key"), _key("content_digest"),
    _key("recorded_key"), _key("execution_key"), _json("settings"), _json("marks"), _json("versions"),
    _text("bytes_key"),
    unique=("recorded_key", "content_digest", "execution_key"),
    refs={"run_group_id": "run_group", "checkpoint_id": "checkpoint", "agent_id": "agent",
          "benchmark_id": "benchmark"},
)  # fmt: skip

#: Settings that a person has said do not matter: of every benchmark, where none is
#: named.
ignored_setting = _dimension(
    "ignored_setting", _id(), _key("name"), _key("benchmark"), _text("reason"), _time("created_at"),
    unique=("name", "benchmark"), refs={},
)  # fmt: skip

#: What people say of a benchmark, of all where none is named: by `about` (see
#: ``docs/schema.md``).
declaration = _dimension(
    "declaration", _id(), _key("about"), _key("benchmark"), _key("subject"), _text("said"),
    _number("wrong_value"), _text("digest"), _time("declared_at", optional=False),
    unique=("about", "benchmark", "subject"), refs={},
)  # fmt: skip

source = _dimension(
    "source", _id(), _key("sha256"), _key("settings_key"), _text("path"), _whole("bytes"),
    _key("format"), _key("importer_version"), _json("settings"), _key("state"),
    _whole("n_runs"), _whole("n_seen_again"), _whole("n_superseded"), _whole("n_samples"),
    _whole("n_scores"), _whole("n_rejected"), _json("notes"), _time("claimed_at"),
    _time("loaded_at"), _number("seconds"), _whole("n_votes"),
    unique=("sha256", "settings_key"), refs={},
)  # fmt: skip

run_source = _fact(
    "run_source", _ref("run_id"), _ref("source_id"), _text("place"), _text("run_key"),
    _ref("superseded_by", optional=True),
    index="run_id",
)  # fmt: skip

#: What a source says beyond what stands: of rows that other sources speak of too
#: (``docs/reference/schema.md``).
statement = _fact(
    "statement", _ref("source_id", optional=True), _key("about"), _ref("subject_id"), _json("said"),
    index="source_id",
)  # fmt: skip

rejection = _fact(
    "rejection", _ref("source_id"), _text("place"), _text("found"), _text("expected"),
    index="source_id",
)  # fmt: skip

content = sa.Table("content", metadata, _hash("sha256", optional=False), _text("text"))
sa.Index("uq_content_sha256", content.c.sha256, unique=True).ddl_if(
    callable_=engines.wants_indexes
)

generation = _fact(
    "generation", _ref("run_id"), _ref("prompt_id"), _ref("variant_id"),
    _small("draw", optional=False), _hash("prompt_hash"), _hash("response_hash"),
    _text("extracted_answer"), _text("finish_reason"), _whole("input_tokens"),
    _whole("output_tokens"), _number("latency"), _number("cost"), _text("error"),
    _text("explanation"),
    index="run_id",
)  # fmt: skip

transcript = _fact(
    "transcript", _ref("run_id"), _ref("prompt_id"), _ref("variant_id"),
    _small("draw", optional=False), _text("uuid"), _small("n_messages"), _small("n_turns"),
    _small("n_tool_calls"), _small("n_tool_errors"), _small("n_events"), _text("limit_hit"),
    _whole("cached_tokens"), _whole("reasoning_tokens"), _hash("messages_hash"), _text("place"),
    _whole("cache_write_tokens"),
    index="run_id",
)  # fmt: skip

tool_call = _fact(
    "tool_call", _ref("run_id"), _ref("prompt_id"), _ref("variant_id"),
    _small("draw", optional=False), _text("tool"), _small("n_calls", optional=False), _small("n_errors"),
    index="run_id",
)  # fmt: skip

choice = _fact(
    "choice", _ref("run_id"), _ref("prompt_id"), _ref("variant_id"),
    _small("draw", optional=False), _small("choice_index", optional=False),
    _number("loglikelihood"), _number("unconditional_loglikelihood"), _flag("is_greedy"),
    _small("n_tokens"), _small("n_bytes"), _flag("is_target"),
    index="run_id",
)  # fmt: skip

score = _fact(
    "score", _ref("run_id"), _ref("prompt_id"), _ref("variant_id"),
    _small("draw", optional=False), _ref("metric_id"), _number("value"),
    _number("weight", optional=False), _small("n_draws", optional=False), _text("raw"),
    _key("status"), _key("origin"),
    index="run_id",
)  # fmt: skip

scan_value = _fact(
    "scan_value", _ref("source_id"), _key("scan_id"), _key("uuid"), _text("place"), _ref("metric_id"),
    _small("position", optional=False), _text("label"), _number("value"), _text("raw"), _key("status"),
    _flag("higher_is_better"), _time("scanned_at"),
    index="source_id",
)  # fmt: skip
for _name in ("uuid", "place"):
    sa.Index(f"ix_scan_value_{_name}", scan_value.c[_name]).ddl_if(
        callable_=engines.wants_indexes
    )

preference = _fact(
    "preference", _ref("source_id"), _ref("benchmark_id"), _ref("prompt_id", optional=True), _ref("variant_id"),
    _ref("checkpoint_a_id"), _ref("checkpoint_b_id"), _ref("run_a_id", optional=True),
    _ref("run_b_id", optional=True), _key("first"), _ref("scorer_id"), _key("voter"), _text("outcome"),
    _number("weight", optional=False), _small("draw", optional=False), _json("covariates"), _time("created_at"),
    index="benchmark_id",
)  # fmt: skip

label_draw = _fact(
    "label_draw", _ref("source_id", optional=True), _ref("benchmark_id"), _ref("metric_id", optional=True),
    _ref("scorer_id", optional=True), _ref("run_id", optional=True), _ref("prompt_id", optional=True),
    _ref("variant_id"), _small("draw", optional=False), _ref("checkpoint_a_id", optional=True),
    _ref("checkpoint_b_id", optional=True), _small("wave", optional=False), _whole("seed"), _key("rule"),
    _key("stratum"), _number("probability", optional=False), _time("drawn_at"),
    index="benchmark_id",
)  # fmt: skip

prompt_score = _fact(
    "prompt_score", _ref("run_id"), _ref("prompt_id"), _ref("metric_id"), _key("perturbation"),
    _number("value"), _number("weight", optional=False), _whole("n_draws", optional=False),
    _number("within_variance"), _small("n_scored", optional=False),
    _small("n_unscored", optional=False), _flag("is_binary", optional=False),
    index="run_id",
)  # fmt: skip

draw_score = _fact(
    "draw_score", _ref("run_id"), _ref("metric_id"), _ref("variant_id"), _small("draw", optional=False),
    _number("value", optional=False), _whole("n_prompts", optional=False),
    index="run_id",
)  # fmt: skip

published_score = _fact(
    "published_score", _ref("run_group_id"), _ref("run_id", optional=True),
    _ref("source_id"), _ref("benchmark_id"), _ref("metric_id"), _key("statistic"),
    _key("perturbation"), _key("split"), _number("value"), _number("standard_error"),
    _whole("n"), _text("raw"),
    index="run_id",
)  # fmt: skip

run_metric = _fact(
    "run_metric", _ref("run_id"), _ref("metric_id"), _whole("n_scored", optional=False),
    index="run_id",
)  # fmt: skip

embedder = _dimension(
    "embedder", _id(), _key("name"), _key("revision"), _small("dimension", optional=False),
    unique=("name", "revision"), refs={},
)  # fmt: skip

prompt_embedding = _fact(
    "prompt_embedding", _ref("prompt_id"), _ref("embedder_id"), _hash("text_hash"),
    sa.Column("vector", engines.vector_type(), nullable=False), _text("template"), _text("part"),
    index="prompt_id",
)  # fmt: skip

price = _dimension(
    "price", _id(), _key("model"), _time("valid_from", optional=False),
    _number("input_price", optional=False), _number("output_price", optional=False),
    _number("cached_price"), _number("reasoning_price"), _time("valid_until"), _number("cache_write_price"),
    unique=("model", "valid_from"), refs={},
)  # fmt: skip

# --- operations ----------------------------------------------------------------------------

refresh = _dimension(
    "refresh", _id(), _time("started_at", optional=False), _time("finished_at"), _key("state"),
    _text("program_version"), _json("parameters"), _json("summary"),
    unique=("started_at",), refs={},
)  # fmt: skip

metric_value = _fact(
    "metric_value", _ref("refresh_id"), _key("subject_kind"), _key("subject"), _key("benchmark"),
    _key("metric"), _key("statistic"), _key("method"), _key("method_version"),
    _number("estimate"), _number("standard_error"), _number("low"), _number("high"), _whole("n"),
    _whole("n_clusters"), _json("parameters"), _key("input_fingerprint"), _text("reason"),
    index="refresh_id",
)  # fmt: skip

analysis = _dimension(
    "analysis", _id(), _key("kind"), _key("subject"), _key("parameters_key"),
    _key("method_version"), _key("input_fingerprint"), _whole("seed"), _time("created_at"),
    _json("parameters"), _json("result"),
    unique=("kind", "subject", "parameters_key"), refs={},
)  # fmt: skip

id_counter = sa.Table(
    "id_counter",
    metadata,
    sa.Column("table_name", sa.String, primary_key=True),
    _whole("next_id", optional=False),
)

#: Tables that a run's facts live in, in the order in which they are written and
#: removed.
RUN_FACTS = (generation, transcript, tool_call, choice, score, prompt_score)


def natural_key(table: sa.Table) -> list[str]:
    """Columns that identify a row of a table, in any store."""
    (unique,) = [
        item for item in table.constraints if isinstance(item, sa.UniqueConstraint)
    ]
    return [column.name for column in unique.columns]
