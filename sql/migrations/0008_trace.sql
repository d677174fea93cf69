-- Traces: whoever enqueues a job or starts a run inside a trace leaves its place in it with the work, as the 55 characters of W3C Trace Context, so that whoever does the work, or is told of it, goes on with the same trace. The
-- last two say whether it is recorded at all: that decision is kept, too. Null: nobody traces, and nothing is written, sent or read.

-- Columns without a default, and constraints that do not look at what is there, which has none: no table is read or written for it. One regular expression would say the same and take ten times as long, for each job that is traced.
alter table writ_data.job add column traceparent text;
alter table writ_data.job add constraint traceparent_is_a_place_in_a_trace check (traceparent like '00-________________________________-________________-__' and traceparent not like '%-%-%-%-%' and traceparent !~ '[^0-9a-f-]') not valid;
comment on column writ_data.job.traceparent is 'Where in a trace it was enqueued; of a step, where its run was started.';
alter table writ_data.run add column traceparent text;
alter table writ_data.run add constraint traceparent_is_a_place_in_a_trace check (traceparent like '00-________________________________-________________-__' and traceparent not like '%-%-%-%-%' and traceparent !~ '[^0-9a-f-]') not valid;
comment on column writ_data.run.traceparent is 'Where in a trace it was started.';

-- Their signatures have changed; the objects that take their places are made after this.
drop function if exists writ.fn_job_enqueue_alike(text, uuid[], json, text, text, smallint, boolean);
drop function if exists writ_data.enqueue_unlike(text, uuid[], json, text, text, smallint, boolean);
drop function if exists writ_data.outbox_event(uuid, text, uuid, text, timestamptz, text, integer, text, text, integer, jsonb, jsonb);
