-- Removes agents that no run has.
-- grain: one row per agent
delete from agent where not exists (select 1 from run where run.agent_id = agent.id)
