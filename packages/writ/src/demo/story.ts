/**
 * The story of the demo: an agent wants to change production. What it may not do is refused, what
 * was approved is done once although a worker is killed over it, what makes the shop ill is put
 * back, what has to be done at night a governor does within what was approved, and all of it is
 * evidence. Each sentence that is printed is said after it was measured, and the demo fails if a
 * promise was not kept.
 */

import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exitCodes } from '../cli/failure.js';
import type { Output } from '../cli/output.js';
import { interruption } from '../cli/signals.js';
import { stopServer } from '../database/dev-servers.js';
import { startEmbedded } from '../database/embedded.js';
import { readRows } from '../database/gate.js';
import { withClient } from '../database/pools.js';
import { keepSecret } from '../secrets/passwords.js';
import { Writ } from '../writ.js';
import { tellOfApproval } from './approval.js';
import { Crew } from './crew.js';
import { tellOfEvidence } from './evidence.js';
import { tellOfExecution, tellOfRollback } from './execution.js';
import { countChanges, type Figures } from './figures.js';
import { tellOfGovernor } from './governing.js';
import { engage, type Scene } from './scene.js';
import { Shop } from './shop.js';
import { Stage } from './stage.js';
import { conclude } from './verdict.js';

/** What has to be ended when the story is over, the last first. */
type Opened = (() => Promise<unknown>)[];

export async function tellStory(output: Output): Promise<void> {
  const stage = new Stage(output);
  const since = performance.now();
  const { first, release } = interruption();
  const opened: Opened = [];
  try {
    const told = tell(stage, opened);
    const ended = await Promise.race([told, first]);
    if (typeof ended === 'string') {
      stage.close();
      void told.catch(() => undefined); // broken off
      process.exitCode = exitCodes.interrupted;
      return;
    }
    conclude(output, stage, ended, performance.now() - since);
  } finally {
    for (const close of opened.reverse()) await close();
    release();
  }
}

async function tell(stage: Stage, opened: Opened): Promise<Figures> {
  stage.title(
    'Writ: an agent changes production, and does no more than was approved',
    'A real PostgreSQL, real processes, real signals. What you read is measured before it is said.',
  );
  stage.awaiting('PostgreSQL is being started, and Writ installed');
  const since = performance.now();
  const directory = join(tmpdir(), `writ-demo-${randomBytes(4).toString('hex')}`);
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  const starting = startEmbedded({ directory });
  // one that did not start is told of below
  opened.push(() => starting.then(stopServer, () => undefined));
  const server = await starting;
  keepSecret(server.connectionString);
  const writ = await Writ.connect({ connectionString: server.connectionString, actor: 'demo' });
  opened.push(() => writ.close());
  await writ.migrate({ enable: true });
  const shop = await Shop.open();
  opened.push(() => shop.close());
  return withClient(server.connectionString, async (db) => {
    const [row] = await readRows<{ version: string }>(
      db,
      `select current_setting('server_version') as version`,
    );
    stage.seen(
      `PostgreSQL ${row?.version} runs in a temporary folder, Writ is installed`,
      performance.now() - since,
    );
    // Before a change has workers: approvals count when an applier has verified them. These persons
    // have no trust file.
    await writ.work([], { governance: 'verify', trust: 'database' });
    const { connectionString: databaseUrl } = server;
    const cast = await engage(writ, db, { databaseUrl, healthUrl: shop.healthUrl });
    opened.push(() => cast.agent.close());
    const crew = new Crew(server.connectionString, cast.deployer);
    opened.push(() => crew.stop(process.exitCode ? 'SIGKILL' : 'SIGTERM'));
    return act({ stage, db, writ, cast, crew, shop, folder: join(directory, 'evidence') });
  });
}

async function act(scene: Scene): Promise<Figures> {
  const { stage, crew, db } = scene;
  const victim = crew.start('worker A', { dies: true });
  await victim.ready;
  const { contract, ...approval } = await tellOfApproval(scene);
  const execution = await tellOfExecution(scene, contract, victim);
  const restored = await tellOfRollback(scene);
  const governed = await tellOfGovernor(scene);
  await crew.stop();
  const ledger = await tellOfEvidence(scene);
  stage.act(9, 'The figures, counted with SQL');
  return { ...approval, ...execution, restored, governed, changes: await countChanges(db), ledger };
}
