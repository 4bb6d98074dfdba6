-- Current runs with all that is known of how they were made.
-- grain: one row per run
select run.id, run.split, run.task_version, run.benchmark_version, run.formulation, run.fewshot,
    run.fewshot_seed, run.template_hash, run.system_prompt_hash, run.temperature, run.top_p,
    run.max_tokens, run.reasoning_effort, run.sampling_seed, run.sampling, run.endpoint,
    run.opponent, run.configuration, run.n_benchmark, run.n_requested, run.started_at, run.status,
    run.tags, run.note, run.condition_key, run.content_digest, run.n_scores,
    run_group.harness, run_group.harness_version, run_group.harness_run_id as run_id,
    run_group.commit_hash as harness_commit, run_group.hardware, run_group.cost,
    model.name as model, model.family, model.developer, model.parameter_count,
    training_seed.label as training_seed, training_seed.recipe,
    training_seed.initialisation_seed, training_seed.data_order_seed,
    training_seed.hyperparameters,
    checkpoint.position, checkpoint.position_unit, checkpoint.tokens, checkpoint.revision,
    checkpoint.base_checkpoint, checkpoint.is_final,
    agent.name as agent, agent.version as agent_version, agent.parameters as agent_parameters,
    benchmark.name as benchmark, benchmark.dataset_revision, run.benchmark_id
from run_current
join run on run.id = run_current.run_id
join run_group on run_group.id = run.run_group_id
join checkpoint on checkpoint.id = run.checkpoint_id
join training_seed on training_seed.id = checkpoint.training_seed_id
join model on model.id = training_seed.model_id
join agent on agent.id = run.agent_id
join benchmark on benchmark.id = run.benchmark_id
order by run.id nulls last
