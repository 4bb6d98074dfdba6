-- The scores that scanners give to the generations of some runs. Of several scans the later
-- counts; one that failed says nothing where another has a value.
-- grain: one row per run, prompt, variant, draw and metric
insert into score (
    run_id, prompt_id, variant_id, draw, metric_id, value, weight, n_draws, raw, status, origin
)
with named as (
    select way.run_id, way.prompt_id, way.variant_id, way.draw, found.metric_id, found.value,
        found.raw, found.status, found.scanned_at, found.scan_id, found.source_id
    from transcript way
    join scan_value found on found.uuid = way.uuid
    where found.position = 0 and way.run_id in (select run_id from scanned_pair)
    union all
    select way.run_id, way.prompt_id, way.variant_id, way.draw, found.metric_id, found.value,
        found.raw, found.status, found.scanned_at, found.scan_id, found.source_id
    from transcript way
    join scan_value found on found.place = way.place
    where found.position = 0 and found.uuid <> coalesce(way.uuid, '')
        and way.run_id in (select run_id from scanned_pair)
),
ranked as (
    select named.*,
        row_number() over (
            partition by
                named.run_id, named.prompt_id, named.variant_id, named.draw, named.metric_id
            order by
                case when named.status in ('error', 'refused') then 1 else 0 end nulls last,
                named.scanned_at desc nulls last,
                named.scan_id desc nulls last,
                named.source_id desc nulls last
        ) as place
    from named
    join scanned_pair pair
        on pair.run_id = named.run_id and pair.metric_id = named.metric_id
)
select run_id, prompt_id, variant_id, draw, metric_id, value, 1.0, 1, raw, status, 'scanned'
from ranked
where place = 1
order by run_id, metric_id, prompt_id, variant_id, draw
