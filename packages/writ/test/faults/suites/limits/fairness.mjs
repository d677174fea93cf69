// @ts-check
// Who comes waits for his turn, not for the queue of another. Four claimers take 500 jobs at a time and put as many back, so that the crowd
// stays as large as it is; newcomers arrive with ten jobs each. Counted are claims: a round is a visit of every tenant that has work, 64 of them
// by one claim. What claims of others did at the same time as the one that served a newcomer is no waiting: a claim waits for those that began
// after the arrival and had ended before it began.
import { stage } from './stage.mjs';

const KIND = 'limits.fair';
const CLAIM = 500;
const CLAIMERS = 4;
const TENANTS_PER_CLAIM = 64;
const ARRIVING = 10;
const ROUNDS_ALLOWED = 2;
/** A newcomer who was not served in so many rounds is not waited for any longer. */
const ROUNDS_WAITED = 6;
const TOLERANCE = 0.1;

/** @typedef {import('pg').Pool} Pool */
/** @typedef {{ arrived: number, left: number, served?: (claims: number) => void }} Newcomer */

/** @param {Pool} pool @param {string[]} tenants one job each */
async function enqueue(pool, tenants) {
  for (let from = 0; from < tenants.length; from += 5_000) {
    await pool.query(
      `select writ.fn_job_enqueue_many((select jsonb_agg(jsonb_build_object('id', writ_data.uuidv7(), 'kind', $1::text, 'tenant', t.tenant))
         from unnest($2::text[]) t(tenant)), 'fairness')`,
      [KIND, tenants.slice(from, from + 5_000)],
    );
  }
}

/**
 * Claims from where the claim before it left off, as a worker does, and answers the tenant of each
 * job and what finishes them.
 * @param {Pool} pool @param {string} holder @param {string | null} [from]
 */
async function claim(pool, holder, from = null) {
  const { rows } = await pool.query(
    `select writ.fn_job_claim_many(array[$1], 'external_worker', $2, 300, ${CLAIM}, ${CLAIM}, null, false, null, false, $3)::text as answer`,
    [KIND, holder, from],
  );
  const { jobs, lease_token: token, after } = JSON.parse(rows[0].answer);
  const tenants = /** @type {string[]} */ (
    jobs.map((/** @type {string[]} */ [, , tenant]) => tenant)
  );
  const finish = () =>
    pool.query('select writ.fn_job_succeed_many($1, array(select generate_series(1, $2::int)))', [
      token,
      tenants.length,
    ]);
  return { tenants, finish, after: /** @type {string} */ (after ?? '') };
}

/** How many claims each claimer made. @param {{ holder: string }[]} claims */
function holdersOf(claims) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { holder } of claims) counts.set(holder, (counts.get(holder) ?? 0) + 1);
  return counts.values();
}

/** Claimers that keep a crowd as large as it is, and tell newcomers how many claims they waited. */
class Claimers {
  /** @param {Pool} pool */
  constructor(pool) {
    this.pool = pool;
    /** Orders what happens: this process sends every claim and hears every answer. */
    this.moment = 0;
    /** @type {{ holder: string, began: number, ended: number }[]} */
    this.claims = [];
    /** @type {Map<string, Newcomer>} */
    this.newcomers = new Map();
    this.ending = false;
  }

  start() {
    this.running = Promise.all(
      Array.from({ length: CLAIMERS }, (_, k) => this.#loop(`claimer ${k}`)),
    );
    this.running.catch(() => undefined); // told by stop
  }

  /** @param {string} holder */
  async #loop(holder) {
    /** @type {string | null} */
    let from = null;
    while (!this.ending) {
      const began = ++this.moment;
      const { tenants, finish, after } = await claim(this.pool, holder, from);
      from = after;
      for (const tenant of tenants) this.#serve(tenant, began);
      this.claims.push({ holder, began, ended: ++this.moment });
      await finish();
      await enqueue(
        this.pool,
        tenants.filter((tenant) => !this.newcomers.has(tenant)),
      );
    }
  }

  /** @param {string} tenant @param {number} began */
  #serve(tenant, began) {
    const newcomer = this.newcomers.get(tenant);
    if (!newcomer || --newcomer.left > 0) return;
    // Claimers work side by side: what was waited for is the longest row of claims that one of them
    // made, one after the other.
    const before = this.claims.filter((one) => one.began > newcomer.arrived && one.ended < began);
    newcomer.served?.(1 + Math.max(0, ...holdersOf(before)));
  }

  /**
   * Newcomers arrive together, with ten jobs each. Answers how many claims each of them waited
   * until its last job had started; infinitely many where that did not come.
   * @param {string[]} names @param {number} patience claims that are waited for
   */
  async arrive(names, patience) {
    const waits = names.map((name) => {
      /** @type {Newcomer} */
      const newcomer = { arrived: Number.POSITIVE_INFINITY, left: ARRIVING };
      this.newcomers.set(name, newcomer);
      return new Promise((resolve) => {
        newcomer.served = resolve;
      });
    });
    await enqueue(
      this.pool,
      names.flatMap((name) => Array(ARRIVING).fill(name)),
    );
    const arrived = ++this.moment;
    const since = this.claims.length;
    for (const name of names) Object.assign(this.newcomers.get(name) ?? {}, { arrived });
    const impatience = (async () => {
      while (!this.ending && this.claims.length - since < patience)
        await new Promise((resume) => setTimeout(resume, 5));
      return Number.POSITIVE_INFINITY;
    })();
    return /** @type {Promise<number[]>} */ (
      Promise.all(waits.map((wait) => Promise.race([wait, impatience])))
    );
  }

  async stop() {
    this.ending = true;
    await this.running;
  }
}

/** @param {number[]} values */
const p99 = (values) =>
  [...values].sort((a, b) => a - b)[Math.max(0, Math.ceil(values.length * 0.99) - 1)] ?? Number.NaN;

/**
 * A crowd of so many tenants with so many jobs in all, and newcomers who arrive so many times, some
 * at a time.
 * @param {Pool} pool
 * @param {{ crowd: number, jobs: number, arrivals: number, together: number, progress: (line:
 * string) => void }} scene
 */
async function waitsBeside(pool, { crowd, jobs, arrivals, together, progress }) {
  const perRound = Math.ceil((crowd + together) / TENANTS_PER_CLAIM);
  await enqueue(
    pool,
    Array.from({ length: jobs }, (_, n) => `crowd ${n % crowd}`),
  );
  const claimers = new Claimers(pool);
  claimers.start();
  /** @type {number[]} */
  const rounds = [];
  try {
    for (let time = 0; time < arrivals; time++) {
      progress(`fairness beside ${crowd}: arrival ${time + 1} of ${arrivals}`);
      const names = Array.from({ length: together }, (_, k) => `newcomer ${crowd} ${time} ${k}`);
      rounds.push(
        ...(await claimers.arrive(names, (perRound + CLAIMERS) * ROUNDS_WAITED)).map((claims) =>
          Math.ceil(claims / perRound),
        ),
      );
      if (rounds.filter((one) => one === Number.POSITIVE_INFINITY).length >= 3) break;
    }
  } finally {
    await claimers.stop();
  }
  const kept = p99(rounds) <= ROUNDS_ALLOWED;
  const shown = (/** @type {number} */ value) => (Number.isFinite(value) ? value : 'never served');
  return {
    kept,
    claims_per_round: perRound,
    arrivals: rounds.length,
    p99_rounds: shown(p99(rounds)),
    most_rounds: shown(Math.max(...rounds)),
  };
}

/** @param {Pool} pool @param {number} claims */
async function sharesByWeight(pool, claims) {
  for (const [tenant, weight] of [
    ['light', 1],
    ['heavy', 3],
  ]) {
    const { rows } = await pool.query(
      'select writ.fn_tenant_weight_set($1, $2, $3)::text as answer',
      [tenant, weight, 'fairness'],
    );
    if (JSON.parse(rows[0].answer)?.refused)
      throw new Error(`the weight of ${tenant} was refused: ${rows[0].answer}`);
  }
  await enqueue(
    pool,
    Array.from({ length: claims * CLAIM * 2 }, (_, n) => (n % 2 ? 'heavy' : 'light')),
  );
  let heavy = 0;
  let all = 0;
  for (let k = 0; k < claims; k++) {
    const { tenants, finish } = await claim(pool, 'weigher');
    heavy += tenants.filter((tenant) => tenant === 'heavy').length;
    all += tenants.filter((tenant) => tenant === 'heavy' || tenant === 'light').length;
    await finish();
  }
  return { heavy: heavy / all, light: 1 - heavy / all };
}

/** @param {import('./stage.mjs').Run} run @returns {Promise<import('./stage.mjs').Outcome>} */
export async function fairness(run) {
  const { quick, progress } = run;
  const figures = /** @type {Record<string, object>} */ ({});
  /** @type {import('./stage.mjs').Finding[]} */
  const findings = [];
  let operations = 0;
  // The crowd has more queued than its newcomers may wait for, so that who is served in the order
  // of arrival is too late.
  const scenes = [
    {
      name: 'limits_fair_two',
      crowd: 1,
      jobs: quick ? 10_000 : 100_000,
      arrivals: quick ? 20 : 120,
      together: 1,
    },
    {
      name: 'limits_fair_many',
      crowd: quick ? 640 : 10_000,
      jobs: quick ? 32_000 : 400_000,
      arrivals: quick ? 2 : 6,
      together: 20,
    },
  ];
  for (const { name, ...scene } of scenes) {
    const on = await stage(run, name);
    await on.admin.query(`select writ.fn_job_kind_register($1, '{}', 'fairness')`, [KIND]);
    const waits = await waitsBeside(on.admin, { ...scene, progress });
    on.found(
      'wrong',
      `newcomers waited more than ${ROUNDS_ALLOWED} rounds`,
      waits.kept ? [] : [waits],
    );
    const outcome = await on.over(scene.jobs + waits.arrivals * ARRIVING, waits);
    figures[name] = outcome.figures;
    findings.push(...outcome.findings);
    operations += outcome.operations;
  }
  const on = await stage(run, 'limits_weights');
  await on.admin.query(`select writ.fn_job_kind_register($1, '{}', 'fairness')`, [KIND]);
  const claims = quick ? 16 : 60;
  try {
    const shares = await sharesByWeight(on.admin, claims);
    figures.limits_weights = shares;
    const off = Math.max(Math.abs(shares.heavy / 0.75 - 1), Math.abs(shares.light / 0.25 - 1));
    on.found('wrong', 'shares do not follow the weights 3 and 1', off <= TOLERANCE ? [] : [shares]);
  } catch (error) {
    on.found('wrong', 'weights could not be tried', [String(error)]);
  }
  const outcome = await on.over(claims * CLAIM * 2, {});
  return {
    findings: [...findings, ...outcome.findings],
    operations: operations + outcome.operations,
    faults: 0,
    figures,
  };
}
