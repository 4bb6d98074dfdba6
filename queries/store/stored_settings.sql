-- All that is stored of how runs were made whose settings are not worked out yet.
-- grain: one row per run
select run.id as run_id, run.split, run.task_version, run.benchmark_version, run.formulation,
    run.fewshot, run.fewshot_seed, run.template_hash, run.system_prompt_hash, run.temperature,
    run.top_p, run.max_tokens, run.reasoning_effort, run.sampling_seed,
    cast(run.sampling as varchar) as sampling, run.endpoint, run.opponent, run.scorers_key,
    cast(run.configuration as varchar) as configuration, run.started_at, run.n_found,
    run_group.harness, run_group.harness_version, run_group.harness_run_id as harness_run,
    run_group.commit_hash as harness_commit, run_group.cost,
    model.name as model, training_seed.label as training_seed, training_seed.recipe,
    training_seed.initialisation_seed, training_seed.data_order_seed,
    cast(training_seed.hyperparameters as varchar) as hyperparameters,
    checkpoint.position, checkpoint.position_unit, checkpoint.tokens, checkpoint.revision,
    checkpoint.base_checkpoint, agent.name as agent, agent.version as agent_version,
    cast(agent.parameters as varchar) as agent_parameters,
    benchmark.name as benchmark, benchmark.dataset_revision
from run
join run_group on run_group.id = run.run_group_id
join checkpoint on checkpoint.id = run.checkpoint_id
join training_seed on training_seed.id = checkpoint.training_seed_id
join model on model.id = training_seed.model_id
join agent on agent.id = run.agent_id
join benchmark on benchmark.id = run.benchmark_id
where run.settings is null
order by run.id
