-- Runs that count: not invalidated and not superseded, with all that was set for them.
-- grain: one row per current run (one condition on one benchmark and split; repeats are rows)
-- columns:
--   run_id: id of the run
--   model: name that its alias points to, else its own
--   model_recorded: name as the dump has it
--   family: model family
--   developer: who made the model
--   parameter_count: parameters of the model
--   training_seed: label of the trained replicate; '' if unknown
--   recipe: recipe or data mix of the training; '' if unknown
--   checkpoint: key of the checkpoint inside its training run
--   position: place in training, in position_unit; null if unknown
--   position_unit: step, tokens or epoch
--   tokens: training tokens seen
--   revision: published revision of the weights
--   is_final: last checkpoint of its training; null if unknown
--   agent: scaffold around the model; '' if none
--   agent_version: version of the scaffold
--   benchmark: name that its alias points to, else its own
--   benchmark_recorded: name as the dump has it
--   split: part of the benchmark; '' if it has only one
--   task_version: version of the task definition
--   benchmark_version: version of the data
--   harness: tool that made the run
--   harness_version: its version
--   formulation: multiple_choice, generate_until, cloze …
--   fewshot: examples in the prompt
--   fewshot_seed: seed of their choice
--   template_hash: hash of the prompt template
--   system_prompt_hash: hash of the system prompt
--   temperature: sampling temperature
--   top_p: nucleus sampling limit
--   max_tokens: limit of generated tokens
--   reasoning_effort: as the endpoint names it
--   sampling_seed: seed of the generations; the only setting in which repeats differ
--   endpoint: service that ran the model
--   opponent: the other side of pairwise judgements
--   scorers_key: which scorers judged
--   status: complete, truncated or failed
--   status_reason: why not complete
--   n_benchmark: prompts that the benchmark has, as declared
--   n_requested: prompts that the run says it covers
--   n_found: prompts found in the dump
--   n_generations: generations stored
--   n_choices: answer options stored
--   n_scores: scores stored
--   started_at: start of the run, else of its invocation [UTC]
--   condition_key: what was measured; equal for repeats
--   run_key: the tool's own identity of the run
--   note: a user's remark
--   model_id: id of the model that model names
--   checkpoint_id: id of the checkpoint
--   training_seed_id: id of the trained replicate
--   agent_id: id of the agent
--   benchmark_id: id of the run's own benchmark (not of the one its alias points to)
--   run_group_id: id of the invocation
select
  run.id as run_id,
  coalesce(named_model.name, model.name) as model,
  model.name as model_recorded,
  coalesce(named_model.family, model.family) as family,
  coalesce(named_model.developer, model.developer) as developer,
  coalesce(named_model.parameter_count, model.parameter_count) as parameter_count,
  training_seed.label as training_seed,
  training_seed.recipe,
  checkpoint.key as checkpoint,
  checkpoint.position,
  checkpoint.position_unit,
  checkpoint.tokens,
  checkpoint.revision,
  checkpoint.is_final,
  agent.name as agent,
  agent.version as agent_version,
  coalesce(named_benchmark.name, benchmark.name) as benchmark,
  benchmark.name as benchmark_recorded,
  run.split,
  run.task_version,
  run.benchmark_version,
  run_group.harness,
  run_group.harness_version,
  run.formulation,
  run.fewshot,
  run.fewshot_seed,
  run.template_hash,
  run.system_prompt_hash,
  run.temperature,
  run.top_p,
  run.max_tokens,
  run.reasoning_effort,
  run.sampling_seed,
  run.endpoint,
  run.opponent,
  run.scorers_key,
  run.status,
  run.status_reason,
  run.n_benchmark,
  run.n_requested,
  run.n_found,
  run.n_generations,
  run.n_choices,
  run.n_scores,
  coalesce(run.started_at, run_group.started_at) as started_at,
  run.condition_key,
  run.run_key,
  run.note,
  coalesce(named_model.id, model.id) as model_id,
  run.checkpoint_id,
  checkpoint.training_seed_id,
  run.agent_id,
  run.benchmark_id,
  run.run_group_id
from run
join run_group on run_group.id = run.run_group_id
join checkpoint on checkpoint.id = run.checkpoint_id
join training_seed on training_seed.id = checkpoint.training_seed_id
join model on model.id = training_seed.model_id
left join model named_model on named_model.id = model.canonical_id
join agent on agent.id = run.agent_id
join benchmark on benchmark.id = run.benchmark_id
left join benchmark named_benchmark on named_benchmark.id = benchmark.canonical_id
where run.status <> 'invalidated' and run.superseded_by is null
