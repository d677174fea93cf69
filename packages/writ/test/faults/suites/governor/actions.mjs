// @ts-check
// What the workers of the governor's fault run carry out: one type of action, and its undoing, both by the server of service.mjs.
import { appendFileSync } from 'node:fs';
import { defineAction } from '../../../../dist/index.js';

/** @param {import('../../../../dist/index.js').ActionGiven} given */
async function ask({ tenant, idempotencyKey, rollbackOf, signal }) {
  const body = JSON.stringify({ tenant, key: idempotencyKey, of: rollbackOf ?? null });
  const answer = await fetch(String(process.env.WRIT_FAULTS_SERVICE), {
    method: 'POST',
    body,
    signal,
  });
  const said = /** @type {{ baseline: 'restored' | 'not_restored' | 'unknown' }} */ (
    await answer.json()
  );
  if (!answer.ok)
    throw Object.assign(new Error(`the service answered ${answer.status}`), {
      status: answer.status,
    });
  return said;
}

export const relieve = defineAction('relieve', { run: ask, undo: ask });

export const handlers = () => [];
/** What went wrong with driving is in the record of the process. @param {unknown} error */
const onError = (error) => {
  const { record } = JSON.parse(String(process.env.WRIT_FAULTS_WORKER));
  appendFileSync(record, `driving: ${error}\n`);
};

/** Some of the events are decided twice. */
export const governor = { actions: [relieve], twicePercent: 10, onError };
