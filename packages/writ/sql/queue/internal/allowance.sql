-- Counts how many jobs of a limited kind and key a claim may hand out now, of p_want.
-- Answers: jobs, at the moment `at`, read after the lock. By concurrency: p_want less what leases
--          hold. By rate: what of the burst is full, but never more than the caller begins at once
--          (p_begin), because what a rate allows is started with the claim. Both less what this
--          claim has taken already (p_taken). again_ms: when to ask again, in an hour at the
--          latest; starts: has a rate.
-- Locks:   the slot of the key in limit_turn, until the claim ends. A key whose slot another claim
--          holds is passed over. It counts in statements after the lock, which see what had
--          committed when they began; a claim in another isolation level would not, and gets none.
create or replace function writ_data.allowance(
  p_kind text,
  p_key text,
  p_want integer,
  p_begin integer,
  p_taken integer,
  out jobs integer,
  out at timestamptz,
  out again_ms double precision,
  out starts boolean
)
language plpgsql
as $$
declare
  v_concurrency integer;
  v_rate double precision;
  v_burst double precision;
  v_missing double precision;       -- of the burst
  v_full double precision;          -- of the burst; -1: none, and more is missing
begin
  jobs := 0;
  perform from writ_data.limit_turn t
  where t.slot = (hashtextextended(p_kind || ' ' || p_key, 0) & 4095)::smallint
    and current_setting('transaction_isolation') = 'read committed'
  for update skip locked;
  if not found then
    again_ms := 5;
    at := writ.now();
    return;
  end if;

  select limit_concurrency, limit_rate, limit_burst
  into v_concurrency, v_rate, v_burst
  from writ_data.job_kind
  where job_kind = p_kind;
  jobs := p_want;
  if v_concurrency is not null then
    jobs := least(jobs, v_concurrency - p_taken - (
      select coalesce(sum(open_jobs), 0)
      from writ_data.limit_hold
      where job_kind = p_kind and limit_key = p_key
    ));
  end if;

  starts := v_rate is not null;
  at := writ.now();
  if starts and jobs > 0 then
    v_missing := coalesce((
      select extract(epoch from greatest(full_at - at, interval '0')) * v_rate
      from writ_data.limit_meter
      where job_kind = p_kind and limit_key = p_key
    ), 0);
    -- The rate may have been raised since: then more is missing than an integer can count.
    v_full := greatest(v_burst - v_missing, -1);
    jobs := least(jobs, floor(v_full)::integer - p_taken);
    if jobs <= 0 then
      again_ms := least(ceil((1 + p_taken - v_full) / v_rate * 1000), 3600000);
    else
      jobs := least(jobs, p_begin);
    end if;
  end if;
end $$;
