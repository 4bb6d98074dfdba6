-- Every name of a model, and the one that views show.
-- grain: one row per model
select model.name, coalesce(named.name, model.name) as shown
from model
left join model named on named.id = model.canonical_id
order by model.name
