/**
 * The code in the README and the pages of docs/ is run as it stands, by a newcomer's means: a
 * folder of its own, the built package, a database.
 */
import { execFile, spawn } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { defineJob } from '../src/index.js';
import { type TestDatabase, testDatabase } from '../src/testing/index.js';
import { patient } from './governor/patient.js';
import { sealEverything } from './ledger/sealing.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const run = promisify(execFile);
let db: TestDatabase;
let folder: string;

beforeEach(async () => {
  db = await testDatabase();
  folder = mkdtempSync(join(tmpdir(), 'writ-docs-'));
  mkdirSync(join(folder, 'node_modules'));
  for (const name of ['writ', '@writ', 'zod', 'pg', '@openfeature'])
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
});
afterEach(async () => {
  await db.drop();
  rmSync(folder, { recursive: true, force: true });
});

/** The first block of a language after a text. */
function block(page: string, language: string, after = ''): string {
  const text = readFileSync(join(root, page), 'utf8');
  // A line of the page may end within the text.
  const wrapped = after.split(' ').map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const found = new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(
    text.slice(text.search(wrapped.join('\\s+'))),
  );
  if (!found?.[1]) throw new Error(`${page} has no ${language} after ${after}`);
  return found[1];
}

/** `npx writ` is the command that was built, as in a project that has installed it. */
function installed(): Record<string, string | undefined> {
  mkdirSync(join(folder, 'bin'));
  writeFileSync(
    join(folder, 'bin', 'npx'),
    `#!/bin/sh\nshift\nexec "${process.execPath}" "${join(root, 'packages/writ/bin/writ.js')}" "$@"\n`,
    {
      mode: 0o755,
    },
  );
  return {
    ...process.env,
    DATABASE_URL: db.connectionString,
    PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
  };
}

const node = (file: string) =>
  run(process.execPath, [file], {
    cwd: folder,
    env: { ...process.env, DATABASE_URL: db.connectionString },
  });

test('the code of the README charges an order once, in its own transaction', async () => {
  await db.query('create table orders (id text primary key, paid text)');
  const before = `
import pg from 'pg';
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const orderId = 'order-1';
const stripe = { pay: async (id, { idempotencyKey }) => ({ id: 'paid-' + id + '-' + idempotencyKey.length }) };
const db = { transaction: async (use) => {
  const client = await pool.connect();
  await client.query('begin');
  await use(client);
  await client.query('commit');
  client.release();
} };
`;
  const after = `
while (!(await pool.query('select paid from orders where paid is not null')).rowCount) await new Promise((resume) => setTimeout(resume, 20));
await writ.close();
await pool.end();
`;
  writeFileSync(join(folder, 'readme.js'), before + block('README.md', 'ts', '## Jobs') + after);
  await node('readme.js');
  expect(await db.query('select id, paid from orders')).toEqual([
    { id: 'order-1', paid: 'paid-order-1-64' },
  ]);
  expect(await db.query('select job_kind, status, idempotency_key from writ.job_queue')).toEqual([
    { job_kind: 'charge', status: 'succeeded', idempotency_key: 'order-1' },
  ]);
});

test('the five minutes of docs/start.md end as the page says, and once more when they are run again', async () => {
  const page = async (isFirst: boolean) => {
    writeFileSync(join(folder, 'jobs.js'), block('docs/start.md', 'js', '`jobs.js`'));
    writeFileSync(join(folder, 'enqueue.js'), block('docs/start.md', 'js', '`enqueue.js`'));
    if (isFirst) expect((await node('enqueue.js')).stdout).toMatch(/duplicate: false/);
    else expect((await node('enqueue.js')).stdout).toMatch(/duplicate: true,\s+samePayload: true/);
    expect((await node('enqueue.js')).stdout).toMatch(/duplicate: true,\s+samePayload: true/);

    const worker = spawn(
      process.execPath,
      [join(root, 'packages/writ/bin/writ.js'), 'worker', 'jobs.js'],
      {
        cwd: folder,
        env: { ...process.env, DATABASE_URL: db.connectionString },
      },
    );
    let printed = '';
    const says = isFirst ? 'hello Ada, attempt 1' : 'Working on greet';
    worker.stderr.on('data', (data) => {
      printed += data;
    });
    await new Promise<void>((done, failed) => {
      worker.once('exit', () => failed(new Error(`the worker ended: ${printed}`)));
      worker.stdout.on('data', (data) => {
        printed += data;
        if (printed.includes(says)) done();
      });
    });
    worker.removeAllListeners('exit');
    const ended = new Promise((done) => worker.once('exit', done));
    worker.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(await db.query('select status from writ.job_queue')).toEqual([{ status: 'succeeded' }]);
  };
  await page(true);
  await page(false);
});

const transactions = {
  pg: {
    after: '## In your own transaction',
    before: `import pg from 'pg';
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });`,
    end: 'pool.end()',
  },
  TypeORM: {
    after: '`manager` of TypeORM',
    before: `import { DataSource, EntitySchema } from 'typeorm';
const Order = new EntitySchema({ name: 'Order', tableName: 'orders', columns: { id: { type: 'text', primary: true } } });
const dataSource = await new DataSource({ type: 'postgres', url: process.env.DATABASE_URL, entities: [Order] }).initialize();`,
    end: 'dataSource.destroy()',
  },
  Prisma: {
    after: 'Other libraries need one more line',
    before: `import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient } from './generated/prisma/client.js';
const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: process.env.DATABASE_URL }) });`,
    end: 'prisma.$disconnect()',
  },
};

test.each(Object.entries(transactions))(
  'the lines of docs/start.md for %s enqueue a job in its transaction',
  async (_, library) => {
    await db.query('create table orders (id text primary key)');
    for (const name of ['typeorm', '@prisma'])
      symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
    mkdirSync(join(folder, 'generated', 'prisma'), { recursive: true });
    copyFileSync(
      join(root, 'packages/writ/test/queue/prisma-client.mjs'),
      join(folder, 'generated/prisma/client.js'),
    );
    const lines = block('docs/start.md', 'js', library.after);
    const program = `import { Writ, defineJob } from 'writ';
${library.before}
const writ = await Writ.connect({ connectionString: process.env.DATABASE_URL });
const job = defineJob('pack');
const input = { id: 'o-1' };
${lines}
await writ.close();
await ${library.end};
`;
    writeFileSync(join(folder, 'order.js'), program);
    await node('order.js');
    expect(await db.query('select id from orders')).toEqual([{ id: 'o-1' }]);
    expect(await db.query('select job_kind, status from writ.job_queue')).toEqual([
      { job_kind: 'pack', status: 'queued' },
    ]);
    // The order is there already, so its transaction rolls back, and with it the second job.
    await expect(node('order.js')).rejects.toThrow(/orders_pkey|Unique constraint/);
    expect(await db.query('select count(*)::int as jobs from writ.job_queue')).toEqual([
      { jobs: 1 },
    ]);
  },
);

test('the schedule of docs/schedules.md fires at half past seven, and its job runs', async () => {
  writeFileSync(join(folder, 'schedule.js'), block('docs/schedules.md', 'js', '`schedule.js`'));
  const program = spawn(process.execPath, ['schedule.js'], {
    cwd: folder,
    env: { ...process.env, DATABASE_URL: db.connectionString },
  });
  const ended = new Promise((done) => program.once('exit', done));
  let printed = '';
  const says = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((done, failed) => {
      const look = () => {
        const match = pattern.exec(printed);
        if (match) done(match);
      };
      program.stdout.on('data', look);
      void ended.then(() => failed(new Error(`it ended, having said ${printed}`)));
      look();
    });
  program.stdout.on('data', (data) => {
    printed += data;
  });
  try {
    const [, next] = await says(/next at (\S+)/);
    const tick = new Date(String(next));
    expect(
      new Intl.DateTimeFormat('en-GB', { timeZone: 'Europe/Berlin', timeStyle: 'short' }).format(
        tick,
      ),
    ).toBe('07:30');
    await db.clock.advance(tick.getTime() - Date.now() + 1_000);
    await says(/report for billing/);
    expect(await db.query('select schedule, tick from writ.schedule_tick')).toEqual([
      { schedule: 'morning-report', tick },
    ]);
  } finally {
    program.kill('SIGKILL');
    await ended;
  }
});

test('the five minutes of docs/ledger.md: what the page signs is verified and proven, by commands and by the program', async () => {
  const env = installed();
  const shell = async (after: string) =>
    (await run('sh', ['-ec', block('docs/ledger.md', 'sh', after)], { cwd: folder, env })).stdout;

  const { jobId } = await (await db.connect()).enqueue(defineJob('greet'));
  const [event] = await db.query('select id from writ.event_outbox where event_subject_ref = $1', [
    jobId,
  ]);
  env.EVENT = String(event?.id);
  await sealEverything(db);
  env.WRIT_LEDGER_PUBLIC_KEYS = /^ {2}(acme\S+)$/m.exec(await shell('The key is made once'))?.[1];
  expect(await shell('Then **sign**')).toMatch(/One signature over _system covers every log/);
  const verified = await shell('**Verify** the database');
  expect(verified.match(/✓ The ledger of acme\.example\/prod is as it was signed/g)).toHaveLength(
    2,
  );
  expect(verified).not.toContain('note:');
  expect(await shell('**Prove** one event')).toMatch(
    new RegExp(`✓ The proof holds[\\s\\S]*of ${jobId}`),
  );

  writeFileSync(join(folder, 'ledger.js'), block('docs/ledger.md', 'js', '`ledger.js`'));
  const { stdout } = await run(process.execPath, ['ledger.js'], { cwd: folder, env });
  expect(stdout).toMatch(new RegExp(`is as it was signed[\\s\\S]*\\ntrue\\n[\\s\\S]*${jobId}`));
});

test('the alert of docs/events-to-jobs.md is heard, about the job that the page enqueues', async () => {
  for (const file of ['alerts.js', 'setup.js']) {
    writeFileSync(join(folder, file), block('docs/events-to-jobs.md', 'js', `\`${file}\``));
  }
  const [, jobId] = /jobId: '([0-9a-f-]+)'/.exec((await node('setup.js')).stdout) ?? [];
  const worker = spawn(
    process.execPath,
    [join(root, 'packages/writ/bin/writ.js'), 'worker', 'alerts.js'],
    {
      cwd: folder,
      env: { ...process.env, DATABASE_URL: db.connectionString },
    },
  );
  let printed = '';
  await new Promise<void>((done, failed) => {
    worker.once('exit', () => failed(new Error(`the worker ended: ${printed}`)));
    worker.stdout.on('data', (data) => {
      printed += data;
      if (printed.includes(`dot.job.dead_letter: look at job ${jobId}\n`)) done();
    });
  });
  worker.removeAllListeners('exit');
  const ended = new Promise((done) => worker.once('exit', done));
  worker.kill('SIGTERM');
  expect(await ended).toBe(0);
  expect(await db.query('select job_kind, status from writ.job_queue order by 1')).toEqual([
    { job_kind: 'alert', status: 'succeeded' },
    { job_kind: 'charge', status: 'dead_letter' },
  ]);
});

test('the five minutes of docs/runs.md: a run completes, one is undone, and its log is replayed without a database', async () => {
  const env = installed();
  for (const file of ['shop.js', 'start.js'])
    writeFileSync(join(folder, file), block('docs/runs.md', 'js', `\`${file}\``));
  writeFileSync(join(folder, 'refund.js'), block('docs/runs.md', 'js', '## Conditions'));
  await node('refund.js');

  // The worker of the page runs in the background: here until the script ends.
  const first = `${block('docs/runs.md', 'sh', 'and a worker beside it')}\necho "RUN=$RUN"\n`;
  const then = block('docs/runs.md', 'sh', 'Then break something');
  const script = `${first}${then}kill $!\nwait $! || true\n${block('docs/runs.md', 'sh', '--export FILE` writes')}`;
  const { stdout } = await run('bash', ['-ec', script], { cwd: folder, env });
  expect(stdout).toMatch(/shipped order-1 from B7/);
  expect(stdout).toMatch(/COMPLETED after/);
  expect(stdout).toMatch(/released order-2/);
  expect(stdout).toMatch(
    /FAILED after .*The card was declined; what was done has been undone\n[\s\S]*it did not complete/,
  );
  expect(stdout).toMatch(
    /✓ Run \S+ is what its log says: 8 events by the rules of fulfil 1\.0\.0, to its end as COMPLETED/,
  );
  const [, id] = /^RUN=(\S+)$/m.exec(stdout) ?? [];
  expect(await db.query('select status, request_id from writ.run where run_id = $1', [id])).toEqual(
    [{ status: 'COMPLETED', request_id: 'order-1' }],
  );
});

test('the five minutes of docs/secrets.md: the handler gets the key, and only its name is shown and kept', async () => {
  for (const file of ['charge.js', 'bill.js'])
    writeFileSync(join(folder, file), block('docs/secrets.md', 'js', `\`${file}\``));
  writeFileSync(join(folder, 'mail.js'), block('docs/secrets.md', 'js', '## Who gets one'));
  await node('mail.js');
  const [, second] = (await node('bill.js')).stdout.trim().split('\n');
  const [, key, args] =
    /^WRIT_SECRET_STRIPE_KEY=(\S+) npx writ (.+)$/m.exec(
      block('docs/secrets.md', 'sh', 'Then a worker'),
    ) ?? [];
  const worker = spawn(
    process.execPath,
    [join(root, 'packages/writ/bin/writ.js'), ...String(args).split(' ')],
    {
      cwd: folder,
      env: { ...process.env, DATABASE_URL: db.connectionString, WRIT_SECRET_STRIPE_KEY: key },
    },
  );
  let printed = '';
  await new Promise<void>((done, failed) => {
    worker.once('exit', () => failed(new Error(`the worker ended: ${printed}`)));
    worker.stdout.on('data', (data) => {
      printed += data;
      if (
        printed.includes('charging order-1 with a key of 25 characters') &&
        printed.includes('401: «secret stripe-key» was not accepted')
      )
        done();
    });
  });
  worker.removeAllListeners('exit');
  const ended = new Promise((done) => worker.once('exit', done));
  worker.kill('SIGTERM');
  expect(await ended).toBe(0);
  const { stdout } = await run(
    process.execPath,
    [join(root, 'packages/writ/bin/writ.js'), 'runs', 'show', String(second)],
    {
      env: { ...process.env, DATABASE_URL: db.connectionString },
    },
  );
  expect(stdout).toContain('401: «secret stripe-key» was not accepted');
  expect(printed + stdout).not.toContain(key);
});

test('the Vault of docs/secrets.md is asked as the page says', async () => {
  // As it stands, but for the connection: the address of the page is nobody's.
  const code = block('docs/secrets.md', 'js', '| elsewhere');
  writeFileSync(
    join(folder, 'vault.js'),
    `${code}\nawait writ.close();\nconsole.log('connected');\n`,
  );
  expect((await node('vault.js')).stdout).toBe('connected\n');
});

test('the five minutes of docs/artifacts.md: a report is put, got, and swept', async () => {
  const env = installed();
  for (const file of ['reports.js', 'month.js'])
    writeFileSync(join(folder, file), block('docs/artifacts.md', 'js', `\`${file}\``));
  writeFileSync(join(folder, 's3.js'), block('docs/artifacts.md', 'js', '## In S3'));
  const script = `${block('docs/artifacts.md', 'sh', 'A worker takes')}kill $!\nwait $! || true\nnode s3.js\n`;
  const { stdout } = await run('bash', ['-ec', script], { cwd: folder, env });
  expect(stdout).toMatch(/sent line 1\nline 2\nline 3\n/);
  expect(stdout).toMatch(/^COMPLETED$/m);
  expect(stdout).toMatch(/^artifacts\/default\/\d{4}-\d\d-\d\d\/\d{9}_\S+\.report$/m);

  const after = `
await writ.enqueue(sweep);
const ended = () => writ.jobs.health({ kinds: ['sweep-artifacts'] }).then(({ backlog, in_progress }) => backlog + in_progress === 0);
while (!(await ended())) await new Promise((resume) => setTimeout(resume, 20));
await writ.close();
`;
  writeFileSync(join(folder, 'sweep.js'), block('docs/artifacts.md', 'js', '## Retention') + after);
  await node('sweep.js');
  expect(
    await db.query(`select status from writ.job_queue where job_kind = 'sweep-artifacts'`),
  ).toEqual([{ status: 'succeeded' }]);
});

test('the plan of the README is one, and its code starts a run that completes', async () => {
  const before = `
import { defineJob, Writ } from 'writ';
const [reserve, release, charge, ship] = ['reserve', 'release', 'charge', 'ship'].map((kind) => defineJob(kind));
const writ = await Writ.connect({ connectionString: process.env.DATABASE_URL });
await writ.work([reserve, release, charge, ship].map((job) => job.handle(async () => ({ id: 'r-1' }))));
const order = { id: 'order-1', parcels: ['a', 'b'] };
`;
  const after = `
await writ.runs.deliver(run.runId, 'approval', { by: 'ada' });
console.log((await run.finished()).status);
await writ.close();
`;
  writeFileSync(join(folder, 'runs.js'), before + block('README.md', 'ts', '## Runs') + after);
  expect((await node('runs.js')).stdout).toBe('COMPLETED\n');
});

test('the logins of docs/operate.md are made as the page says, and the agent’s proposes without a key', async () => {
  const env = installed();
  const names = ['agent-1', 'shop', 'team'];
  // Logins belong to the whole server.
  const drop = async () => {
    for (const name of names) await db.query(`drop role if exists "${name}"`);
  };
  await drop();
  try {
    const { stdout } = await run('bash', ['-ec', block('docs/operate.md', 'sh', '## Logins')], {
      cwd: folder,
      env,
    });
    expect(stdout.match(/^postgres:\/\/(?:agent-1|shop|team):/gm)).toHaveLength(3);
    expect(
      await db.query('select login, principal_id, tenant_id, roles from writ.login order by login'),
    ).toEqual([
      { login: 'agent-1', principal_id: 'agent-1', tenant_id: null, roles: ['writ_principal'] },
      { login: 'shop', principal_id: null, tenant_id: 'acme', roles: ['writ_producer'] },
      { login: 'team', principal_id: null, tenant_id: null, roles: ['dot_executor'] },
    ]);
    const agent = { ...env, DATABASE_URL: /^postgres:\/\/agent-1:\S+/m.exec(stdout)?.[0] };
    writeFileSync(
      join(folder, 'change.yaml'),
      'title: Open it\nscope: [checkout]\nsteps: [{ type: capability_enable, capability_name: checkout }]\n',
    );
    const answer = await run(
      'npx',
      ['writ', 'contracts', 'propose', 'change.yaml', '--draft', '--json'],
      { cwd: folder, env: agent },
    );
    expect(await db.query('select created_by from writ.system_contracts')).toEqual([
      { created_by: 'agent-1' },
    ]);
    expect(JSON.parse(answer.stdout)).toMatchObject({ status: 'DRAFT' });
  } finally {
    await drop();
  }
});

test('the five minutes of docs/governor.md end as the page says, also when they are run again', async () => {
  await patient(db);
  writeFileSync(join(folder, 'night.js'), block('docs/governor.md', 'js', '`night.js`'));
  const { stdout } = await node('night.js');
  // On a slow machine the first decision takes longer than a tenth of a second, and is not printed.
  const page = block('docs/governor.md', '', 'It prints:');
  expect([page, page.slice(page.indexOf('\n') + 1)]).toContain(stdout);
  expect((await node('night.js')).stdout).toContain('8 stable\n');
  writeFileSync(join(folder, 'night.yaml'), block('docs/governor.md', 'yaml', '`night.yaml`'));
  const env = installed();
  const check = await run('npx', ['writ', 'governor', 'policy', 'check', 'night.yaml'], {
    cwd: folder,
    env,
  });
  expect(check.stdout).toContain('error-budget can be published. It needs flags:write.');
  const replayed = await run(
    'bash',
    ['-ec', block('docs/governor.md', 'sh', '## Deciding again')],
    { cwd: folder, env },
  );
  expect(replayed.stdout).toMatch(/decided again/);
});

test('the five minutes of docs/governance.md end as the page says, its flag is put back, its check finds a forged approval, an application reads it, and people operate it', async () => {
  for (const file of ['keys.js', 'change.js', 'flag.js', 'check.js', 'app.js', 'operate.js'])
    writeFileSync(join(folder, file), block('docs/governance.md', 'js', `\`${file}\``));
  const { stdout } = await node('change.js');
  const id = /^contract (\S+)$/m.exec(stdout)?.[1] ?? '';
  expect(stdout.replace(id, '01a1…')).toBe(block('docs/governance.md', '', 'It prints:'));
  expect((await node('flag.js')).stdout).toBe('ROLLED_BACK 0 true\n');
  const check = () =>
    run(process.execPath, ['check.js', id], {
      cwd: folder,
      env: { ...process.env, DATABASE_URL: db.connectionString },
    });
  expect((await check()).stdout).toBe('alice signed this\n');
  expect((await node('app.js')).stdout).toBe('true\n200\nfalse\n');
  expect((await node('operate.js')).stdout).toBe(
    'end of the year true\ncheckout: DEGRADED, warned: slow since noon\n1 3 24\n',
  );
  // Every program runs again: the next change goes on from what the last one left.
  expect((await node('change.js')).stdout).toMatch(
    /^limits#perMinute: 200 → 300$[\s\S]*^COMPLETED$/m,
  );
  expect((await node('flag.js')).stdout).toBe('ROLLED_BACK 0 true\n');
  expect((await node('app.js')).stdout).toBe('true\n300\nfalse\n');
  expect((await node('operate.js')).stdout).toMatch(/warned: slow since noon\n2 3 24\n$/);
  // By a superuser, past every guard.
  await db.query(`alter table writ_data.contract_review disable trigger all`);
  await db.query(
    `update writ_data.contract_review set signature = set_byte(signature, 0, get_byte(signature, 0) # 1)`,
  );
  expect((await check()).stdout).toBe('alice did not sign this\n');
});

test('the change of the README is done', async () => {
  const before = `
import { enable, soak as soakFor, Writ } from 'writ';
const soak = () => soakFor('50ms'); // nobody waits for ten minutes here
const writ = await Writ.connect({ connectionString: process.env.DATABASE_URL });
const ops = await writ.principals.add({ id: 'ops', kind: 'person', rights: ['propose', 'operate'] });
const alice = await writ.principals.add({ id: 'alice', kind: 'person' });
const agent = await writ.principals.add({ id: 'agent', kind: 'agent', onBehalfOf: 'ops' });
const deployer = await writ.principals.add({ id: 'deployer', kind: 'service' });
await writ.capabilities.put([{ capability_name: 'checkout' }], { as: ops });
await writ.work([], { governance: true });
`;
  const after = `
console.log((await job.finished()).status);
await writ.close();
`;
  writeFileSync(
    join(folder, 'governed.js'),
    before + block('README.md', 'ts', '## Governed changes') + after,
  );
  expect((await node('governed.js')).stdout).toBe('COMPLETED\n');
});
