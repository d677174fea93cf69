// @ts-check
// Hostile callers beside honest work. For every role a login with that role and nothing else calls
// every gate it can reach, with arguments from the catalogue of gates, and tries sequences and raw
// SQL, while honest workers do jobs, runs, contracts, signals and schedules of two tenants, and a
// relay tells of them. At the end the honest work is done once and receipted, and nothing has escaped.
// Logins that may steer every tenant come last, when the honest work is done: it has to stay done. Then, in a database
// of its own, a superuser comes, who may do anything but sign for the persons of a trust file.
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { Writ } from '../../../dist/index.js';
import {
  keyOfSeed,
  parsePrivateKey,
  privateKeyText,
  publicKeyText,
} from '../../../dist/ledger/note.js';
import { readCatalogue, readViews } from '../../hostile/catalogue.mjs';
import {
  attackers,
  calm,
  Estate,
  mallory,
  people,
  prepareCalm,
  steering,
  unboundOf,
} from '../../hostile/estate.mjs';
import { attack } from '../../hostile/moves.mjs';
import { spy } from '../../hostile/spy.mjs';
import { tallied } from '../checker.mjs';
import { replayed } from '../governor-replay.mjs';
import { checkHostile, checkSteered, prepareHostile, rememberCalm } from '../hostile-checker.mjs';
import { standstill } from '../standstill.mjs';
import { WorkerSlots } from '../worker-slots.mjs';
import { Honest, keepBooks, Told, tenants } from './hostile/honest.mjs';
import { alive, rest } from './hostile/rest.mjs';
import { superuser } from './hostile/superuser.mjs';
import { settle, verified } from './ledger/verified.mjs';

/** Hours pass in seconds, and the harness is no poison. */
const settings = {
  'governor.boot_ms': 5_000,
  'governor.action_ms': 1_500,
  'governor.rollback_ms': 3_000,
  'governor.recheck_ms': 1_000,
  'governor.recovery_ms': 3_000,
  'governor.recovery_max_ms': 6_000,
  'governor.backoff_ms': [300, 600, 1_500],
  'governor.receipt_slo_ms': 5_000,
  'queue.poison.crashes': 10_000,
  'outbox.turn_sec': 2,
  'outbox.delivery.backoff_ms': 50,
  'outbox.delivery.backoff_max_ms': 500,
};

const pause = (/** @type {number} */ ms) => new Promise((resume) => setTimeout(resume, ms));

/** @param {import('./queue.mjs').Run} given */
export async function run(given) {
  /** @type {string[]} */
  const said = [];
  const onFinding = (/** @type {string} */ what) => void (said.length < 200 && said.push(what));
  // The honest callers live in this process: what Writ throws outside of every call would end a
  // user's program.
  const stray = (/** @type {Error} */ error) =>
    onFinding(`thrown outside of every call: ${error?.stack ?? error}`);
  process.on('uncaughtException', stray);
  process.on('unhandledRejection', stray);
  try {
    return await attacked({ ...given, said, onFinding });
  } finally {
    process.off('uncaughtException', stray);
    process.off('unhandledRejection', stray);
  }
}

/**
 * @param {import('./queue.mjs').Run & { said: string[], onFinding: (what: string) => void }} run
 */
async function attacked({ seed, quick, server, progress, onEnd, said, onFinding }) {
  const amount = quick ? 20_000 : 200_000;
  const honestEvery = quick ? 120 : 400; // hostile calls
  const url = server.url('postgres');
  const admin = new pg.Pool({ connectionString: url, max: 6 });
  admin.on('error', () => undefined);
  const writ = await Writ.connect({ connectionString: url, max: 8, actor: 'honest' });
  await writ.migrate({ enable: true });
  for (const [key, value] of Object.entries(settings))
    await admin.query(`select writ.fn_setting_set($1, $2, 'faults')`, [key, JSON.stringify(value)]);
  /** @type {Record<string, Record<string, string>>} */
  const keys = {};
  for (const tenant of [...tenants, calm]) keys[tenant] = await people(writ, tenant);
  const estate = new Estate(writ, admin, await people(writ, mallory, 'm'));
  const honest = new Honest(writ, admin, keys, onFinding);
  await honest.prepare();
  const told = new Told(writ);
  await told.start();
  await estate.prepare();
  await prepareCalm(writ, keys[calm] ?? {}, admin);
  await prepareHostile(admin);
  const gates = await readCatalogue(admin);
  const every = await attackers({
    ...{ admin, url, gates, views: await readViews(admin), people: estate.people, seed },
    unbound: [...unboundOf(seed), ...steering],
  });
  const last = every.filter(({ role, bound }) => !bound && steering.includes(role));
  const all = every.filter((one) => !last.includes(one));
  const slots = new WorkerSlots({
    url,
    folder: server.folder,
    module: new URL('./hostile/honest.mjs', import.meta.url).href,
    count: 2,
    options: { concurrency: 10, lease: '2s', poll: '200ms', batch: 20, grace: '5s' },
    faults: [],
    leasesOf: async () => 0,
    onFault: () => undefined,
    onFinding,
  });
  onEnd(() => slots.kill());
  slots.start();
  for (let n = 0; n < 6; n++) honest.place(true);
  await rest(admin, progress, 20_000, honest, tenants);
  await rememberCalm(admin);
  // The ledger has a key before a hostile signer can give it one.
  const kept = join(server.folder, 'outside');
  mkdirSync(kept);
  const signing = {
    key: privateKeyText(keyOfSeed('faults.example/hostile', new Uint8Array(32).fill(seed % 256))),
    places: [join(kept, 'checkpoint')],
  };
  await settle(admin, 120_000);
  await writ.ledger.checkpoint(signing);

  // The attack: one connection per login, and beside it the honest work and what attackers use up.
  let placed = honest.n;
  const calls = () => every.reduce((sum, one) => sum + one.calls, 0);
  let attacking = true;
  const beside = (async () => {
    for (; attacking; await pause(250)) {
      try {
        const pools = await spy(admin, mallory);
        for (const one of every) one.known.learn(pools);
        await told.resume();
      } catch (error) {
        onFinding(`the server does not answer: ${error} ${server.log.slice(-12).join(' | ')}`);
        attacking = false;
      }
      for (; honest.open < 30 && placed < calls() / honestEvery; placed++)
        honest.place(placed % (quick ? 5 : 4) === 0);
      // What attackers do to their own tenant, a freeze or a policy, may stop what they get.
      await estate.more().catch(() => undefined);
      progress(`${calls()} hostile calls, ${honest.books.length} pieces of honest work`);
    }
  })();
  const began = Date.now();
  const still = standstill(300_000);
  const atOnce = async (/** @type {typeof all} */ some, /** @type {number} */ upTo) => {
    await Promise.all(
      some.map(async (one) => {
        while (attacking && calls() < upTo && !still(amount - calls())) await attack(one);
        await one.close();
      }),
    );
  };
  await atOnce(all, amount * 0.95);
  attacking = false;
  await beside;
  const seconds = Math.round((Date.now() - began) / 100) / 10;

  await told.resume();
  const rested = await rest(admin, progress, 120_000, honest, tenants);
  const living = rested ? await alive(writ, admin, honest, progress) : [];
  await slots.stop();
  progress('the last turn and the last checkpoint');
  const settled = await settle(admin, 120_000).catch((error) => {
    onFinding(`the sealer: ${error}`);
    return false;
  });
  await told.stop();
  progress('counting');
  await keepBooks(admin, honest.books, told.arrivals, honest.restedAt);
  const client = await admin.connect();
  const findings = await checkHostile(client, all);
  if (!settled)
    findings.push({ verdict: 'escaped', what: 'the sealer has stopped', times: 1, rows: [] });
  for (const what of living) findings.push({ verdict: 'escaped', what, times: 1, rows: [] });
  progress('verifying the ledger');
  findings.push(...(await verification(writ, server.folder, signing)));
  const { rows: governors } = await client.query(
    `select governor_id::text as id from writ_data.governor where events > 0 order by 1 limit 200`,
  );
  for (const { id } of governors) {
    const differs = await replayed(client, id);
    if (differs.length > 0)
      findings.push({
        verdict: 'escaped',
        what: 'a governor decided otherwise than its log says',
        times: 1,
        rows: differs.slice(0, 2),
      });
  }
  const { rows: counted } = await client.query(
    `select count(*)::integer as n from fault.forfeited`,
  );

  // Whoever steers all tenants may change them, but not what was done, and not the ledger of it.
  attacking = true;
  progress('attacks by logins that steer all tenants');
  await atOnce(last, amount);
  for (const finding of await checkSteered(client, every)) findings.push(finding);
  const owned = await superuser({ server, seed, progress });
  findings.push(...owned.findings);
  const operations = calls();
  if (operations < amount) onFinding(`the attack stands still after ${operations} calls`);
  const own = [...said, ...warnings(server.folder), ...every.flatMap((one) => one.findings)];
  if (own.length > 0)
    findings.push({
      verdict: 'wrong',
      what: 'the run itself found',
      times: own.length,
      rows: own.slice(0, 15),
    });
  client.release();
  await writ.close();
  await admin.end();
  return {
    operations,
    ...tallied(findings, {}), // a hostile call is an operation, and no fault
    escaped: findings.reduce(
      (sum, { verdict, times }) => sum + (verdict === 'escaped' ? times : 0),
      0,
    ),
    attack_seconds: seconds,
    honest_work: honest.books.length,
    superuser: {
      attacks: owned.attacks,
      answered: owned.answered,
      stopped: owned.stopped,
      named_by_verification: owned.named,
    },
    facts_told: told.arrivals.length,
    taken_by_logins_of_all_tenants: counted[0].n,
    logins: every.length,
    of_all_tenants: every.filter(({ bound }) => !bound).map(({ role }) => role),
    ...figures(gates, every),
    details: findings,
  };
}

/**
 * The product's own verification, after a last checkpoint. @param {Writ} writ @param {string}
 * folder @param {{ key: string, places: string[] }} signing @returns
 * {Promise<import('../hostile-checker.mjs').Finding[]>}
 */
async function verification(writ, folder, signing) {
  try {
    await writ.ledger.checkpoint(signing);
    await writ.ledger.export(join(folder, 'export'));
    const keys = [publicKeyText(parsePrivateKey(signing.key))];
    const checkpoint = await readFile(String(signing.places[0]), 'utf8');
    // A hostile signer may let the month of the estate be dropped, but not sign that: verification
    // names it, as it should.
    const waive = ['archive_unsigned:2025-01'];
    const findings = await verified(writ, join(folder, 'export'), { keys, checkpoint, waive });
    return findings.map((finding) => ({ ...finding, verdict: 'escaped' }));
  } catch (error) {
    return [
      {
        verdict: 'escaped',
        what: `the ledger cannot be signed and verified: ${error}`,
        times: 1,
        rows: [],
      },
    ];
  }
}

/** What the honest processes complained about. @param {string} folder @returns {string[]} */
function warnings(folder) {
  const lines = readdirSync(folder)
    .filter((name) => name.endsWith('.log'))
    .flatMap((name) =>
      [...readFileSync(join(folder, name), 'utf8').matchAll(/^warning: (.*)$/gm)].map(([, line]) =>
        String(line),
      ),
    );
  return [...new Set(lines.map((line) => line.replace(/\d+/g, 'N')))].map(
    (line) => `a worker process warned: ${line}`,
  );
}

/**
 * How calls were answered, and which gates never did what they were asked to. @param
 * {import('../../hostile/catalogue.mjs').Gate[]} gates @param
 * {import('../../hostile/attacker.mjs').Attacker[]} all
 */
function figures(gates, all) {
  /** @type {Record<string, number>} */
  const answered = {};
  const succeeded = new Set(all.flatMap((one) => [...one.succeeded]));
  for (const { outcomes } of all)
    for (const counts of outcomes.values())
      for (const [outcome, n] of Object.entries(counts))
        if (/^(ok|refused|[0-9A-Z]{5})$/.test(outcome))
          answered[outcome] = (answered[outcome] ?? 0) + n;
  return {
    answered,
    gates: gates.length,
    gates_that_never_succeeded: gates
      .filter(({ name }) => !succeeded.has(name))
      .map(({ name }) => name),
  };
}
