-- Runs, current or not, by the names that models and benchmarks are shown under.
-- grain: one row per run
select run.id as run_id, coalesce(named_model.name, model.name) as model,
    checkpoint.key as checkpoint, training_seed.label as training_seed, agent.name as agent,
    coalesce(named_benchmark.name, benchmark.name) as benchmark, run.split, run_group.harness,
    run.fewshot, run.temperature, run.sampling_seed, run.n_found, run.n_scores, run.status,
    run.status_reason, run.superseded_by,
    coalesce(run.started_at, run_group.started_at) as started_at, run.tags, run.note,
    run.condition_key
from run
join run_group on run_group.id = run.run_group_id
join checkpoint on checkpoint.id = run.checkpoint_id
join training_seed on training_seed.id = checkpoint.training_seed_id
join model on model.id = training_seed.model_id
left join model as named_model on named_model.id = model.canonical_id
join agent on agent.id = run.agent_id
join benchmark on benchmark.id = run.benchmark_id
left join benchmark as named_benchmark on named_benchmark.id = benchmark.canonical_id
order by run.id
