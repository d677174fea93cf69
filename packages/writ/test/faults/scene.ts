/**
 * A scene for tests that kill, stop and wake real worker processes: one job in a database of its
 * own, and processes that end with the test.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { TestContext } from 'vitest';
import { defineJob, type EnqueueOptions } from '../../src/index.js';
import { testDatabase } from '../../src/testing/index.js';

const script = fileURLToPath(new URL('./scene-worker.mjs', import.meta.url));
const job = defineJob('scene', { retry: { attempts: 10, base: '50ms', cap: '100ms' } });

export interface Settings {
  boundary: boolean;
  workMs?: number;
  lease?: string;
  /**
   * Work without giving the event loop back: for as long as the work takes, or until this file is
   * there.
   */
  blocked?: boolean;
  blockedUntil?: string;
  dieAt?: string;
  stall?: string;
}
export type Word = { type: 'working' | 'written' | 'refused'; code?: string };

/**
 * A database with one job in it, and worker processes that end with the test, which may run beside
 * others of its file.
 */
export async function scene({ onTestFinished }: TestContext, options: EnqueueOptions = {}) {
  const db = await testDatabase();
  const children: ChildProcess[] = [];
  onTestFinished(async () => {
    for (const child of children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
    await db.drop();
  });
  await db.query('create table effect (job_id uuid, pid integer)');
  const writ = await db.connect();
  await writ.enqueue(job, undefined, options);
  return {
    db,
    worker: (settings: Settings) => {
      const speaker = worker(db.connectionString, settings);
      children.push(speaker.child);
      return speaker;
    },
    effects: async () => Number((await db.query('select count(*)::int as n from effect'))[0]?.n),
    state: async () =>
      (
        await db.query(
          'select q.status, s.state from writ.job_queue q join writ.v_job_state s using (job_id)',
        )
      )[0],
    /** How the job ended. */
    atRest: async () => {
      const giveUpAt = Date.now() + 20_000;
      for (;;) {
        const status = (await db.query('select status from writ.job_queue'))[0]?.status;
        if (status === 'succeeded' || status === 'dead_letter' || status === 'cancelled')
          return status;
        if (Date.now() > giveUpAt) throw new Error(`the job did not come to rest: ${status}`);
        await new Promise((resume) => setTimeout(resume, 20));
      }
    },
  };
}

/** A worker process, and what it has said and will say. */
function worker(url: string, settings: Settings) {
  const child = fork(script, {
    env: { ...process.env, WRIT_SCENE: JSON.stringify({ url, ...settings }) },
    execArgv: [],
  });
  const said: Word[] = [];
  const listeners: (() => void)[] = [];
  child.on('message', (word: Word) => {
    said.push(word);
    for (const listener of listeners.splice(0)) listener();
  });
  const hears = async (...types: Word['type'][]): Promise<Word> => {
    for (;;) {
      const word = said.find(({ type }) => types.includes(type));
      if (word) return word;
      await new Promise<void>((done) => listeners.push(done));
    }
  };
  return { child, said, hears };
}
