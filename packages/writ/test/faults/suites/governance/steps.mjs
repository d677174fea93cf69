// @ts-check
// The step type of governance's fault run, for whoever proposes and for the workers: a flag that is kept by the server of outside.mjs.
import { defineStep, PermanentFailure } from '../../../../dist/index.js';

/** @typedef {{ key: string, value: unknown }} Flag */

const place = (/** @type {string} */ key) => `${process.env.WRIT_FAULTS_OUTSIDE}/flags/${key}`;

/**
 * @param {string} key @param {{ effect: string, value: unknown, undo: boolean }} what @param
 * {AbortSignal} signal
 */
async function put(key, what, signal) {
  const { status } = await fetch(place(key), { method: 'PUT', body: JSON.stringify(what), signal });
  if (status === 409) throw new PermanentFailure(`${key} was refused`);
  if (status !== 200) throw new Error(`${key}: ${status}`);
}

export const flag = defineStep('flag', {
  target: (/** @type {Flag} */ { key }) => `flag:${key}`,
  read: async ({ key }, { signal }) =>
    /** @type {any} */ (await (await fetch(place(key), { signal })).json()).value,
  apply: ({ key, value }, { effectKey, signal }) =>
    put(key, { effect: effectKey, value, undo: false }, signal),
  revert: (found, { key }, { effectKey, signal }) =>
    put(key, { effect: effectKey, value: found, undo: true }, signal),
  // Steps are killed again and again by chance.
  retry: { attempts: 60, base: '50ms', cap: '500ms' },
  timeout: '30s',
});

export const governance = [flag];
export const handlers = () => [];
