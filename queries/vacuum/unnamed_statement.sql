-- Removes statements about rows that are gone.
-- grain: one row per statement
delete from statement
where (about = 'benchmark' and subject_id in (select id from unnamed_benchmark))
   or (about in ('benchmark_metric', 'bounds')
       and not exists (select 1 from benchmark_metric where benchmark_metric.id = subject_id))
   or (about in ('run', 'invalidated', 'transcripts', 'samples', 'figures', 'tags',
           'tags of people')
       and not exists (select 1 from run where run.id = subject_id))
   or (about = 'prompt' and not exists (select 1 from prompt where prompt.id = subject_id))
