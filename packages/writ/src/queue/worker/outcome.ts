import { errorCode, PermanentFailure, Postponed, WritError } from '../../errors/index.js';
import { longestStack, stackOf } from '../../errors/thrown.js';
import { redactSecrets } from '../../secrets/redaction.js';
import type { WorkItem } from './context.js';

/** What became of one job, as the worker will report it. */
export type Outcome =
  | { readonly type: 'succeeded'; readonly result: string | undefined }
  | {
      readonly type: 'transient' | 'permanent' | 'delayed';
      readonly code: string;
      readonly message: string;
      readonly stack?: string;
    }
  | { readonly type: 'released' };

/**
 * What an error of a handler means for its job. Undefined: report nothing, because the job is no
 * longer ours.
 */
export function judge(error: Error, item: WorkItem): Outcome | undefined {
  // the effect stands; what came after it cannot undo it
  if (item.committed) return { type: 'succeeded', result: undefined };
  const code = errorCode(error);
  const stopped = errorCode(item.abortedWith);
  if (code === 'already_committed') return { type: 'succeeded', result: undefined };
  if (code === 'lease_lost' || stopped === 'lease_lost') return undefined;
  if (stopped === 'closed') return { type: 'released' };
  const failure = failureOf(error, item);
  const permanent =
    error instanceof PermanentFailure ||
    code === 'invalid_input' ||
    stopped === 'deadline_exceeded';
  return {
    type: permanent ? 'permanent' : error instanceof Postponed ? 'delayed' : 'transient',
    code: kept(errorCode(failure) ?? '') || 'handler_error',
    message: kept(failure.message),
    stack: kept(stackOf(failure)).slice(0, longestStack),
  };
}

/** A text without secrets, as a database can hold it. */
const kept = (text: string) => redactSecrets(text).replaceAll('\0', '').toWellFormed();

/**
 * What to tell people: a handler that was told to stop failed of that, whatever it threw on its way
 * out.
 */
export function failureOf(error: Error, item: WorkItem): Error {
  return item.abortedWith instanceof WritError ? item.abortedWith : error;
}
