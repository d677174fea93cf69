-- Recurring schedules. A schedule is a definition and the next tick it waits for; a tick that has
-- fired is a row of its own, whose key is the proof that it fires once. The only row that moves is
-- the schedule itself, once per firing, whatever the number of ticks.

create table writ_data.schedule (
  tenant_id  text not null,
  schedule   text not null,
  cron       text not null,
  time_zone  text not null,
  catch_up   text not null,
  job_kind   text not null,
  job        jsonb not null,
  version    integer not null default 1,
  next_tick  timestamptz not null,
  paused_at  timestamptz,
  paused_by  text,
  created_at timestamptz not null,
  created_by text not null,
  updated_at timestamptz not null,
  updated_by text not null,
  aside_until timestamptz,
  primary key (tenant_id, schedule),
  constraint tenant_is_not_blank check (tenant_id <> ''),
  constraint schedule_is_a_name check (schedule ~ '^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,199}$'),
  constraint cron_is_five_fields_or_a_nickname
    check (cron ~ '^(@[a-z]+|[^ @]+( [^ ]+){4})$' and length(cron) <= 1000),
  constraint time_zone_is_a_name check (time_zone ~ '^[A-Za-z][A-Za-z0-9_+/-]{0,99}$'),
  constraint catch_up_is_known check (catch_up in ('none', 'last', 'all')),
  constraint job_is_an_object check (jsonb_typeof(job) = 'object'),
  constraint next_tick_is_a_whole_minute
    check (isfinite(next_tick) and extract(second from next_tick) = 0),
  constraint paused_by_somebody check ((paused_at is null) = (paused_by is null))
);
comment on column writ_data.schedule.job is
  'What each tick enqueues, as fn_job_enqueue_many takes it; id, kind, key and tenant are added '
  'when it fires.';
comment on column writ_data.schedule.version is
  'Counts changes of the definition: ticks that were worked out from an older one do not fire.';
comment on column writ_data.schedule.aside_until is
  'It raised an error when it fired, and is not due before this.';
create index schedule_by_next_tick
  on writ_data.schedule (next_tick, tenant_id, schedule) where paused_at is null;

create table writ_data.schedule_tick (
  tenant_id text not null,
  schedule  text not null,
  tick      timestamptz not null,
  job_id    uuid not null,
  fired_at  timestamptz not null,
  fired_by  text not null,
  primary key (tenant_id, schedule, tick),
  foreign key (tenant_id, schedule) references writ_data.schedule on delete cascade,
  constraint tick_is_a_whole_minute check (isfinite(tick) and extract(second from tick) = 0)
);
comment on table writ_data.schedule_tick is
  'Ticks that have fired, and the job of each. Kept as long as finished jobs are.';

create trigger schedule_tick_is_written_once before update on writ_data.schedule_tick
  for each row execute function writ_data.refuse_change();
