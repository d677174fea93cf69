// @ts-check
// Starts subject-process.mjs and listens to it. Every child has a time limit, and every child that
// is still alive when the harness ends is killed by its own id.
import { fork } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const bench = join(dirname(fileURLToPath(import.meta.url)), '..');
/** @type {Set<import('node:child_process').ChildProcess>} */
const alive = new Set();
let spentUs = 0;

/** Processor time of every role that has ended, in microseconds. */
export const cpuOfRoles = () => spentUs;

/**
 * @param {{ subject: string, roleFile: string, role: string, options: object, seconds?: number,
 * flags?: string[] }} order `flags` are Node's own
 */
export function startRole({ subject, roleFile, role, options, seconds = 120, flags = [] }) {
  const child = fork(
    join(bench, 'subject-process.mjs'),
    [join(bench, 'subjects', `${subject}.mjs`), roleFile, role, JSON.stringify(options)],
    {
      execArgv: flags,
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      env: { ...process.env, NODE_NO_WARNINGS: '1' },
    },
  );
  alive.add(child);
  const what = `${subject} as ${role}`;
  let complaint = '';
  child.stderr?.on('data', (chunk) => {
    complaint = (complaint + chunk).slice(-2000);
  });
  const reported = promise();
  const finished = promise();
  /** @param {string} reason */
  const fail = (reason) => {
    const error = new Error(`${what}: ${reason}${complaint ? `\n${complaint.trim()}` : ''}`);
    reported.reject(error);
    finished.reject(error);
  };
  const limit = setTimeout(() => {
    fail(`no answer within ${seconds} s`);
    child.kill('SIGKILL');
  }, seconds * 1000);
  /** @type {any} */
  let result;
  child.on('message', (/** @type {any} */ message) => {
    if ('report' in message) reported.resolve(message.report);
    else if ('error' in message) fail(message.error);
    else {
      result = message.result;
      spentUs += message.cpuUs;
    }
  });
  child.on('exit', (code, signal) => {
    alive.delete(child);
    clearTimeout(limit);
    if (result === undefined) fail(`ended with ${signal ?? code} before its result`);
    else finished.resolve(result);
  });
  return {
    /** What the role reports before its end. */
    reported: reported.promise,
    /** The role's figures, once its process has gone. */
    finished: finished.promise,
    kill: () => child.kill('SIGKILL'),
  };
}

export function killChildren() {
  for (const child of alive) child.kill('SIGKILL');
}

function promise() {
  /** @type {(value: any) => void} */
  let resolve = () => {};
  /** @type {(error: Error) => void} */
  let reject = () => {};
  const it = new Promise((yes, no) => {
    resolve = yes;
    reject = no;
  });
  it.catch(() => {}); // A failure nobody waits for is told by the other promise.
  return { promise: it, resolve, reject };
}
