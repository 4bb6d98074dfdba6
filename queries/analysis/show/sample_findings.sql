-- What scanners found in a run's responses to a prompt, or said of their parts; where several scans
-- say the same it stands once.
-- grain: one row per variant, draw, metric and item
with named as (
    select way.variant_id, way.draw, found.metric_id, found.position, found.label, found.value,
        found.raw, found.status, found.scan_id
    from transcript way
    join scan_value found on found.uuid = way.uuid
    where way.run_id = :run and way.prompt_id = :prompt and found.position > 0
    union
    select way.variant_id, way.draw, found.metric_id, found.position, found.label, found.value,
        found.raw, found.status, found.scan_id
    from transcript way
    join scan_value found on found.place = way.place
    where way.run_id = :run and way.prompt_id = :prompt and found.position > 0
)
select prompt_variant.perturbation, named.draw, metric.name as metric,
    metric.filter as metric_filter, named.position as item, named.label, named.value, named.raw,
    named.status, min(named.scan_id) as scan_id
from named
join prompt_variant on prompt_variant.id = named.variant_id
join metric on metric.id = named.metric_id
group by prompt_variant.perturbation, named.draw, metric.name, metric.filter, named.position,
    named.label, named.value, named.raw, named.status
order by prompt_variant.perturbation nulls last, named.draw nulls last, metric.name nulls last,
    metric.filter nulls last, named.position nulls last, min(named.scan_id) nulls last
