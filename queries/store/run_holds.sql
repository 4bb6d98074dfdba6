-- Whether every fact that a run has settled (:part) stands in another one (:whole), of which it has
-- fewer or as many.
-- grain: one row
select not exists (
        select prompt_id, variant_id, draw, metric_id, value
        from score
        where run_id = :part and value is not null and origin <> 'scanned'
        except
        select prompt_id, variant_id, draw, metric_id, value
        from score
        where run_id = :whole and origin <> 'scanned'
    )
    and not exists (
        select prompt_id, variant_id, draw, response_hash
        from generation
        where run_id = :part and error is null
        except
        select prompt_id, variant_id, draw, response_hash
        from generation
        where run_id = :whole
    )
    and not exists (
        select prompt_id, variant_id, draw, choice_index, loglikelihood
        from choice
        where run_id = :part and loglikelihood is not null
        except
        select prompt_id, variant_id, draw, choice_index, loglikelihood
        from choice
        where run_id = :whole
    )
    and exists (
        select 1
        from run as part
        join run as whole on whole.id = :whole
        where part.id = :part and 0 < part.n_found and part.n_found <= whole.n_found
            and part.n_generations <= whole.n_generations and part.n_scores <= whole.n_scores
    ) as holds
