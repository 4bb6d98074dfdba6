-- Stored runs of some conditions or with some keys.
-- grain: one row per run
-- placeholder: columns column -- of run, with commas between them
select {columns} from run
where condition_key in (select unnest(cast(:conditions as varchar[])))
union
select {columns} from run
where run_key in (select unnest(cast(:run_keys as varchar[])))
