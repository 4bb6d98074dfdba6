-- What happened on the way to the responses of a run: turns, tools, limits, tokens, time, cost.
-- What a dump does not say is null, never 0; means are over the generations that say it.
-- grain: one row per current run that has transcripts
-- columns:
--   run_id: id of the run
--   model: name of the model
--   benchmark: name of the benchmark
--   split: part of the benchmark
--   n_generations: generations of the run
--   n_transcripts: those of which something is known beyond prompt and response
--   mean_messages: messages per generation
--   mean_turns: messages that the model wrote, per generation
--   mean_tool_calls: calls of tools per generation
--   n_tool_calls: calls of tools, all together
--   n_tool_errors: calls that came back as an error; null if the dump does not say of some
--   n_limited: generations that a limit ended (of messages, tokens, time ...)
--   mean_events: entries of the tool's own log per generation
--   mean_input_tokens: per generation
--   mean_output_tokens: per generation
--   mean_reasoning_tokens: of the output, per generation
--   mean_cached_tokens: of the input, per generation
--   mean_latency: per generation [s]
--   cost: sum over generations [US dollars]
select
  fact.run_id,
  min(r.model) as model,
  min(r.benchmark) as benchmark,
  min(r.split) as split,
  count(*) as n_generations,
  count(way.run_id) as n_transcripts,
  -- exp(0) makes a double of whole numbers on every engine
  exp(0) * sum(way.n_messages) / count(way.n_messages) as mean_messages,
  exp(0) * sum(way.n_turns) / count(way.n_turns) as mean_turns,
  exp(0) * sum(way.n_tool_calls) / count(way.n_tool_calls) as mean_tool_calls,
  cast(sum(way.n_tool_calls) as bigint) as n_tool_calls,
  case when count(case when way.n_tool_calls > 0 and way.n_tool_errors is null then 1 end) = 0
    then cast(sum(way.n_tool_errors) as bigint) end as n_tool_errors,
  count(way.limit_hit) as n_limited,
  exp(0) * sum(way.n_events) / count(way.n_events) as mean_events,
  exp(0) * sum(fact.input_tokens) / count(fact.input_tokens) as mean_input_tokens,
  exp(0) * sum(fact.output_tokens) / count(fact.output_tokens) as mean_output_tokens,
  exp(0) * sum(way.reasoning_tokens) / count(way.reasoning_tokens) as mean_reasoning_tokens,
  exp(0) * sum(way.cached_tokens) / count(way.cached_tokens) as mean_cached_tokens,
  avg(fact.latency) as mean_latency,
  sum(fact.cost) as cost
from generation fact
join run_current r on r.run_id = fact.run_id
left join transcript way
  on way.run_id = fact.run_id
  and way.prompt_id = fact.prompt_id
  and way.variant_id = fact.variant_id
  and way.draw = fact.draw
where fact.run_id in (select run_id from transcript)
group by fact.run_id
