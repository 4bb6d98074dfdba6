-- Which runs of a dump and stored runs both have a fact of one draw of a prompt.
-- grain: one row per pair
-- placeholder: staged table -- the staged facts
select distinct pair.run, pair.stored_id
from pair
join {staged} as staged on staged.run = pair.run
join stored_fact on stored_fact.run_id = pair.stored_id
    and stored_fact.prompt_id = staged.prompt_id
    and stored_fact.variant_id = staged.variant_id
    and stored_fact.draw = staged.draw
