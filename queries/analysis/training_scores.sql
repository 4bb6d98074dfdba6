-- Figures of current runs with what tells trained replicates and their checkpoints apart.
-- grain: one row per run and metric
-- placeholder: metrics condition -- on columns of run_score
-- placeholder: here condition -- on r.benchmark_id
select r.run_id, r.model, r.model_recorded, r.revision, r.checkpoint, r.training_seed, r.position,
  r.position_unit, r.recipe, r.agent, r.agent_version, r.split, r.benchmark_recorded,
  r.benchmark_version, r.task_version, r.harness, r.formulation, r.fewshot, r.fewshot_seed,
  r.reasoning_effort, r.temperature, r.top_p, r.max_tokens, r.endpoint, r.opponent,
  r.template_hash, r.system_prompt_hash, r.scorers_key, r.benchmark, r.benchmark_id,
  s.metric_id, s.metric, s.metric_filter, s.higher_is_better, s.estimate, s.standard_error
from run_score s
join run_current r on r.run_id = s.run_id
where s.estimate is not null and {metrics} and {here}
order by r.benchmark, s.metric, s.metric_filter, r.model, r.training_seed, r.position, r.run_id
