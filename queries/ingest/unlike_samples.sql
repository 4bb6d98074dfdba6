-- Whether runs of a load say something else of single samples than what stands of the stored runs
-- that they are.
-- grain: one row per run of the load
-- placeholder: differs condition -- one for each column that is compared, with commas between them
-- placeholder: table table -- the staged samples
-- placeholder: place column -- what says which sample a row is of, with commas between them
select again_run.run, {differs}
from again_run
join {table} as said on said.run = again_run.run
join held_sample as held using (run_id, {place})
group by again_run.run
order by again_run.run
