-- Whether the samples of two stored runs say something else, by column.
-- grain: one row
-- placeholder: differs column -- one for each column that is compared, with commas between them
-- placeholder: table table -- the samples
-- placeholder: place column -- what says which sample a row is of, with commas between them
select {differs}
from {table} as said
join (select * from {table} where run_id = :new) as held using ({place})
where said.run_id = :old
