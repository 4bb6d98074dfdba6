-- Votes with all their ids. The model of the smaller id is a, so that it makes no difference which
-- way round a source says it. `is_own`: votes by the same on the same are several, in the order of
-- the source: of people who are not told apart, on questions that are not, or as the user says.
-- grain: one row per vote; place counts those of one key
create or replace temp table stage_preference as
with voted as (
    select v.r, v.part, s.source_id, b.benchmark_id, p.prompt_id, t.variant_id,
        least(m.checkpoint_id, o.checkpoint_id) as checkpoint_a_id,
        greatest(m.checkpoint_id, o.checkpoint_id) as checkpoint_b_id,
        m.checkpoint_id > o.checkpoint_id as is_turned, coalesce(v.first, 'unknown') as first,
        j.scorer_id, coalesce(v.voter, '') as voter, v.outcome, coalesce(v.weight, 1.0) as weight,
        coalesce(v.draw, 0) as draw, v.created_at,
        coalesce(v.covariates_a, v.covariates_b) is not null as has_covariates,
        coalesce(cast(v.covariates_a as json), json_object()) as of_a,
        coalesce(cast(v.covariates_b as json), json_object()) as of_b,
        j.scorer_kind = 'human' and coalesce(v.voter, '') = '' or p.prompt_id is null
            or $numbered = 1 as is_own
    from stage_vote as v
    join vote_source as s on s.part = v.part
    join vote_benchmark as b on b.benchmark = v.benchmark
    join vote_model as m on m.model = v.model_a
    join vote_model as o on o.model = v.model_b
    join vote_scorer as j on j.scorer = coalesce(v.scorer, '')
        and j.scorer_kind = coalesce(v.scorer_kind, 'human')
        and j.judge_model = coalesce(v.judge_model, '')
    join vote_variant as t on t.perturbation = coalesce(v.perturbation, '')
        and t.template = coalesce(v.template, '')
    left join vote_prompt as p on p.benchmark_id = b.benchmark_id
        and p.split = coalesce(v.split, '') and p.key = coalesce(v.identity, v.prompt_id)
),
turned as (
    select * exclude (is_turned, has_covariates, of_a, of_b) replace (
        case when not is_turned then first when first = 'a' then 'b' when first = 'b' then 'a'
            else first end as first,
        case when not is_turned then outcome when outcome = 'a' then 'b' when outcome = 'b' then 'a'
            else outcome end as outcome),
        case when not has_covariates then null when is_turned then json_object('a', of_b, 'b', of_a)
            else json_object('a', of_a, 'b', of_b) end as covariates
    from voted
)
select *, row_number() over (of_key order by r) - 1 as place, count(*) over of_key as n_same,
    hash(outcome, weight, covariates, created_at) as said
from turned
window of_key as (
    partition by source_id, benchmark_id, scorer_id, voter, prompt_id, variant_id,
        checkpoint_a_id, checkpoint_b_id, first, case when is_own then -1 else draw end
)
