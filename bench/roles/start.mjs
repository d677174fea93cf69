// @ts-check
// A worker without work: its memory, its processor time and the commits of its database.
import pg from 'pg';
import { sleep } from '../harness/figures.mjs';

/** @param {import('pg').Client} client */
async function commits(client) {
  const { rows } = await client.query(
    'select xact_commit::int as n from pg_stat_database where datname = current_database()',
  );
  return rows[0].n;
}

/**
 * @param {import('../subjects/subject.mjs').Subject} subject @param {{ url: string, mode:
 * 'latency', seconds: number }} options
 */
export async function idleWorker(subject, { url, mode, seconds }) {
  const worker = await subject.worker?.(url, { mode }, async () => {});
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await sleep(5_000); // connections, first looks
  const before = { cpu: process.cpuUsage(), commits: await commits(client), at: Date.now() };
  await sleep(seconds * 1_000);
  const elapsed = (Date.now() - before.at) / 1_000;
  const { user, system } = process.cpuUsage(before.cpu);
  const residentMb = process.memoryUsage().rss / 1e6;
  const own = 1; // this role's first question; the second is not counted yet
  const counted = (await commits(client)) - before.commits - own;
  await client.end();
  await worker?.close();
  return {
    jobs: seconds,
    residentMb,
    cpuMsPerSecond: (user + system) / 1_000 / elapsed,
    commits: counted / elapsed,
  };
}
