// @ts-check
// Another engine, in a process of its own: it tells that steps have begun, and its parent what it was answered. It goes on until it is killed.
import { Writ } from '../../../dist/index.js';

const { url, spool, runId, steps, writeBudget } = JSON.parse(String(process.env.WRIT_ENGINE));
process.on('disconnect', () => process.exit(3));
if (!process.connected) process.exit(3);

const writ = await Writ.connect({ connectionString: url, spool, writeBudget });
const say = (/** @type {object} */ message) =>
  new Promise((done) => process.send?.(message, undefined, undefined, done));
await say({ ready: true });
process.on('message', async () => {
  for (const stepId of steps)
    await say({
      stepId,
      answer: await writ.runs.append(runId, { eventType: 'StepStarted', stepId }),
    });
  await say({ told: true });
});
