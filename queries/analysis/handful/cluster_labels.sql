-- What clusters are called.
-- grain: one row per cluster
select id, label
from cluster
where id in (:cluster_ids)
