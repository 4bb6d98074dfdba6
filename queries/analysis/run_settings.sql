-- Settings of runs that only JSON fields hold.
-- grain: one row per run
select run.id as run_id, run.sampling, run.configuration, agent.parameters as agent,
    training_seed.hyperparameters
from run
join agent on agent.id = run.agent_id
join checkpoint on checkpoint.id = run.checkpoint_id
join training_seed on training_seed.id = checkpoint.training_seed_id
where run.id in (:run_ids)
