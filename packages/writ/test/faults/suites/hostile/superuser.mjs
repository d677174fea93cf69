// @ts-check
// A superuser against honest appliers that have a trust file, in a database of its own beside them. Each attack has a
// tenant of its own. What it does before the change must make no honest applier act; what it does to evidence,
// verification with the trust file must name.
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { documentBytes, documentHash } from '../../../../dist/governance/document.js';
import {
  configure,
  defineStep,
  newKey,
  PermanentFailure,
  principal,
  Writ,
} from '../../../../dist/index.js';
import {
  keyOfSeed,
  parsePrivateKey,
  privateKeyText,
  publicKeyText,
} from '../../../../dist/ledger/note.js';
import { generator } from '../../plan.mjs';
import { shown } from '../../shown.mjs';
import { standstill } from '../../standstill.mjs';
import { checkTrust } from '../../trust-checker.mjs';
import { settle } from '../ledger/verified.mjs';

/** @typedef {import('../../../../dist/index.js').Contract} Contract */
/** @typedef {import('../../../../dist/governance/document.js').SignedDocument} Document */
/** @typedef {'ada' | 'bob' | 'ops'} Person */

const writCommand = fileURLToPath(new URL('../../../../dist/cli/main.js', import.meta.url));
const quorum = { low: 1, medium: 1, high: 2, critical: 2 };
const pause = (/** @type {number} */ ms) => new Promise((resume) => setTimeout(resume, ms));
const quoted = (/** @type {string} */ text) => pg.escapeLiteral(text);
const bytes = (/** @type {string} */ hex) => `decode('${hex}', 'hex')`;

class Scene {
  /** @type {import('../../trust-checker.mjs').Signed[]} */
  signed = [];
  /** @type {import('../../trust-checker.mjs').Effect[]} */
  effects = [];
  /** @type {import('../../trust-checker.mjs').Forced[]} */
  forced = [];
  /** @type {{ tenant: string, slot: string, value: unknown }[]} */
  displayed = [];
  /**
   * Jobs that have to come to rest. @type {{ job:
   * import('../../../../dist/index.js').GovernanceJob, ends: string[], what: string }[]}
   */
  jobs = [];
  /** Of the outside world, by tenant and key. @type {Map<string, unknown>} */
  world = new Map();
  /** How activations of attacks were answered. @type {Record<string, number>} */
  answered = {};

  /**
   * @param {Writ} writ @param {pg.Pool} admin @param {Record<string, string>} keys @param
   * {ReturnType<typeof generator>} random
   */
  constructor(writ, admin, keys, random) {
    this.writ = writ;
    this.admin = admin;
    this.keys = keys;
    this.random = random;
    writ.contracts.use(this.flag(true));
  }

  /** A step type on the outside world, which says whose hands it is in. @param {boolean} honest */
  flag(honest) {
    const at = (/** @type {string} */ tenant, /** @type {string} */ key) => `${tenant} ${key}`;
    const note = (
      /** @type {'apply' | 'revert'} */ op,
      /** @type {any} */ context,
      /** @type {string} */ key,
      /** @type {unknown} */ value,
    ) =>
      void this.effects.push({
        honest,
        op,
        tenant: context.tenant,
        slot: `flag:${key}`,
        value,
        effectKey: context.effectKey,
      });
    return defineStep('flag', {
      target: (/** @type {{ key: string, to: unknown }} */ { key }) => `flag:${key}`,
      read: async ({ key }, { tenant }) => this.world.get(at(tenant, key)) ?? null,
      apply: async ({ key, to }, context) => {
        if (key === 'stuck') throw new PermanentFailure('it is stuck');
        note('apply', context, key, { key, to });
        this.world.set(at(context.tenant, key), to);
      },
      revert: async (found, { key }, context) => {
        note('revert', context, key, found);
        this.world.set(at(context.tenant, key), found);
      },
      retry: { attempts: 2, base: '5ms', cap: '10ms' },
    });
  }

  /**
   * @param {string} tenant @param {Partial<import('../../../../dist/index.js').Proposal>} [more]
   */
  propose(tenant, more = {}) {
    const steps = [this.flag(true)({ key: 'a', to: this.random.between(2, 400) })];
    const scope = ['flag:a', ...(more.steps ? ['flag:stuck'] : [])];
    return this.writ.contracts.propose(
      { title: `The change of ${tenant}`, scope, steps, risk: 'low', ...more },
      { as: this.as.agent, tenant },
    );
  }
  get as() {
    return /** @type {Record<Person | 'service' | 'agent', string>} */ (this.keys);
  }

  /**
   * Persons look and sign; the books keep what they have signed. @param {Contract} contract @param
   * {string} tenant @param {Person[]} persons
   */
  async approve(contract, tenant, ...persons) {
    const { document, hash } = await shown(contract, { as: this.as.ada });
    this.signed.push({ tenant, document, persons });
    for (const person of persons) await contract.approve({ as: this.as[person], hash });
    return document;
  }

  /** Past every guard. @param {string} sql */
  async tamper(sql) {
    await this.admin.query(`begin; set local session_replication_role = replica; ${sql}; commit`);
  }

  /**
   * The kept bytes and a signature of them, as a superuser plants them. @param {Contract} contract
   * @param {Document} document @param {string} by @param {string} signature @param {string} key
   */
  plant(contract, document, by, signature, key) {
    const text = documentBytes(document);
    const hash = bytes(documentHash(text));
    return `insert into writ_data.contract_document values ('${contract.id}', ${hash}, ${quoted(text)}, now()) on conflict do nothing;
      update writ_data.contract set approval_hash = ${hash}, not_after = '${document.not_after}' where contract_id = '${contract.id}';
      insert into writ_data.contract_review (contract_id, review_no, action, by, hash, scheme, signature, public_key, at)
        select '${contract.id}', coalesce(max(review_no), 0) + 1, 'APPROVE', '${by}', ${hash}, 'ed25519', ${bytes(signature)}, ${bytes(key)}, now()
        from writ_data.contract_review where contract_id = '${contract.id}'`;
  }

  /**
   * Makes a contract approved, whoever has signed it, and asks for it. @param {Contract} contract
   * @param {string} tenant @param {string} [edit]
   */
  async force(contract, tenant, edit = 'select') {
    await this.tamper(`${edit};
      insert into writ_data.contract_verdict
        select contract_id, review_no, 'valid', 'postgres', 'database', now() from writ_data.contract_review
        where contract_id = '${contract.id}' and action = 'APPROVE'
        on conflict (contract_id, review_no) do update set verdict = 'valid';
      update writ_data.contract c set status = 'APPROVED', approved_at = now(), window_start = now(), window_end = now() + interval '1 day',
        due_at = now() + interval '1 day',
        pre_state = coalesce(pre_state, '{"flag:a": null}'), approved_by = array(select distinct r.by from writ_data.contract_review r
          where r.contract_id = c.contract_id and r.action = 'APPROVE')
      where contract_id = '${contract.id}'`);
    return this.activate(contract, tenant);
  }

  /** @param {Contract} contract @param {string} tenant */
  async activate(contract, tenant) {
    const answer = await contract
      .activate({ as: this.as.service })
      .catch((/** @type {any} */ error) => String(error.code ?? error));
    const word = typeof answer === 'string' ? answer : 'activated';
    this.answered[word] = (this.answered[word] ?? 0) + 1;
    this.forced.push({ tenant, what: `activated: ${word}`, kinds: [] });
    return typeof answer === 'string' ? undefined : answer;
  }
}

const alteredSteps = (/** @type {Contract} */ { id }) =>
  `update writ_data.contract set steps = jsonb_set(steps, '{0,parameters,value,to}', '666') where contract_id = '${id}'`;

/**
 * Steps, content and the kept document, with every hash of them. @param {Contract} contract @param
 * {Document} document
 */
function alteredContent(contract, { steps }) {
  const to = JSON.stringify(/** @type {any} */ (steps)[0].parameters.value.to);
  const altered = (/** @type {string} */ column) => `replace(${column}, '"to":${to}', '"to":666')`;
  const hash = (/** @type {string} */ column) => `sha256(convert_to(${altered(column)}, 'UTF8'))`;
  const documentsHash = `(select d.hash from writ_data.contract_document d where d.contract_id = '${contract.id}')`;
  return `${alteredSteps(contract)};
    update writ_data.contract_document set document = ${altered('document')}, hash = ${hash('document')}
      where contract_id = '${contract.id}';
    update writ_data.contract set content = ${altered('content')}, scope_hash = ${hash('content')},
      approval_hash = ${documentsHash} where contract_id = '${contract.id}';
    update writ_data.contract_review set hash = ${documentsHash} where contract_id = '${contract.id}'`;
}

/**
 * What must make no honest applier act. @type {Record<string, (s: Scene, tenant: string) =>
 * Promise<unknown>>}
 */
const attacks = {
  'altered-steps': async (s, tenant) => {
    const contract = await s.propose(tenant);
    await s.approve(contract, tenant, 'ada');
    await s.force(contract, tenant, alteredSteps(contract));
  },
  'altered-steps-later': async (s, tenant) => {
    const contract = await s.propose(tenant);
    await s.approve(contract, tenant, 'ada');
    await s.activate(contract, tenant);
    await s.tamper(alteredSteps(contract));
  },
  'altered-content': async (s, tenant) => {
    const contract = await s.propose(tenant);
    await s.force(
      contract,
      tenant,
      alteredContent(contract, await s.approve(contract, tenant, 'ada')),
    );
  },
  'altered-content-later': async (s, tenant) => {
    const contract = await s.propose(tenant);
    const document = await s.approve(contract, tenant, 'ada');
    await s.activate(contract, tenant);
    await s.tamper(alteredContent(contract, document));
  },
  'planted-approvals': async (s, tenant) => {
    const contract = await s.propose(tenant, { risk: 'high' });
    const document = await s.approve(contract, tenant, 'ada');
    const stranger = principal(newKey('bob'));
    const planted = s.plant(
      contract,
      document,
      'bob',
      stranger.sign(documentHash(documentBytes(document))),
      stranger.publicKey,
    );
    await s.force(contract, tenant, planted);
  },
  'lowered-risk': async (s, tenant) => {
    const contract = await s.propose(tenant, { risk: 'high' });
    await s.approve(contract, tenant, 'ada');
    await s.force(
      contract,
      tenant,
      `update writ_data.contract set risk_level = 'low' where contract_id = '${contract.id}'`,
    );
  },
  'lowered-quorum': async (s, tenant) => {
    const approvals = JSON.stringify({ approvals: { low: 1, medium: 1, high: 1, critical: 1 } });
    await s.tamper(
      `insert into writ_data.governance_policy values ('${tenant}', 1, '${approvals}', 'postgres', now())`,
    );
    const contract = await s.propose(tenant, { risk: 'high' });
    await s.approve(contract, tenant, 'ada');
    await s.force(contract, tenant);
  },
  'zero-bytes': async (s, tenant) => {
    const contract = await s.propose(tenant);
    const { document } = await shown(contract, { as: s.as.ada });
    await s.force(
      contract,
      tenant,
      s.plant(contract, document, 'ada', '00'.repeat(64), principal(s.as.ada).publicKey),
    );
  },
  'other-contract': async (s, tenant) => {
    const [one, other] = [await s.propose(tenant), await s.propose(tenant, { title: 'Another' })];
    // Genuine, of the other contract: as it is, and beside the document of this one.
    const { document } = await shown(one, { as: s.as.ada });
    const theirs = (await shown(other, { as: s.as.ada })).document;
    const ada = principal(s.as.ada);
    const signature = ada.sign(documentHash(documentBytes(theirs)));
    await s.force(
      one,
      tenant,
      s.plant(one, s.random.between(0, 1) ? document : theirs, 'ada', signature, ada.publicKey),
    );
  },
  'other-round': async (s, tenant) => {
    const contract = await s.propose(tenant);
    const first = await s.approve(contract, tenant, 'ada');
    await contract.revoke({ as: s.as.ada });
    s.signed.splice(
      s.signed.findIndex(({ document }) => document === first),
      1,
    );
    const { document } = await shown(contract, { as: s.as.ada });
    const ada = principal(s.as.ada);
    await s.force(
      contract,
      tenant,
      s.plant(
        contract,
        document,
        'ada',
        ada.sign(documentHash(documentBytes(first))),
        ada.publicKey,
      ),
    );
  },
  'other-deployment': async (s, tenant) => {
    const contract = await s.propose(tenant);
    const { document } = await shown(contract, { as: s.as.ada });
    const ada = principal(s.as.ada);
    const staging = { ...document, deployment: '01900000-0000-4000-8000-000000000001' };
    await s.force(
      contract,
      tenant,
      s.plant(
        contract,
        staging,
        'ada',
        ada.sign(documentHash(documentBytes(staging))),
        ada.publicKey,
      ),
    );
  },
};

/**
 * Values that a terminal, a browser or a database could show as something else: who approves sees
 * what is done.
 */
const contents = [
  '0\u202e001',
  'line\nbreak',
  '\u001b[2Jgone',
  9007199254740991,
  1e-7,
  { 'per\u200bminute': [null, 0.1] },
  '<b>7</b>',
];

/** What verification must name: it was done behind the ledger's back, after an honest change. */
const edits = /** @type {const} */ ({
  'altered-value': [
    ['value_differs'],
    `update writ_data.configuration set value = '666' where tenant_id = $ and key = 'max'`,
  ],
  'altered-first-value': [
    ['value_differs'],
    `update writ_data.configuration set value = '666' where tenant_id = $ and key = 'burst'`,
  ],
  'planted-value': [
    ['value_differs'],
    `insert into writ_data.configuration select tenant_id, scope, 'planted', value, version, updated_by, updated_at
     from writ_data.configuration where tenant_id = $ and key = 'max'`,
  ],
  'altered-receipt': [
    ['entry', 'tree', 'receipt', 'leaf', 'root'],
    `update writ_data.receipt set entry = replace(entry, '"by":"ada"', '"by":"bob"') where log_id = $`,
  ],
  'deleted-receipt': [
    ['receipts_missing'],
    `delete from writ_data.receipt where log_id = $ and entry like '%"change_applied"%'`,
  ],
  'deleted-document': [
    ['governance_missing'],
    `delete from writ_data.contract_document d using writ_data.contract c where c.contract_id = d.contract_id and c.tenant_id = $`,
  ],
  'altered-document': [
    ['governance_missing'],
    `update writ_data.contract_document d set document = replace(document, '"low"', '"high"'),
      hash = sha256(convert_to(replace(document, '"low"', '"high"'), 'UTF8'))
     from writ_data.contract c where c.contract_id = d.contract_id and c.tenant_id = $`,
  ],
});

/** Honest work: what persons approve is done once, and what fails is undone. @param {Scene} s */
async function honestWork(s) {
  for (const [n, to] of contents.entries()) {
    const tenant = `honest-${n}`;
    const step = s.flag(true)(/** @type {any} */ ({ key: 'a', to }));
    const contract = await s.propose(tenant, { risk: 'high', steps: [step] });
    const { steps } = await shown(contract, { as: s.as.ada });
    s.displayed.push({ tenant, slot: 'flag:a', value: steps[0]?.after });
    await s.approve(contract, tenant, 'ada', 'bob');
    s.jobs.push({
      job: await contract.activate({ as: s.as.service }),
      ends: ['COMPLETED'],
      what: tenant,
    });
  }
  await s.admin.query(`create function fault_plant() returns trigger language plpgsql as $$ begin
      if (select j.tenant_id from writ_data.governance_job j where j.job_id = new.job_id) = 'planted-rollback' then
        new.found := '{"flag:a": 666}'; new.rollback_action := new.rollback_action || '{"restore": 666}';
      end if;
      return new; end $$;
    create trigger fault_plant before update on writ_data.governance_step for each row
      when (new.target = 'flag:a') execute function fault_plant()`);
  for (const [tenant, end] of /** @type {const} */ ([
    ['failing', 'ROLLED_BACK'],
    ['planted-rollback', 'ROLLBACK_FAILED'],
  ])) {
    const flag = s.flag(true);
    s.world.set(`${tenant} a`, s.random.between(500, 600));
    const contract = await s.propose(tenant, {
      steps: [flag({ key: 'a', to: s.random.between(2, 400) }), flag({ key: 'stuck', to: 1 })],
    });
    await s.approve(contract, tenant, 'ada');
    s.jobs.push({ job: await contract.activate({ as: s.as.service }), ends: [end], what: tenant });
  }
}

/**
 * A contract that was done, to be done again; and one whose approval was taken back, to be done all
 * the same. @param {Scene} s @param {Contract} done
 */
async function replays(s, done) {
  s.world.delete('replayed a');
  const jobs = `(select job_id from writ_data.governance_job where contract_id = '${done.id}')`;
  const tables = [
    'governance_job_history',
    'governance_step',
    'governance_audit',
    'governance_job',
  ];
  const again = await s.force(
    done,
    'replayed',
    `${tables.map((table) => `delete from writ_data.${table} where job_id in ${jobs}`).join(';')};
     update writ_data.contract set status = 'APPROVED', job_id = null, audit_verdict = null where contract_id = '${done.id}'`,
  );
  s.forced.push({
    tenant: 'replayed',
    what: 'a second application',
    kinds: again ? ['applied_twice'] : [],
  });

  const revoked = await s.propose('revoked');
  const document = await s.approve(revoked, 'revoked', 'ada');
  await revoked.revoke({ as: s.as.ada });
  const rewound = await s.force(
    revoked,
    'revoked',
    `delete from writ_data.contract_review where contract_id = '${revoked.id}' and action = 'REVOKE';
     update writ_data.contract set round = 1, approval_hash = ${bytes(documentHash(documentBytes(document)))},
       not_after = '${document.not_after}' where contract_id = '${revoked.id}'`,
  );
  s.forced.push({
    tenant: 'revoked',
    what: 'an approval that was taken back',
    kinds: rewound ? ['unapproved'] : [],
  });
}

/**
 * A contract that an honest applier has done, of a tenant of its own.
 *
 * @param {Scene} s
 * @param {string} tenant
 * @param {Partial<import('../../../../dist/index.js').Proposal>} [more]
 */
async function completed(s, tenant, more) {
  const contract = await s.propose(tenant, more);
  await s.approve(contract, tenant, 'ada');
  const job = await contract.activate({ as: s.as.service });
  await job.finished({ timeoutMs: 120_000 });
  return { contract, job };
}

/**
 * Makes the scope `limits` known in a tenant.
 *
 * @param {Scene} s
 * @param {string} tenant
 */
const putLimits = (s, tenant) =>
  s.writ.capabilities.put(
    [
      { capability_name: 'shop', domain: 'shop' },
      { scope: 'limits', owner_capability: 'shop', values: { max: 1, burst: 1 } },
    ],
    { as: s.as.ops, tenant },
  );

const limits = (/** @type {Scene} */ s) => ({
  scope: ['limits'],
  steps: [configure('limits', 'max', s.random.between(2, 400))],
});

/**
 * Receipts that a superuser plants with the functions that gates write them with, so that the
 * ledger itself holds what excuses an edit. Appliers act on some of it; verification has to find
 * all of it. The contracts were done before.
 *
 * @param {Scene} s
 * @param {{ undone: Awaited<ReturnType<typeof completed>> }} of
 */
async function plantedReceipts(s, { undone: { contract, job } }) {
  // An approval that was taken back comes back, with its receipt.
  const tenant = 'revoked-and-planted';
  const revoked = await s.propose(tenant);
  const document = await s.approve(revoked, tenant, 'ada');
  await revoked.revoke({ as: s.as.ada });
  const hash = documentHash(documentBytes(document));
  const ada = principal(s.as.ada);
  const receipt = {
    ...{ action: 'APPROVE', by: 'ada', approval_hash: hash, round: s.random.between(1, 2) },
    ...{ scheme: 'ed25519', signature: ada.sign(hash), public_key: ada.publicKey },
  };
  const rewound = await s.force(
    revoked,
    tenant,
    `delete from writ_data.contract_review where contract_id = '${revoked.id}' and action = 'REVOKE';
     update writ_data.contract set round = 1, approval_hash = ${bytes(hash)},
       not_after = '${document.not_after}' where contract_id = '${revoked.id}';
     select writ_data.contract_receipt('${revoked.id}', 'accept', 'contract_reviewed',
       ${quoted(JSON.stringify(receipt))}, writ.now())`,
  );
  const word = (/** @type {string} */ what) => ({ tenant: what, what: 'a planted receipt' });
  s.forced.push({ ...word(tenant), kinds: rewound ? ['unapproved'] : [] });

  // A rollback of what was completed: an applier carries it out, because its values were signed.
  await s.tamper(`
    insert into writ_data.target_hold
      values ('undone', 'flag:a', '${contract.id}', writ.now()) on conflict do nothing;
    update writ_data.contract set status = 'ACTIVE' where contract_id = '${contract.id}';
    select writ_data.start_governance_jobs(
      array[writ_data.uuidv7()], array['${contract.id}'::uuid], 'rollback',
      array['${job.id}'::uuid], array[writ_data.steps_to_undo('${job.id}')],
      array[g.state_before], 'rollback_created', 'because', 'ops', writ.now())
    from writ_data.governance_job g where g.job_id = '${job.id}'`);
  s.forced.push({ ...word('undone'), kinds: ['unapproved'] });

  // Values of another hand, with receipts that make them known a second time.
  const [value, first] = ['31337', '{"owner_capability": "shop", "values": {"max": 31337}}'];
  await s.tamper(`
    update writ_data.configuration set value = '${value}'
      where tenant_id = 'first-values' and key = 'max';
    select writ_data.on_control_changed(
      'first-values', 'configuration_scope', 'limits', null, '${first}', 'ops', writ.now());
    update writ_data.capability set lifecycle = 'LAUNCHED' where tenant_id = 'first-capability';
    select writ_data.on_control_changed(
      'first-capability', 'capability', 'shop', null, '{"lifecycle": "LAUNCHED"}', 'ops',
      writ.now())`);
  for (const one of ['first-values', 'first-capability'])
    s.forced.push({ ...word(one), kinds: ['value_differs'] });
}

/**
 * A value of another hand, which the next approved change finds and overwrites.
 *
 * @param {Scene} s
 */
async function launder(s) {
  await s.tamper(
    `update writ_data.configuration set value = '666' where tenant_id = 'laundered' and key = 'max'`,
  );
  const { job } = await completed(s, 'laundered', limits(s));
  s.jobs.push({ job, ends: ['COMPLETED'], what: 'laundered' });
  s.forced.push({ tenant: 'laundered', what: 'a laundered value', kinds: ['value_differs'] });
}

/** Honest changes of values, for each edit of their evidence. @param {Scene} s */
async function evidence(s) {
  for (const tenant of Object.keys(edits)) {
    await putLimits(s, tenant);
    const contract = await s.propose(tenant, limits(s));
    await s.approve(contract, tenant, 'ada');
    s.jobs.push({
      job: await contract.activate({ as: s.as.service }),
      ends: ['COMPLETED'],
      what: tenant,
    });
  }
}

/**
 * Whether every change comes to rest, or waits for a key, and that does not stand still before.
 * @param {Scene} s
 */
async function rest(s) {
  for (const still = standstill(120_000); ; await pause(100)) {
    const { rows } = await s.admin.query(`select g.job_id from writ_data.governance_job g
      where g.status not in ('COMPLETED', 'ROLLED_BACK', 'ROLLBACK_FAILED', 'CANCELLED') and not exists (
        select from writ_data.job j join writ_data.job_execution x on x.job_id = j.job_id
        where j.run_id = g.run_id and x.abort_kind = 'delayed')`);
    if (rows.length === 0) return true;
    if (still(rows.length)) return false;
  }
}

/**
 * What `writ ledger verify --trust` says of an export, or of a database. @param {string[]} what
 * @param {string} url
 */
async function verify(what, url) {
  const env = { ...process.env, DATABASE_URL: url };
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    [writCommand, 'ledger', 'verify', ...what, '--json'],
    {
      maxBuffer: 1 << 26,
      env,
    },
  ).catch((/** @type {any} */ error) => error);
  if (!stdout) throw new Error(`writ ledger verify: ${stderr}`);
  return /** @type {import('../../trust-checker.mjs').Problem[]} */ (JSON.parse(stdout).problems);
}

/**
 * @param {{ server: Pick<import('../queue.mjs').Run['server'], 'url' | 'folder'>, seed: number,
 * progress: (line: string) => void }} run
 */
export async function superuser({ server, seed, progress }) {
  const first = new pg.Client({ connectionString: server.url('postgres') });
  await first.connect();
  await first.query('create database superuser');
  await first.end();
  const url = server.url('superuser');
  const admin = new pg.Pool({ connectionString: url, max: 2 });
  admin.on('error', () => undefined);
  const writ = await Writ.connect({ connectionString: url, max: 6, actor: 'honest' });
  await writ.migrate({ enable: true });
  const add = (
    /** @type {string} */ id,
    /** @type {'person' | 'service' | 'agent'} */ kind,
    more = {},
  ) => writ.principals.add({ id, kind, ...more });
  const ops = await add('ops', 'person', { rights: ['propose', 'approve', 'activate', 'operate'] });
  const keys = {
    ...{
      ops,
      ada: await add('ada', 'person'),
      bob: await add('bob', 'person'),
      service: await add('deployer', 'service'),
    },
    agent: await add('agent', 'agent', { onBehalfOf: 'ops' }),
  };
  const folder = join(server.folder, 'superuser');
  mkdirSync(folder);
  const key = privateKeyText(
    keyOfSeed('faults.example/superuser', new Uint8Array(32).fill(seed % 256)),
  );
  const trust = join(folder, 'writ.trust.json');
  const { rows } = await admin.query('select writ_data.deployment_id() as id');
  const person = (/** @type {Person} */ id) => ({
    ...{ tenants: ['*'], rights: ['approve', 'break_glass'] },
    keys: [
      {
        scheme: 'ed25519',
        public_key: principal(keys[id]).publicKey,
        since: '2020-01-01T00:00:00Z',
      },
    ],
  });
  const file = {
    writ: 'trust 1',
    deployment: rows[0].id,
    persons: { ada: person('ada'), bob: person('bob') },
    quorum,
    risk_floors: [],
  };
  writeFileSync(
    trust,
    JSON.stringify({ ...file, ledger_keys: [publicKeyText(parsePrivateKey(key))] }),
  );

  const s = new Scene(writ, admin, keys, generator(seed));
  const options = { governance: [s.flag(true)], trust, poll: '100ms', onError: () => undefined };
  const worker = await writ.work([], /** @type {any} */ (options));
  progress('a superuser attacks');
  await honestWork(s);
  await evidence(s);
  const { contract: done } = await completed(s, 'replayed');
  const undone = await completed(s, 'undone');
  for (const tenant of ['first-values', 'first-capability', 'laundered']) {
    await putLimits(s, tenant);
    await completed(s, tenant, limits(s));
  }
  await launder(s);
  await worker.stop();

  // What a superuser edits behind an activation, it edits before an applier comes.
  const verifier = await writ.work([], /** @type {any} */ ({ ...options, governance: 'verify' }));
  for (const [tenant, attack] of Object.entries(attacks)) await attack(s, tenant);
  await replays(s, done);
  await plantedReceipts(s, { undone });
  await verifier.stop();
  const applier = await writ.work([], /** @type {any} */ (options));
  /** @type {import('../../hostile-checker.mjs').Finding[]} */
  const findings = [];
  if (!(await rest(s)))
    findings.push({
      verdict: 'stuck',
      what: 'a change beside a superuser did not come to rest',
      times: 1,
      rows: [],
    });
  for (const { job, ends, what } of s.jobs) {
    const { status } = await job.get();
    if (!ends.includes(String(status)))
      findings.push({
        verdict: 'wrong',
        what: 'an honest change ended as it may not',
        times: 1,
        rows: [{ what, status }],
      });
  }
  await applier.stop();
  const { rows: stopped } = await admin.query(
    `select distinct tenant_id || ': ' || status || coalesce(', ' || status_reason, '') as how from writ_data.governance_job
     where tenant_id = any ($1) order by 1`,
    [Object.keys(attacks)],
  );

  // An applier that believes the database does what a person of the database's own has approved.
  const mallory = await add('mallory', 'person');
  const dishonest = await Writ.connect({ connectionString: url, max: 4, actor: 'dishonest' });
  await dishonest.work(
    [],
    /** @type {any} */ ({ ...options, governance: [s.flag(false)], trust: 'database' }),
  );
  const forged = await s.propose('dishonest-applier');
  const { hash } = await shown(forged, { as: mallory });
  await forged.approve({ as: mallory, hash });
  const job = await forged.activate({ as: keys.service });
  await job.finished({ timeoutMs: 120_000 });
  await dishonest.close();
  for (const tenant of new Set([
    'dishonest-applier',
    ...s.effects.flatMap(({ honest, tenant }) => (honest ? [] : [tenant])),
  ]))
    s.forced.push({ tenant, what: 'a dishonest applier', kinds: ['unapproved'] });

  progress('verifying what a superuser has done');
  const checkpoint = join(folder, 'checkpoint');
  await settle(admin, 120_000);
  await writ.ledger.checkpoint({ key, places: [checkpoint] });
  const given = ['--trust', trust, '--checkpoint', checkpoint];
  const { signed, effects, forced, displayed, answered } = s;
  const judged = { quorum, signed, effects, forced, displayed };
  await writ.ledger.export(join(folder, 'export'));
  findings.push(
    ...checkTrust({ ...judged, problems: await verify([join(folder, 'export'), ...given], url) }),
  );

  // What is gone cannot be exported: the database itself is verified.
  for (const [tenant, [kinds, sql]] of Object.entries(edits)) {
    await s.tamper(sql.replaceAll('$', quoted(tenant)));
    forced.push({ tenant, what: tenant, kinds: [...kinds] });
  }
  const problems = await verify(given, url);
  findings.push(...checkTrust({ ...judged, problems }));
  await writ.close();
  await admin.end();
  const attempts = Object.keys(attacks).length + Object.keys(edits).length + 9;
  return {
    findings,
    attacks: attempts,
    answered,
    stopped: stopped.map(({ how }) => how),
    named: problems.map(({ kind, log }) => `${log}: ${kind}`),
  };
}
