/**
 * Named places at which a test can stop, kill or delay a worker. Without a hook a passage costs one
 * comparison. The fault suites reach them through writ/testing.
 */
export const faultPoints = {
  claimed: 'between claim and start: the lease is durable, no handler runs',
  started: 'the handler is about to run',
  before_commit: 'the effect and the mark are written, COMMIT is not sent',
  commit_sent: 'COMMIT is sent, its answer has not come',
  after_commit: 'the effect stands, the job is not yet done',
  finish_sent: 'the outcomes are sent, their answer has not come',
  projecting: 'the projector has the turn and has not reduced yet',
  projection_sent: 'the snapshots are sent, their answer has not come',
  change_begun: 'a change outside the database is written down as begun, and not made',
  change_made: 'the change outside is made, and the database does not know',
  change_sent: 'a change is sent to its gate, the answer has not come',
  undo_begun: 'what has to be undone outside is known, and nothing is undone',
  undo_made: 'it is undone outside, and the database does not know',
  undo_sent: 'a rollback step is sent to its gate, the answer has not come',
  undone: 'a rollback step stands, its job is not yet done',
  audited: 'a verdict stands, the job of the audit is not yet done',
  relay_taken: 'the relay has the turn of a destination and has sent nothing',
  relay_sent: 'the destination has what was sent, and the database does not know',
  relay_told: 'what became of it is sent to the database, its answer has not come',
  governors_fetched: 'governors are taken, and nothing is decided',
  governors_decided: 'their events are decided, and nothing is written',
  governors_written: 'what was decided is written, COMMIT is not sent',
  governors_sent: 'COMMIT of a turn of governors is sent, its answer has not come',
  signal_taken: 'a signal is in its mailbox, and its sender has no answer',
  action_made: 'an action is carried out, and its governor does not know',
} as const;
export type FaultPoint = keyof typeof faultPoints;
export type FaultHook = (point: FaultPoint, jobId?: string) => void | Promise<void>;

let hook: FaultHook | undefined;

/** Replaces the hook; undefined removes it. */
export function onFaultPoint(next: FaultHook | undefined): void {
  hook = next;
}

export function pass(point: FaultPoint, jobId?: string): void | Promise<void> {
  return hook?.(point, jobId);
}
