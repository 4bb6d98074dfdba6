"""All tables of the first schema."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

#: (table, column, table that it points to); not where the engine cannot migrate such
#: tables
FOREIGN_KEYS = [
    ("clustering", "benchmark_id", "benchmark"),
    ("metric", "scorer_id", "scorer"),
    ("prompt", "benchmark_id", "benchmark"),
    ("training_seed", "model_id", "model"),
    ("benchmark_metric", "benchmark_id", "benchmark"),
    ("benchmark_metric", "metric_id", "metric"),
    ("checkpoint", "training_seed_id", "training_seed"),
    ("cluster", "clustering_id", "clustering"),
    ("prompt_link", "canonical_prompt_id", "prompt"),
    ("prompt_link", "prompt_id", "prompt"),
    ("run", "agent_id", "agent"),
    ("run", "benchmark_id", "benchmark"),
    ("run", "checkpoint_id", "checkpoint"),
    ("run", "run_group_id", "run_group"),
]
#: (name, table, column, unique)
INDEXES = [
    ("ix_choice_run_id", "choice", "run_id", False),
    ("uq_content_sha256", "content", "sha256", True),
    ("ix_generation_run_id", "generation", "run_id", False),
    ("ix_metric_value_refresh_id", "metric_value", "refresh_id", False),
    ("ix_prompt_cluster_clustering_id", "prompt_cluster", "clustering_id", False),
    ("ix_prompt_embedding_prompt_id", "prompt_embedding", "prompt_id", False),
    ("ix_prompt_score_run_id", "prompt_score", "run_id", False),
    ("ix_published_score_run_id", "published_score", "run_id", False),
    ("ix_rejection_source_id", "rejection", "source_id", False),
    ("ix_run_source_run_id", "run_source", "run_id", False),
    ("ix_score_run_id", "score", "run_id", False),
]
#: in the order in which they are made
TABLES = [
    "model",
    "training_seed",
    "checkpoint",
    "agent",
    "benchmark",
    "prompt",
    "prompt_link",
    "prompt_variant",
    "clustering",
    "cluster",
    "prompt_cluster",
    "scorer",
    "metric",
    "benchmark_metric",
    "run_group",
    "run",
    "source",
    "run_source",
    "rejection",
    "content",
    "generation",
    "choice",
    "score",
    "prompt_score",
    "published_score",
    "embedder",
    "prompt_embedding",
    "refresh",
    "metric_value",
    "id_counter",
]


def upgrade() -> None:
    _create_who()
    _create_what()
    _create_measure()
    _create_runs()
    _create_facts()
    _create_text()
    _create_operations()
    if op.get_bind().dialect.name != "duckdb":
        _create_keys()


def downgrade() -> None:
    if op.get_bind().dialect.name != "duckdb":
        _drop_keys()
    for table in reversed(TABLES):
        op.drop_table(table)


def _create_keys() -> None:
    for table, column, target in FOREIGN_KEYS:
        op.create_foreign_key(f"fk_{table}_{column}", table, target, [column], ["id"])
    for name, table, column, unique in INDEXES:
        using = None if unique else "brin"
        op.create_index(name, table, [column], unique=unique, postgresql_using=using)


def _drop_keys() -> None:
    for table, column, _target in FOREIGN_KEYS:
        op.drop_constraint(f"fk_{table}_{column}", table, type_="foreignkey")
    for name, table, _column, _unique in INDEXES:
        op.drop_index(name, table_name=table)


def _create_who() -> None:
    op.create_table(
        "model",
        sa.Column("id", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("family", sa.String, nullable=True),
        sa.Column("developer", sa.String, nullable=True),
        sa.Column("parameter_count", sa.BigInteger, nullable=True),
        sa.Column("canonical_id", sa.BigInteger, nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_model"),
        sa.UniqueConstraint("name", name="uq_model_name"),
    )
    op.create_table(
        "training_seed",
        sa.Column("id", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("model_id", sa.BigInteger, nullable=False),
        sa.Column("label", sa.String, nullable=False),
        sa.Column("recipe", sa.String, nullable=False),
        sa.Column("initialisation_seed", sa.BigInteger, nullable=True),
        sa.Column("data_order_seed", sa.BigInteger, nullable=True),
        sa.Column("hyperparameters", sa.JSON, nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_training_seed"),
        sa.UniqueConstraint(
            "model_id", "label", "recipe", name="uq_training_seed_model_id_label_recipe"
        ),
    )
    op.create_table(
        "checkpoint",
        sa.Column("id", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("training_seed_id", sa.BigInteger, nullable=False),
        sa.Column("key", sa.String, nullable=False),
        sa.Column("position", sa.Double, nullable=True),
        sa.Column("position_unit", sa.String, nullable=True),
        sa.Column("tokens", sa.BigInteger, nullable=True),
        sa.Column("revision", sa.String, nullable=True),
        sa.Column("base_checkpoint", sa.String, nullable=True),
        sa.Column("is_final", sa.Boolean, nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_checkpoint"),
        sa.UniqueConstraint(
            "training_seed_id", "key", name="uq_checkpoint_training_seed_id_key"
        ),
    )
    op.create_table(
        "agent",
        sa.Column("id", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("version", sa.String, nullable=False),
        sa.Column("parameters_key", sa.String, nullable=False),
        sa.Column("parameters", sa.JSON, nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_agent"),
        sa.UniqueConstraint(
            "name",
            "version",
            "parameters_key",
            name="uq_agent_name_version_parameters_key",
        ),
    )


def _create_what() -> None:
    op.create_table(
        "benchmark",
        sa.Column("id", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("version", sa.String, nullable=True),
        sa.Column("parent_id", sa.BigInteger, nullable=True),
        sa.Column("level", sa.Integer, nullable=False),
        sa.Column("dataset_revision", sa.String, nullable=True),
        sa.Column("fingerprint", sa.String, nullable=True),
        sa.Column("default_clustering_id", sa.BigInteger, nullable=True),
        sa.Column("canonical_id", sa.BigInteger, nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_benchmark"),
        sa.UniqueConstraint("name", name="uq_benchmark_name"),
    )
    op.create_table(
        "prompt",
        sa.Column("id", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("benchmark_id", sa.BigInteger, nullable=False),
        sa.Column("split", sa.String, nullable=False),
        sa.Column("key", sa.String, nullable=False),
        sa.Column("key_kind", sa.String, nullable=False),
        sa.Column("occurrence", sa.Integer, nullable=False),
        sa.Column("tool_id", sa.String, nullable=True),
        sa.Column("text_hash", sa.LargeBinary, nullable=True),
        sa.Column("text", sa.String, nullable=True),
        sa.Column("target", sa.String, nullable=True),
        sa.Column("choices", sa.JSON, nullable=True),
        sa.Column("metadata", sa.JSON, nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_prompt"),
        sa.UniqueConstraint(
            "benchmark_id",
            "split",
            "key",
            "occurrence",
            name="uq_prompt_benchmark_id_split_key_occurrence",
        ).ddl_if(
            dialect="postgresql"
        ),  # on DuckDB its index is memory that cannot be spilled, 140 MB a million
    )
    op.create_table(
        "prompt_link",
        sa.Column("id", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("prompt_id", sa.BigInteger, nullable=False),
        sa.Column("canonical_prompt_id", sa.BigInteger, nullable=False),
        sa.Column("method", sa.String, nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_prompt_link"),
        sa.UniqueConstraint("prompt_id", name="uq_prompt_link_prompt_id"),
    )
    op.create_table(
        "prompt_variant",
        sa.Column("id", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("perturbation", sa.String, nullable=False),
        sa.Column("fewshot_draw", sa.String, nullable=False),
        sa.Column("template", sa.String, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_prompt_variant"),
        sa.UniqueConstraint(
            "perturbation",
            "fewshot_draw",
            "template",
            name="uq_prompt_variant_perturbation_fewshot_draw_template",
        ),
    )
    op.create_table(
        "clustering",
        sa.Column("id", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("benchmark_id", sa.BigInteger, nullable=False),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("parameters", sa.JSON, nullable=True),
        sa.Column("created_at", sa.DateTime, nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_clustering"),
        sa.UniqueConstraint(
            "benchmark_id", "name", name="uq_clustering_benchmark_id_name"
        ),
    )
    op.create_table(
        "cluster",
        sa.Column("id", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("clustering_id", sa.BigInteger, nullable=False),
        sa.Column("label", sa.String, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_cluster"),
        sa.UniqueConstraint(
            "clustering_id", "label", name="uq_cluster_clustering_id_label"
        ),
    )
    op.create_table(
        "prompt_cluster",
        sa.Column("clustering_id", sa.BigInteger, nullable=False),
        sa.Column("cluster_id", sa.BigInteger, nullable=False),
        sa.Column("prompt_id", sa.BigInteger, nullable=False),
        sa.Column("distance", sa.Double, nullable=True),
        sa.Column("is_medoid", sa.Boolean, nullable=True),
    )


def _create_measure() -> None:
    op.create_table(
        "scorer",
        sa.Column("id", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("judge_model", sa.String, nullable=False),
        sa.Column("parameters_key", sa.String, nullable=False),
        sa.Column("parameters", sa.JSON, nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_scorer"),
        sa.UniqueConstraint(
            "name",
            "kind",
            "judge_model",
            "parameters_key",
            name="uq_scorer_name_kind_judge_model_parameters_key",
        ),
    )
    op.create_table(
        "metric",
        sa.Column("id", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("filter", sa.String, nullable=False),
        sa.Column("scorer_id", sa.BigInteger, nullable=False),
        sa.Column("unit", sa.String, nullable=False),
        sa.Column("link", sa.String, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_metric"),
        sa.UniqueConstraint(
            "name",
            "filter",
            "scorer_id",
            "unit",
            "link",
            name="uq_metric_name_filter_scorer_id_unit_link",
        ),
    )
    op.create_table(
        "benchmark_metric",
        sa.Column("id", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("benchmark_id", sa.BigInteger, nullable=False),
        sa.Column("metric_id", sa.BigInteger, nullable=False),
        sa.Column("is_default", sa.Boolean, nullable=True),
        sa.Column("kind", sa.String, nullable=True),
        sa.Column("low", sa.Double, nullable=True),
        sa.Column("high", sa.Double, nullable=True),
        sa.Column("higher_is_better", sa.Boolean, nullable=True),
        sa.Column("chance_level", sa.Double, nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_benchmark_metric"),
        sa.UniqueConstraint(
            "benchmark_id",
            "metric_id",
            name="uq_benchmark_metric_benchmark_id_metric_id",
        ),
    )


def _create_runs() -> None:
    op.create_table(
        "run_group",
        sa.Column("id", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("key", sa.String, nullable=False),
        sa.Column("harness", sa.String, nullable=False),
        sa.Column("harness_version", sa.String, nullable=True),
        sa.Column("harness_run_id", sa.String, nullable=True),
        sa.Column("started_at", sa.DateTime, nullable=True),
        sa.Column("commit_hash", sa.String, nullable=True),
        sa.Column("hardware", sa.String, nullable=True),
        sa.Column("cost", sa.Double, nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_run_group"),
        sa.UniqueConstraint("key", name="uq_run_group_key"),
    )
    op.create_table(
        "run",
        sa.Column("id", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("run_group_id", sa.BigInteger, nullable=False),
        sa.Column("checkpoint_id", sa.BigInteger, nullable=False),
        sa.Column("agent_id", sa.BigInteger, nullable=False),
        sa.Column("benchmark_id", sa.BigInteger, nullable=False),
        sa.Column("split", sa.String, nullable=False),
        sa.Column("task_version", sa.String, nullable=True),
        sa.Column("benchmark_version", sa.String, nullable=True),
        sa.Column("formulation", sa.String, nullable=True),
        sa.Column("fewshot", sa.Integer, nullable=True),
        sa.Column("fewshot_seed", sa.BigInteger, nullable=True),
        sa.Column("template_hash", sa.String, nullable=True),
        sa.Column("system_prompt_hash", sa.String, nullable=True),
        sa.Column("temperature", sa.Double, nullable=True),
        sa.Column("top_p", sa.Double, nullable=True),
        sa.Column("max_tokens", sa.BigInteger, nullable=True),
        sa.Column("reasoning_effort", sa.String, nullable=True),
        sa.Column("sampling_seed", sa.BigInteger, nullable=True),
        sa.Column("sampling", sa.JSON, nullable=True),
        sa.Column("endpoint", sa.String, nullable=True),
        sa.Column("opponent", sa.String, nullable=True),
        sa.Column("scorers_key", sa.String, nullable=False),
        sa.Column("configuration", sa.JSON, nullable=True),
        sa.Column("n_benchmark", sa.BigInteger, nullable=True),
        sa.Column("n_requested", sa.BigInteger, nullable=True),
        sa.Column("n_found", sa.BigInteger, nullable=False),
        sa.Column("n_generations", sa.BigInteger, nullable=False),
        sa.Column("n_choices", sa.BigInteger, nullable=False),
        sa.Column("n_scores", sa.BigInteger, nullable=False),
        sa.Column("started_at", sa.DateTime, nullable=True),
        sa.Column("status", sa.String, nullable=False),
        sa.Column("status_reason", sa.String, nullable=True),
        sa.Column("superseded_by", sa.BigInteger, nullable=True),
        sa.Column("tags", sa.JSON, nullable=True),
        sa.Column("note", sa.String, nullable=True),
        sa.Column("condition_key", sa.String, nullable=False),
        sa.Column("run_key", sa.String, nullable=True),
        sa.Column("content_digest", sa.String, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_run"),
        sa.UniqueConstraint(
            "condition_key",
            "content_digest",
            name="uq_run_condition_key_content_digest",
        ),
    )
    op.create_table(
        "run_source",
        sa.Column("run_id", sa.BigInteger, nullable=False),
        sa.Column("source_id", sa.BigInteger, nullable=False),
        sa.Column("place", sa.String, nullable=True),
    )


def _create_facts() -> None:
    op.create_table(
        "content",
        sa.Column("sha256", sa.LargeBinary, nullable=False),
        sa.Column("text", sa.String, nullable=True),
    )
    op.create_table(
        "generation",
        sa.Column("run_id", sa.BigInteger, nullable=False),
        sa.Column("prompt_id", sa.BigInteger, nullable=False),
        sa.Column("variant_id", sa.BigInteger, nullable=False),
        sa.Column("draw", sa.Integer, nullable=False),
        sa.Column("prompt_hash", sa.LargeBinary, nullable=True),
        sa.Column("response_hash", sa.LargeBinary, nullable=True),
        sa.Column("extracted_answer", sa.String, nullable=True),
        sa.Column("finish_reason", sa.String, nullable=True),
        sa.Column("input_tokens", sa.BigInteger, nullable=True),
        sa.Column("output_tokens", sa.BigInteger, nullable=True),
        sa.Column("latency", sa.Double, nullable=True),
        sa.Column("cost", sa.Double, nullable=True),
        sa.Column("error", sa.String, nullable=True),
        sa.Column("explanation", sa.String, nullable=True),
    )
    op.create_table(
        "choice",
        sa.Column("run_id", sa.BigInteger, nullable=False),
        sa.Column("prompt_id", sa.BigInteger, nullable=False),
        sa.Column("variant_id", sa.BigInteger, nullable=False),
        sa.Column("draw", sa.Integer, nullable=False),
        sa.Column("choice_index", sa.Integer, nullable=False),
        sa.Column("loglikelihood", sa.Double, nullable=True),
        sa.Column("unconditional_loglikelihood", sa.Double, nullable=True),
        sa.Column("is_greedy", sa.Boolean, nullable=True),
        sa.Column("n_tokens", sa.Integer, nullable=True),
        sa.Column("n_bytes", sa.Integer, nullable=True),
        sa.Column("is_target", sa.Boolean, nullable=True),
    )
    op.create_table(
        "score",
        sa.Column("run_id", sa.BigInteger, nullable=False),
        sa.Column("prompt_id", sa.BigInteger, nullable=False),
        sa.Column("variant_id", sa.BigInteger, nullable=False),
        sa.Column("draw", sa.Integer, nullable=False),
        sa.Column("metric_id", sa.BigInteger, nullable=False),
        sa.Column("value", sa.Double, nullable=True),
        sa.Column("weight", sa.Double, nullable=False),
        sa.Column("n_draws", sa.Integer, nullable=False),
        sa.Column("raw", sa.String, nullable=True),
        sa.Column("status", sa.String, nullable=False),
        sa.Column("origin", sa.String, nullable=False),
    )
    op.create_table(
        "prompt_score",
        sa.Column("run_id", sa.BigInteger, nullable=False),
        sa.Column("prompt_id", sa.BigInteger, nullable=False),
        sa.Column("metric_id", sa.BigInteger, nullable=False),
        sa.Column("perturbation", sa.String, nullable=False),
        sa.Column("value", sa.Double, nullable=True),
        sa.Column("weight", sa.Double, nullable=False),
        sa.Column("n_draws", sa.BigInteger, nullable=False),
        sa.Column("within_variance", sa.Double, nullable=True),
        sa.Column("n_scored", sa.Integer, nullable=False),
        sa.Column("n_unscored", sa.Integer, nullable=False),
        sa.Column("is_binary", sa.Boolean, nullable=False),
    )
    op.create_table(
        "published_score",
        sa.Column("run_group_id", sa.BigInteger, nullable=False),
        sa.Column("run_id", sa.BigInteger, nullable=True),
        sa.Column("source_id", sa.BigInteger, nullable=False),
        sa.Column("benchmark_id", sa.BigInteger, nullable=False),
        sa.Column("metric_id", sa.BigInteger, nullable=False),
        sa.Column("statistic", sa.String, nullable=False),
        sa.Column("perturbation", sa.String, nullable=False),
        sa.Column("split", sa.String, nullable=False),
        sa.Column("value", sa.Double, nullable=True),
        sa.Column("standard_error", sa.Double, nullable=True),
        sa.Column("n", sa.BigInteger, nullable=True),
        sa.Column("raw", sa.String, nullable=True),
    )


def _create_text() -> None:
    op.create_table(
        "embedder",
        sa.Column("id", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("revision", sa.String, nullable=False),
        sa.Column("dimension", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_embedder"),
        sa.UniqueConstraint("name", "revision", name="uq_embedder_name_revision"),
    )
    op.create_table(
        "prompt_embedding",
        sa.Column("prompt_id", sa.BigInteger, nullable=False),
        sa.Column("embedder_id", sa.BigInteger, nullable=False),
        sa.Column("text_hash", sa.LargeBinary, nullable=True),
        sa.Column("vector", sa.ARRAY(sa.REAL), nullable=False),
    )


def _create_operations() -> None:
    op.create_table(
        "source",
        sa.Column("id", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("sha256", sa.String, nullable=False),
        sa.Column("settings_key", sa.String, nullable=False),
        sa.Column("path", sa.String, nullable=True),
        sa.Column("bytes", sa.BigInteger, nullable=True),
        sa.Column("format", sa.String, nullable=False),
        sa.Column("importer_version", sa.String, nullable=False),
        sa.Column("settings", sa.JSON, nullable=True),
        sa.Column("state", sa.String, nullable=False),
        sa.Column("n_runs", sa.BigInteger, nullable=True),
        sa.Column("n_seen_again", sa.BigInteger, nullable=True),
        sa.Column("n_superseded", sa.BigInteger, nullable=True),
        sa.Column("n_samples", sa.BigInteger, nullable=True),
        sa.Column("n_scores", sa.BigInteger, nullable=True),
        sa.Column("n_rejected", sa.BigInteger, nullable=True),
        sa.Column("notes", sa.JSON, nullable=True),
        sa.Column("claimed_at", sa.DateTime, nullable=True),
        sa.Column("loaded_at", sa.DateTime, nullable=True),
        sa.Column("seconds", sa.Double, nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_source"),
        sa.UniqueConstraint(
            "sha256", "settings_key", name="uq_source_sha256_settings_key"
        ),
    )
    op.create_table(
        "rejection",
        sa.Column("source_id", sa.BigInteger, nullable=False),
        sa.Column("place", sa.String, nullable=True),
        sa.Column("found", sa.String, nullable=True),
        sa.Column("expected", sa.String, nullable=True),
    )
    op.create_table(
        "refresh",
        sa.Column("id", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("started_at", sa.DateTime, nullable=False),
        sa.Column("finished_at", sa.DateTime, nullable=True),
        sa.Column("state", sa.String, nullable=False),
        sa.Column("program_version", sa.String, nullable=True),
        sa.Column("parameters", sa.JSON, nullable=True),
        sa.Column("summary", sa.JSON, nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_refresh"),
        sa.UniqueConstraint("started_at", name="uq_refresh_started_at"),
    )
    op.create_table(
        "metric_value",
        sa.Column("refresh_id", sa.BigInteger, nullable=False),
        sa.Column("subject_kind", sa.String, nullable=False),
        sa.Column("subject", sa.String, nullable=False),
        sa.Column("benchmark", sa.String, nullable=False),
        sa.Column("metric", sa.String, nullable=False),
        sa.Column("statistic", sa.String, nullable=False),
        sa.Column("method", sa.String, nullable=False),
        sa.Column("method_version", sa.String, nullable=False),
        sa.Column("estimate", sa.Double, nullable=True),
        sa.Column("standard_error", sa.Double, nullable=True),
        sa.Column("low", sa.Double, nullable=True),
        sa.Column("high", sa.Double, nullable=True),
        sa.Column("n", sa.BigInteger, nullable=True),
        sa.Column("n_clusters", sa.BigInteger, nullable=True),
        sa.Column("parameters", sa.JSON, nullable=True),
        sa.Column("input_fingerprint", sa.String, nullable=False),
        sa.Column("reason", sa.String, nullable=True),
    )
    op.create_table(
        "id_counter",
        sa.Column("table_name", sa.String, nullable=False),
        sa.Column("next_id", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("table_name", name="pk_id_counter"),
    )
