-- Current runs with the settings that distinguish training replicates and their checkpoints.
-- grain: one row per run
-- placeholder: here condition -- on run.benchmark_id
select run.run_id, run.model, run.model_recorded, run.revision, run.checkpoint, run.training_seed,
  run.position, run.position_unit, run.recipe, run.agent, run.agent_version, run.split,
  run.benchmark_recorded, run.benchmark_version, run.task_version, run.harness, run.formulation,
  run.fewshot, run.fewshot_seed, run.reasoning_effort, run.temperature, run.top_p, run.max_tokens,
  run.endpoint, run.opponent, run.template_hash, run.system_prompt_hash, run.scorers_key,
  run.benchmark, run.benchmark_id, run.parameter_count
from run_current run
where {here}
order by run.run_id
