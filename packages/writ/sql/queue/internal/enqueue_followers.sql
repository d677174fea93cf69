-- Enqueues the jobs that follow from facts for one consumer.
-- Answers: enqueued, how many; refused, {reason, detail} when the queue takes none of them: then
--          the consumer stays where it is, and nothing is enqueued.
--
-- One bad fact stops no other: the consumer skips a fact whose job alone is refused or raises. An
-- alert names the consumer, and the record names the facts; fn_consumer_dispatch enqueues their
-- jobs later. After a transient error the consumer skips nothing, and waits for the next call.
create or replace function writ_data.enqueue_followers(
  p_consumer text,
  p_jobs jsonb,
  p_at timestamptz,
  out enqueued integer,
  out refused jsonb
)
language plpgsql
as $$
declare
  v_actor text := left('consumer:' || p_consumer, 200);
  v_answer jsonb;
  v_left_out jsonb := '[]'::jsonb;         -- [{index, reason, detail}]
begin
  enqueued := 0;
  begin
    v_answer := writ_data.enqueue_jobs(p_jobs, v_actor);
    if v_answer ? 'reason' then
      refused := v_answer - 'refused';
      return;
    end if;
    enqueued := (v_answer ->> 'enqueued')::integer;
    v_left_out := v_answer -> 'refused';
  exception when others then
    if writ_data.is_transient(sqlstate) then
      refused := jsonb_build_object('reason', sqlstate, 'detail', left(sqlerrm, 500));
      return;
    end if;
    -- One of them raises: enqueue them one by one.
    for v_index in 0 .. jsonb_array_length(p_jobs) - 1 loop
      begin
        v_answer := writ_data.enqueue_jobs(jsonb_build_array(p_jobs -> v_index), v_actor);
        enqueued := enqueued + (v_answer ->> 'enqueued')::integer;
        v_answer := v_answer #> '{refused,0}';
      exception when others then
        if writ_data.is_transient(sqlstate) then
          raise;                    -- takes the call back: the next one finds every fact
        end if;
        v_answer := jsonb_build_object('reason', sqlstate, 'detail', left(sqlerrm, 500));
      end;
      if v_answer is not null then
        v_left_out := v_left_out || (v_answer || jsonb_build_object('index', v_index));
      end if;
    end loop;
  end;

  if jsonb_array_length(v_left_out) = jsonb_array_length(p_jobs) then
    refused := (v_left_out -> 0) - 'index';
  elsif v_left_out <> '[]' then
    perform writ_data.raise_alert(
      'CLOCKWORK_SET_ASIDE', 'P1', null, 'consumer/' || p_consumer,
      jsonb_build_object(
        'sqlstate', v_left_out #> '{0,reason}',
        'error', v_left_out #> '{0,detail}',
        'event_id', p_jobs -> (v_left_out #>> '{0,index}')::integer -> 'causation_event_id'),
      v_actor, p_at
    );
    perform writ_data.record(
      'fn_consumer_dispatch_many', v_actor, p_at, '{}', '{}', '{}', '{}',
      p_note => left('left out ' || (
        select string_agg(
          concat(p_jobs -> l.index ->> 'causation_event_id', ' ', l.reason), ', ' order by l.index)
        from jsonb_to_recordset(v_left_out) l(index integer, reason text)
      ), 4000)
    );
  end if;
end $$;
