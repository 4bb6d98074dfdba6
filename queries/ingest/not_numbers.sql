-- Values of metrics that are no finite number: infinite, lists, words. A missing one or a NaN is
-- not among them. They are kept as text and count as unscored.
-- grain: one row per run and metric
select s.run, m.metric, count(*) as n
from stage_score as s
join (select distinct run, metric, metric_id from metric_id) as m
    on m.run = s.run and m.metric_id = s.metric_id
where s.value is null and s.raw is not null
    and (s.status = 'not_scalar' or regexp_matches(lower(s.raw), '^"?\s*[+-]?inf(inity)?\s*"?$'))
group by s.run, m.metric
order by s.run, m.metric
