/**
 * The story of the demo: an agent wants to change production. What it may not do is refused, what was approved is done once although a worker is
 * killed over it, what makes the shop ill is put back, and all of it is evidence. Each sentence that is printed is said after it was measured,
 * and the demo fails if a promise was not kept.
 */
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedServer, startEmbedded } from '../../database/embedded.js';
import { Writ } from '../../writ.js';
import { type Session, stopServer, withSession } from '../connection.js';
import { exitCodes } from '../failure.js';
import type { Output } from '../output.js';
import { keepSecret } from '../secrets.js';
import { interruption } from '../signals.js';
import { tellOfApproval, watched } from './approval.js';
import { Crew } from './crew.js';
import { tellOfEvidence } from './evidence.js';
import { tellOfExecution, tellOfRollback } from './execution.js';
import { countChanges, type Figures } from './figures.js';
import { engage } from './scene.js';
import { Shop } from './shop.js';
import { Stage } from './stage.js';
import { conclude } from './verdict.js';

interface House {
  readonly server: EmbeddedServer;
  readonly directory: string;
  readonly crew: Crew;
  readonly shop: Shop;
  readonly writ: Writ;
  /** When the story began. */
  readonly since: number;
}

export async function tellStory(output: Output): Promise<void> {
  const stage = new Stage(output);
  stage.title(
    'Writ: an agent changes production, and does no more than was approved',
    'A real PostgreSQL, real processes, real signals. What you read is measured before it is said.',
  );
  stage.awaiting('PostgreSQL is being started, and Writ installed');
  const since = performance.now();
  const directory = join(tmpdir(), `writ-demo-${randomBytes(4).toString('hex')}`);
  // However it ends, also while the server is being made: nothing is left behind.
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  const server = await startEmbedded({ directory });
  keepSecret(server.connectionString);
  const { first, release } = interruption({ alone: true });
  const crew = new Crew(server.connectionString);
  const shop = await Shop.open();
  const writ = await Writ.connect({ connectionString: server.connectionString, actor: 'demo' });
  try {
    await writ.migrate({ enable: true });
    const told = withSession(server.connectionString, (db) => tell(stage, db, { server, directory, crew, shop, writ, since }));
    const ended = await Promise.race([told, first]);
    if (typeof ended === 'string') {
      stage.close();
      void told.catch(() => undefined); // broken off
      process.exitCode = exitCodes.interrupted;
      return;
    }
    conclude(output, stage, ended, performance.now() - since);
  } finally {
    await crew.stop(process.exitCode ? 'SIGKILL' : 'SIGTERM');
    await writ.close();
    await shop.close();
    await stopServer(server);
    release();
  }
}

async function tell(stage: Stage, db: Session, house: House): Promise<Figures> {
  const { server, directory, crew, shop, writ } = house;
  const [row] = await db.rows<{ version: string }>(`select current_setting('server_version') as version`);
  stage.seen(`PostgreSQL ${row?.version} runs in a temporary folder, Writ is installed`, performance.now() - house.since);
  stage.act(1, 'An agent proposes a change');
  stage.say('A shop has a checkout and limits. An agent wants to change both, and can only propose.');
  const cast = await engage(writ, db, server, shop.healthUrl);
  const scene = { stage, db, writ, cast, crew, shop, folder: join(directory, 'evidence') };
  try {
    const victim = crew.start('worker A', { dieAtStep: watched.step });
    await victim.ready;
    const { contract, ...approval } = await tellOfApproval(scene);
    const execution = await tellOfExecution(scene, contract, victim);
    const restored = await tellOfRollback(scene);
    await crew.stop();
    const ledger = await tellOfEvidence(scene);
    stage.act(8, 'The figures, counted with SQL');
    return { ...approval, ...execution, restored, changes: await countChanges(db), ledger };
  } finally {
    await cast.agent.close();
  }
}
