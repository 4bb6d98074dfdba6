-- The calls of tools in the transcripts of runs to store.
-- grain: one row per generation and tool
select k.run_id, g.prompt_id, g.variant_id, g.draw, called.tool,
    cast(sum(coalesce(called.n_calls, 0)) as integer) as n_calls,
    cast(sum(called.n_errors) as integer) as n_errors
from (select r, run, unnest(tools, max_depth := 2) from stage_transcript) as called
join stage_generation as g on g.r = called.r
join transcript_run as k on k.run = called.run
group by k.run_id, g.prompt_id, g.variant_id, g.draw, called.tool
order by k.run_id, g.prompt_id, g.variant_id, g.draw, called.tool
