/**
 * Reads the values outside the database that a contract changes, in queue jobs of appliers: only
 * they have step types and their secrets. Previews, approvals and activations use what is stored
 * here.
 */
import type { Queryable } from '../database/connection.js';
import { gate, readJson } from '../database/gate.js';
import { errorCode } from '../errors/index.js';
import { asError } from '../errors/thrown.js';
import type { JobContext, WorkItem } from '../queue/worker/context.js';
import { redactSecrets, refuseSecrets } from '../secrets/redaction.js';
import { slotOf } from './document.js';
import { type ChangeStep, readBy, type StepType } from './steps.js';

export interface ReadingHost {
  readonly db: Queryable;
  readonly actor: string;
  readonly onRead: (jobId: string) => void;
}

type ReadingJob = JobContext<{ readonly contract: string }> & Pick<WorkItem, 'commitWith'>;

/** What the gate stores of one place. */
type Found =
  | { readonly slot: string; readonly value: unknown }
  | { readonly slot: string; readonly code: string; readonly detail: string };

/** How long a step type may take to read one place. */
const readMs = 30_000;
/** How many places are read at the same time. */
const atOnce = 10;
/** What the gate takes of one place, and of all together, with room for their names. */
const mostBytes = 65_536;
const mostBytesTogether = 2_097_152;

/** Reads the places that steps of one type change. */
export async function readOutside(
  { db, actor, onRead }: ReadingHost,
  type: StepType<unknown>,
  context: ReadingJob,
): Promise<void> {
  const [row] = await readJson<{ steps: ChangeStep[] }>(
    db,
    'select c.steps from writ.system_contracts c where c.contract_id = $1',
    [context.input.contract],
  );
  const places = new Map<string, ChangeStep>();
  for (const step of row?.steps ?? []) {
    const slot = step.step_type === type.type ? slotOf(step) : undefined;
    if (slot !== undefined && !places.has(slot)) places.set(slot, step);
  }
  const found: Found[] = [];
  const open = [...places];
  const reader = async () => {
    for (let next = open.shift(); next; next = open.shift())
      found.push(await readPlace(...next, type, context));
  };
  await Promise.all(Array.from({ length: atOnce }, reader));
  await context.commitWith(({ id, token }) =>
    gate(db, 'fn_contract_read_done($1::text::uuid, $2::text::uuid, $3::text::jsonb, $4)', [
      id,
      token,
      JSON.stringify(bounded(found)),
      actor,
    ]),
  );
  onRead(context.job.id);
}

/** Reads one place. What goes wrong with it is its answer, and stops no other. */
async function readPlace(
  slot: string,
  step: ChangeStep,
  type: StepType<unknown>,
  { job, signal, secret }: ReadingJob,
): Promise<Found> {
  const late = AbortSignal.any([signal, AbortSignal.timeout(readMs)]);
  try {
    const value = await unlessAborted(
      readBy(type, step, { tenant: job.tenant, signal: late, secret }),
      late,
    );
    const json = JSON.stringify(value) ?? 'null';
    refuseSecrets(json, `what stands at ${slot}`);
    if (Buffer.byteLength(json) <= mostBytes) return { slot, value: JSON.parse(json) };
    return tooLarge(slot, 'A value outside the database has 64 KB at most.');
  } catch (error) {
    signal.throwIfAborted(); // the worker stops, or has lost the lease: another one reads it
    const failure = asError(error);
    return {
      slot,
      code: kept(errorCode(failure) ?? '').slice(0, 100) || 'handler_error',
      detail: kept(failure.message).slice(0, 1000).toWellFormed(),
    };
  }
}

const tooLarge = (slot: string, detail: string): Found => ({
  slot,
  code: 'payload_too_large',
  detail,
});

/** A text without secrets, as a database can hold it. */
const kept = (text: string) => redactSecrets(text).replaceAll('\0', '').toWellFormed();

/** As many values as the gate takes together; of the others it says so. */
function bounded(found: readonly Found[]): Found[] {
  let bytes = 0;
  return found.map((one) => {
    bytes += Buffer.byteLength(JSON.stringify(one));
    if (bytes <= mostBytesTogether || 'code' in one) return one;
    return tooLarge(one.slot, 'The values that one step type reads have 2 MB at most.');
  });
}

/**
 * A promise, or the rejection of a signal that is aborted before: a reader may not listen to it.
 */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const aborted = () => reject(signal.reason);
    if (signal.aborted) aborted();
    signal.addEventListener('abort', aborted, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', aborted));
  });
}
