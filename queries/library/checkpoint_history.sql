-- How a model's headline figures moved along its training.
-- grain: one row per checkpoint, training seed, benchmark and headline metric
-- parameter: model text -- name of the model
-- parameter: benchmark text = '' -- name of a benchmark; empty for all
-- columns:
--   benchmark: name of the benchmark
--   split: part of the benchmark
--   training_seed: label of the trained replicate
--   recipe: recipe or data mix of the training
--   position: place in training, in position_unit
--   position_unit: step, tokens or epoch
--   tokens: training tokens seen
--   run_id: id of the run
--   metric: name of the metric
--   metric_filter: filter pipeline of the harness; '' if none
--   estimate: the figure, in the metric's reported unit
--   standard_error: of the figure; null if unknown or 0
--   change: difference to the checkpoint before
--   best_so_far: best figure up to this checkpoint; unknown direction: higher is better
--   origin: recomputed or published
select
  curve.benchmark,
  curve.split,
  curve.training_seed,
  curve.recipe,
  curve.position,
  curve.position_unit,
  curve.tokens,
  curve.run_id,
  curve.metric,
  curve.metric_filter,
  curve.estimate,
  curve.standard_error,
  curve.change,
  case when curve.higher_is_better = false
    then min(curve.estimate) over so_far
    else max(curve.estimate) over so_far
  end as best_so_far,
  curve.origin
from checkpoint_curve curve
where curve.model = :model
  and curve.is_default
  and (:benchmark = '' or curve.benchmark = :benchmark)
window so_far as (
  partition by
    curve.benchmark, curve.split, curve.training_seed, curve.recipe, curve.position_unit,
    curve.fewshot, curve.metric_id
  order by curve.position nulls last, curve.run_id nulls last
  rows between unbounded preceding and current row
)
order by
  curve.benchmark nulls last, curve.split nulls last, curve.training_seed nulls last,
  curve.recipe nulls last, curve.position nulls last, curve.run_id nulls last
