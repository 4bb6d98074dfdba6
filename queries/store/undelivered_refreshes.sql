-- Finished refreshes whose alerts may still have to be delivered. Strings in JSON have their quotes
-- escaped: what is searched for stands for the marks and nothing else.
-- grain: one row per refresh
-- placeholder: refresh number -- id of the refresh that delivers
select refresh.id, refresh.finished_at, cast(refresh.summary as varchar) as summary
from refresh
where refresh.finished_at is not null and refresh.id <= {refresh:d} and (
    refresh.id = {refresh:d}
    or strpos(cast(refresh.summary as varchar), '"due"') > 0
    or refresh.id > (
        select max(marked.id) from refresh marked
        where marked.id < {refresh:d} and strpos(cast(marked.summary as varchar), '"alerts":') > 0
    )
)
order by refresh.id
