"""The schema that this program works with."""

#: The newest migration. A test holds it to the files in ``migrations/versions``.
HEAD = "0018"

#: Where the migrations keep the revision.
VERSION_TABLE = "alembic_version"
#: Names of its tables, for those who need no more of them. A test holds them to the
#: tables themselves.
TABLES = frozenset(
    {
        *(
            "agent",
            "analysis",
            "benchmark",
            "benchmark_metric",
            "checkpoint",
            "choice",
            "cluster",
        ),
        *(
            "clustering",
            "content",
            "declaration",
            "draw_score",
            "embedder",
            "generation",
            "id_counter",
            "ignored_setting",
        ),
        *(
            "label_draw",
            "metric",
            "metric_value",
            "model",
            "preference",
            "price",
            "prompt",
            "prompt_cluster",
        ),
        *(
            "prompt_embedding",
            "prompt_link",
            "prompt_score",
            "prompt_variant",
            "published_score",
            "refresh",
        ),
        *(
            "rejection",
            "run",
            "run_group",
            "run_metric",
            "run_source",
            "scan_value",
            "score",
            "scorer",
        ),
        *("source", "statement", "tool_call", "training_seed", "transcript"),
    }
)
