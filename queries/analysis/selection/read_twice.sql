-- Loaded sources whose bytes were read in another way as well.
-- grain: one row per source
select source.id, source.sha256, source.path, cast(source.settings as text) as settings
from source
join (
    select sha256
    from source
    where state = 'loaded'
    group by sha256
    having count(*) > 1
) several on several.sha256 = source.sha256
where source.state = 'loaded'
