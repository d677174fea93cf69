/**
 * What the demo claims, counted in the database: by the witness, in the record and in the ledger.
 * Nothing is taken from the programs' own counters.
 */

import type pg from 'pg';
import { readRows } from '../database/gate.js';
import { signedBy } from '../governance/keys.js';

export interface Figures {
  /** Writes and a claim, with the agent's own login. */
  readonly directWrites: { readonly tried: number; readonly denied: number };
  /** Forged evidence, with the agent's own login. */
  readonly forgeries: readonly Forgery[];
  /** Approvals and activations by those who may not, and the codes they were refused with. */
  readonly overreach: { readonly tried: number; readonly refused: readonly string[] };
  /** What an approved contract was refused with after somebody had edited it. */
  readonly edited: string;
  /** Whether all of that has left everything as it was. */
  readonly untouched: boolean;
  readonly killed: Killed;
  readonly completed: { readonly status: string; readonly audit: string; readonly checks: number };
  readonly restored: {
    readonly status: string;
    readonly stateBefore: string;
    readonly stateBetween: string;
    readonly stateAfter: string;
  };
  readonly governed: Governed;
  readonly changes: Changes;
  readonly ledger: Evidence;
}

export interface Forgery {
  readonly what: string;
  /** PostgreSQL or the name of the gate that refused it; null if it was not refused. */
  readonly by: string | null;
  readonly code: string;
  /** Receipts that the refusal left. */
  readonly receipts: number;
}

/** The step over which a worker was killed. */
export interface Killed extends StepTraces {
  readonly signal: string;
  /** Where the worker was. */
  readonly point: string;
}

export interface StepTraces {
  readonly effects: number;
  readonly receipts: number;
  readonly events: number;
}

/** All changes together. */
export interface Changes extends StepTraces {
  /** Steps that have more than one receipt or event. */
  readonly twice: number;
  /** Of contracts that nobody has signed who may. */
  readonly unapproved: number;
  readonly approvals: number;
  /** Of those, how many the public key bears out. */
  readonly signed: number;
}

/** What a governor has made of signals. */
export interface Governed {
  readonly signals: number;
  readonly decided: number;
  /** In the buffer of the storm. */
  readonly waiting: number;
  /** Signals that a receipt has settled. */
  readonly settled: number;
  readonly storms: number;
  /** Writes of what the governor may change, as the witness saw them. */
  readonly changes: number;
  /** From the signal to the effect, its audit and its receipts. */
  readonly ms: number;
}

export interface Evidence {
  readonly receipts: number;
  readonly verified: boolean;
  /** The entry of which a byte was edited, and the one that the verification names. */
  readonly edited: number;
  readonly found: number | null;
}

/** A hash of everything that applications read. */
export async function stateHash(db: pg.Client): Promise<string> {
  const [row] = await readRows<{ hash: string }>(
    db,
    `select encode(sha256(convert_to(jsonb_object_agg(s.name, s.value)::text, 'UTF8')), 'hex') as hash from (
       select capability_name, to_jsonb(lifecycle) from writ.capability union all select scope || '#' || key, value from writ.configuration) s(name, value)`,
  );
  return String(row?.hash);
}

/** What one step has left behind: writes that the witness saw, receipts, events. */
export async function tracesOf(
  db: pg.Client,
  jobId: string,
  step: number,
  slot: string,
): Promise<StepTraces> {
  const [row] = await readRows<StepTraces>(
    db,
    `select (select count(*) from demo.written w where w.slot = $3)::integer as effects,
       (select count(*) from writ.receipt r where r.stream = 'governance_job:' || $1 and r.receipt ->> 'reason' = 'change_applied'
          and (r.receipt #>> '{context,step}')::integer = $2)::integer as receipts,
       (select count(*) from writ.run_events e join writ.governance_jobs g on g.run_id = e.run_id
        where g.job_id = $1::uuid and e.event_type = 'StepCompleted' and $2::integer between split_part(substr(e.step_id, 2), '-', 1)::integer and split_part(substr(e.step_id, 2), '-', -1)::integer)::integer as events`,
    [jobId, step, slot],
  );
  return row as StepTraces;
}

const allChanges = `
  with receipt as (
    select r.stream, r.receipt #>> '{context,step}' as step, (r.receipt #>> '{context,contract_id}')::uuid as contract_id
    from writ.receipt r where r.receipt ->> 'reason' in ('change_applied', 'change_reverted') and r.receipt #> '{context,slot}' is not null
  ), event as (
    select e.run_id, s.step_no from writ.run_events e join writ.governance_jobs g on g.run_id = e.run_id
    join writ.governance_job_steps s on s.job_id = g.job_id and s.step_no between split_part(substr(e.step_id, 2), '-', 1)::integer and split_part(substr(e.step_id, 2), '-', -1)::integer
    where e.event_type = 'StepCompleted' and s.step_type <> 'soak'
  )
  select (select count(*) from demo.written)::integer as effects,
    (select count(*) from receipt)::integer as receipts,
    (select count(*) from event)::integer as events,
    (select count(*) from (select from receipt group by stream, step having count(*) > 1 union all select from event group by run_id, step_no having count(*) > 1) t)::integer as twice,
    (select count(*) from receipt x join writ.system_contracts c on c.contract_id = x.contract_id
     where not exists (select from writ.contract_review v join writ.principal p on p.principal_id = v.by
       join writ.system_contracts a on a.contract_id = v.contract_id -- an instance stands under the approval of its template
       where v.contract_id = coalesce(c.template_id, c.contract_id) and v.action = 'APPROVE' and v.hash = a.approval_hash and p.kind = 'person' and v.by not in (a.created_by, coalesce(a.on_behalf_of, ''))))::integer as unapproved`;

export async function countChanges(db: pg.Client): Promise<Changes> {
  const [row] = await readRows<Omit<Changes, 'approvals' | 'signed'>>(db, allChanges);
  const approvals = await readRows<{ public_key: string; hash: string; signature: string }>(
    db,
    `select v.public_key, v.hash, v.signature from writ.contract_review v where v.action = 'APPROVE'`,
  );
  const signed = approvals.filter(({ public_key, hash, signature }) =>
    signedBy(public_key, hash, signature),
  );
  return {
    ...(row as Omit<Changes, 'approvals' | 'signed'>),
    approvals: approvals.length,
    signed: signed.length,
  };
}
