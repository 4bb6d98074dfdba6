"""``draw_score`` keeps the mean of each draw of a run, which took a read of all scores."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

_FILL = """
insert into draw_score (run_id, metric_id, variant_id, draw, value, n_prompts)
with drawn as (
    select run_id, metric_id, variant_id, draw, sum(value) / count(*) as value, count(*) as n_prompts,
        bool_and(value is not null and weight = 1 and n_draws = 1 and draw >= 0) as is_plain
    from score
    group by run_id, metric_id, variant_id, draw
)
select drawn.run_id, drawn.metric_id, drawn.variant_id, drawn.draw, drawn.value, drawn.n_prompts
from drawn
join (
    select run_id, metric_id from drawn group by run_id, metric_id
    having bool_and(is_plain) and count(*) > 1 and min(n_prompts) = max(n_prompts) and min(n_prompts) > 1
) as kept on kept.run_id = drawn.run_id and kept.metric_id = drawn.metric_id
order by 1, 2, 3, 4
"""


def upgrade() -> None:
    ids = [
        sa.Column(name, sa.BigInteger, nullable=False)
        for name in ("run_id", "metric_id", "variant_id")
    ]
    op.create_table(
        "draw_score",
        *ids,
        sa.Column("draw", sa.Integer, nullable=False),
        sa.Column("value", sa.Double, nullable=False),
        sa.Column("n_prompts", sa.BigInteger, nullable=False),
    )
    if op.get_bind().dialect.name == "postgresql":
        op.create_index(
            "ix_draw_score_run_id", "draw_score", ["run_id"], postgresql_using="brin"
        )
    op.execute(_FILL)


def downgrade() -> None:
    op.drop_table("draw_score")
