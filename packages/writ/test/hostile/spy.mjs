// @ts-check
// What attackers are assumed to know: every id and name of every tenant, but no lease token and no
// key. A superuser reads them, so that an attack never fails only because an id was hard to guess.

import { canonicalize } from '../../dist/ledger/canonical.js';

/** @typedef {Record<string, any[]>} Pool */

/**
 * @param {import('./catalogue.mjs').Client} admin @param {string} own the attackers' tenant
 * @returns {Promise<{ own: Pool, foreign: Pool }>}
 */
export async function spy(admin, own) {
  const parts = Object.entries(queries).map(
    ([name, sql]) =>
      `'${name}', (select coalesce(jsonb_agg(x.what), '[]') from (${sql.replace('$T', 'true')} limit 30) x)`,
  );
  const ask = (/** @type {string} */ which) =>
    `select jsonb_build_object(${parts.join(', ')}) as pool`.replaceAll('OF_TENANT', which);
  const [mine, others] = await Promise.all([
    admin.query(ask(`= '${own}'`)),
    admin.query(ask(`<> '${own}'`)),
  ]);
  return { own: mine.rows[0].pool, foreign: others.rows[0].pool };
}

/** Newest first; `what` is what an argument is made of. @type {Record<string, string>} */
const queries = {
  tenant: `select distinct j.tenant_id as what from writ_data.principal j where j.tenant_id OF_TENANT`,
  job: `select j.job_id as what from writ_data.job j where j.tenant_id OF_TENANT order by j.job_id desc`,
  dead: `select q.job_id as what from writ.v_job_queue_dead_letter_open q
    join writ_data.job j on j.job_id = q.job_id where j.tenant_id OF_TENANT`,
  waiting: `select j.job_id as what from writ_data.job_wait j where j.tenant_id OF_TENANT`,
  governance_queue_job: `select jsonb_build_object('job', j.job_id, 'kind', j.job_kind, 'run', j.run_id) as what
    from writ_data.job j where j.tenant_id OF_TENANT and j.job_kind like 'governance.%' order by j.job_id desc`,
  run: `select r.run_id as what from writ_data.run r where r.tenant_id OF_TENANT order by r.run_id desc`,
  live_run: `select r.run_id as what from writ_data.run r
    where r.tenant_id OF_TENANT and r.status in ('RUNNING', 'PAUSED') and r.governed_by is null
    order by r.run_id desc`,
  foreign_run: `select r.run_id as what from writ_data.run r
    where r.tenant_id OF_TENANT and r.engine <> 'native' order by r.run_id desc`,
  contract: `select c.contract_id as what from writ_data.contract c
    where c.tenant_id OF_TENANT order by c.contract_id desc`,
  eligible: `select c.contract_id as what from writ_data.contract c
    where c.tenant_id OF_TENANT and c.status = 'ELIGIBLE' order by c.contract_id desc`,
  approved: `select c.contract_id as what from writ_data.contract c
    where c.tenant_id OF_TENANT and c.status = 'APPROVED' and c.template is null
      and c.template_id is null order by c.contract_id desc`,
  template: `select jsonb_build_object('id', c.contract_id, 'scope', c.scope) as what from writ_data.contract c
    where c.tenant_id OF_TENANT and c.template is not null and c.status = 'APPROVED' order by c.contract_id desc`,
  governance_job: `select g.job_id as what from writ_data.governance_job g
    where g.tenant_id OF_TENANT order by g.job_id desc`,
  pending_governance_job: `select g.job_id as what from writ_data.governance_job g
    where g.tenant_id OF_TENANT and g.status = 'PENDING' order by g.job_id desc`,
  governed_run: `select g.run_id as what from writ_data.governance_job g
    where g.tenant_id OF_TENANT order by g.job_id desc`,
  governor: `select jsonb_build_object('id', g.governor_id, 'sku', g.sku_id, 'tenant', g.tenant_id,
      'rev', g.events, 'receipts', g.receipts, 'done', g.mail_done, 'state', g.state,
      'in_flight', g.data -> 'in_flight',
      'policy', g.data #> '{policy,version}', 'hash', g.data #> '{policy,hash}') as what
    from writ_data.governor g where g.tenant_id OF_TENANT`,
  caused: `select jsonb_build_object('sku', g.sku_id, 'cause', g.data #> '{causes,0}') as what
    from writ_data.governor g where g.tenant_id OF_TENANT and g.data #> '{causes,0}' is not null`,
  step: `select jsonb_build_object('job', j.job_id, 'run', j.run_id) as what from writ_data.job j
    where j.tenant_id OF_TENANT and j.run_id is not null order by j.job_id desc`,
  plan: `select jsonb_build_object('id', p.plan_id, 'version', p.plan_version, 'sha256', encode(p.sha256, 'hex')) as what
    from writ_data.plan p where (p.plan_id like 'm-%') = ('mallory' OF_TENANT) and p.plan_id not like 'governance%'
    order by p.plan_no desc`,
  kind: `select k.job_kind as what from writ_data.job_kind k where (k.job_kind like 'm.%') = ('mallory' OF_TENANT)`,
  schedule: `select s.schedule as what from writ_data.schedule s where s.tenant_id OF_TENANT`,
  due_schedule: `select jsonb_build_object('tenant', s.tenant_id, 'schedule', s.schedule, 'version', s.version,
      'next_tick', s.next_tick) as what
    from writ_data.schedule s where s.tenant_id OF_TENANT and s.next_tick <= writ.now() and s.paused_at is null`,
  schedule_row: `select jsonb_build_object('tenant', s.tenant_id, 'schedule', s.schedule, 'version', s.version,
      'next_tick', s.next_tick) as what
    from writ_data.schedule s where s.tenant_id OF_TENANT and s.paused_at is null order by s.created_at desc`,
  destination: `select d.name as what from writ_data.destination d where coalesce(d.tenant_id, '') OF_TENANT`,
  batch: `select jsonb_build_object('id', b.batch_id, 'xid', b.xid::text) as what
    from writ_data.event_batch b order by b.batch_id desc`,
  event: `select e.id as what from writ.event_outbox e order by e.id desc`,
  receipt: `select r.receipt_id as what from writ_data.receipt r where r.log_id OF_TENANT order by r.receipt_no desc`,
  alert: `select a.alert_id as what from writ_data.alert a
    where coalesce(a.tenant_id, '') OF_TENANT and a.cleared_at is null order by a.alert_id desc`,
  freeze: `select f.freeze_id as what from writ_data.freeze f where f.tenant_id OF_TENANT and f.lifted_at is null`,
  incident: `select i.incident_id as what from writ_data.incident i
    where i.tenant_id OF_TENANT and i.resolved_at is null`,
  capability: `select c.capability_name as what from writ_data.capability c where c.tenant_id OF_TENANT`,
  scope: `select c.scope as what from writ_data.configuration_scope c where c.tenant_id OF_TENANT`,
  probe: `select p.name as what from writ_data.probe p where p.tenant_id OF_TENANT`,
  principal: `select p.principal_id as what from writ_data.principal p where coalesce(p.tenant_id, '') OF_TENANT`,
  signature: `select jsonb_build_object('contract', r.contract_id, 'hash', encode(r.hash, 'hex'),
      'signature', encode(r.signature, 'hex')) as what
    from writ_data.contract_review r join writ_data.contract c on c.contract_id = r.contract_id
    where c.tenant_id OF_TENANT and r.signature is not null order by r.contract_id desc`,
  stream: `select jsonb_build_object('log', r.log_id, 'stream', r.stream, 'next', max(r.stream_seq) + 1) as what
    from writ_data.receipt r where r.log_id OF_TENANT group by r.log_id, r.stream`,
  ledger: `select jsonb_build_object('log', l.log_id, 'epoch', l.epoch, 'size', l.size,
      'root', encode(l.root, 'hex'), 'signed', (select max(c.size) from writ_data.ledger_checkpoint c where c.log_id = l.log_id),
      'key', (select k.key from writ_data.ledger_key k order by k.key_no desc limit 1)) as what
    from writ_data.ledger_log l where l.log_id = '_system'`,
  projector: `select p.holder as what from writ_data.run_projector p`,
  lease_holder: `select l.holder as what from writ_data.job_lease l`,
};

/** The knowledge of one attacker: what was spied, what it was answered, and what it holds. */
export class Known {
  /** @type {Pool} */
  mine = {};
  /** @type {Pool} */
  others = {};
  /**
   * Leases that it holds or held. @type {{ token: string, jobs: { id: string, kind: string }[] }[]}
   */
  leases = [];
  /** Every UUID that it was answered or could read in a view. @type {string[]} */
  read = [];
  /** Runs of another engine that it has asked for. @type {Set<string>} */
  asked = new Set();
  /** Those of them that the gate has started, newest last. @type {string[]} */
  started = [];
  /** Those of them that it has said to have begun. @type {Set<string>} */
  begun = new Set();
  /** Hashes to sign, by contract. @type {Map<string, string>} */
  documents = new Map();
  /** What gates answered last, by gate. @type {Map<string, any>} */
  answers = new Map();

  /** @param {ReturnType<import('../faults/plan.mjs').generator>} random @param {string} tenant */
  constructor(random, tenant) {
    this.random = random;
    this.tenant = tenant;
  }

  /** @param {{ own: Pool, foreign: Pool }} pools */
  learn({ own, foreign }) {
    this.mine = own;
    this.others = foreign;
  }

  /** @param {string} what @returns {any} */
  own(what) {
    const pool = this.mine[what];
    return pool?.length ? this.random.pick(pool) : undefined;
  }

  /** @param {string} what @returns {any} */
  foreign(what) {
    const pool = this.others[what];
    return pool?.length ? this.random.pick(pool) : undefined;
  }

  /**
   * The lease that the arguments of one call are about: its newest, sometimes an older one. @type
   * {{ token: string, jobs: { id: string, kind: string }[] } | undefined}
   */
  held = undefined;

  chooseLease() {
    const { leases } = this;
    this.held =
      this.random.next() < 0.8
        ? leases.at(-1)
        : leases.length
          ? this.random.pick(leases)
          : undefined;
  }

  /**
   * The newest lease on a job of a kind that begins so. @param {string} kind @returns {{ job:
   * string, token: string } | undefined}
   */
  heldOf(kind) {
    for (const { token, jobs } of this.leases.toReversed()) {
      const found = jobs.find((job) => job.kind.startsWith(kind));
      if (found) return { job: found.id, token };
    }
    return undefined;
  }

  /** A step of a run in its newest lease. */
  heldStep() {
    const { token, jobs } = this.leases.at(-1) ?? { token: '', jobs: [] };
    for (const { job, run } of this.mine.step ?? []) {
      const position = jobs.findIndex(({ id }) => id === job) + 1;
      if (position > 0) return { token, job, run, position };
    }
    return undefined;
  }

  /** Any id: of its own, of others, or one that it has read. @returns {string} */
  anyId() {
    const { random } = this;
    const name = random.pick([
      'job',
      'run',
      'contract',
      'governance_job',
      'governor',
      'receipt',
      'batch',
      'alert',
      'principal',
    ]);
    const way = random.next();
    const found =
      way < 0.5
        ? this.foreign(name)
        : way < 0.75
          ? this.own(name)
          : this.read.length
            ? random.pick(this.read)
            : undefined;
    if (found === undefined || found === null) return '00000000-0000-7000-8000-000000000000';
    return typeof found === 'string' ? found : String(found.id ?? found.job ?? found.contract);
  }

  /** Keeps what an answer tells. @param {string} gate @param {any} answer */
  told(gate, answer) {
    if (answer === null || typeof answer !== 'object') return;
    if (answer.idle !== true && answer.busy !== true) this.answers.set(gate, answer);
    if (answer.lease_token && Array.isArray(answer.jobs)) {
      const jobs = answer.jobs.map((/** @type {any} */ job) =>
        Array.isArray(job)
          ? { id: String(job[0]), kind: String(job[1]) }
          : { id: String(job.job_id ?? job.id), kind: String(job.kind ?? job.job_kind) },
      );
      this.leases.push({ token: String(answer.lease_token), jobs });
      if (this.leases.length > 40) this.leases.shift();
    }
    for (const { run_id } of Array.isArray(answer.runs) ? answer.runs : [])
      if (this.asked.delete(run_id)) this.started.push(run_id);
    if (answer.document && answer.contract_id)
      this.documents.set(String(answer.contract_id), canonicalize(answer.document));
    if (this.random.next() < 0.1) this.reads(JSON.stringify(answer));
  }

  /** @param {string} text */
  reads(text) {
    for (const [id] of text
      .slice(0, 200_000)
      .matchAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g))
      this.read.push(id);
    if (this.read.length > 3000) this.read.splice(0, this.read.length - 3000);
  }
}
