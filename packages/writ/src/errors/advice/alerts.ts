/**
 * What follows from an alert that stands, and what to do about it. Subjects are run/ID,
 * destination/NAME, contract/ID and governance_job/ID.
 */
export const alerts: Readonly<
  Record<
    string,
    { readonly means: string; readonly remedy: (subject: string, alertId: string) => string }
  >
> = {
  COMPENSATION_FAILED: {
    means: 'A step was done and could not be undone: what it left behind is still there.',
    remedy: (run, id) =>
      `\`writ runs show ${run}\` names the step. Undo it by hand, then \`writ alerts clear ${id} --reason TEXT\`.`,
  },
  PROJECTOR_GAP_DETECTED: {
    means:
      'An event is missing in the log of the run. Its snapshot stays where it is; the run itself goes on.',
    remedy: (run) =>
      `\`writ runs verify ${run}\` says which; \`writ ledger verify\` whether somebody took it away.`,
  },
  RUN_INCONSISTENT: {
    means: 'The log of the run has an event that no rule allows at its place. Snapshots ignore it.',
    remedy: (run, id) =>
      `\`writ runs verify ${run}\` names it. Then \`writ alerts clear ${id} --reason TEXT\`.`,
  },
  PROJECTOR_LAG_HIGH: {
    means: 'Snapshots are behind the logs. Whoever asks for a run gets the rest from its log.',
    remedy: () =>
      'Start another worker; if one runs, its log says why it cannot keep up. The alert goes by itself.',
  },
  PAUSE_DRAIN_TIMEOUT: {
    means: 'The run was paused, and a step still runs.',
    remedy: (run) =>
      `\`writ runs show ${run}\` names the step. The alert goes when the run goes on, or with \`writ runs signal ${run} CANCEL\`.`,
  },
  DELIVERY_DEAD: {
    means: 'A destination could not be told of an event, and will not be tried again with it.',
    remedy: (name) =>
      `\`writ events dead-letters ${name}\` says why. \`writ events redeliver ${name} --all-dead\` tells it again, and the alert goes.`,
  },
  DESTINATION_PAUSED: {
    means: 'It accepted nothing, so it is not called any more. What happens is kept for it.',
    remedy: (name) => `See to its receiver, then \`writ webhooks resume ${name}\`: the alert goes.`,
  },
  OUTBOX_LAG_HIGH: {
    means: 'A destination is told of events long after they have happened.',
    remedy: (name) =>
      `\`writ webhooks show ${name}\` says whether it accepts them; see how long its receiver takes. The alert goes by itself.`,
  },
  ROLLBACK_FAILED: {
    means: 'A change could not be undone: what it left behind is still there, and held.',
    remedy: (job) =>
      `\`writ changes show ${job}\` says why. Put it right, then \`writ changes retry-rollback ${job}\`; resolving its incident ends the alert.`,
  },
  GOVERNANCE_SET_ASIDE: {
    means:
      'Something of governance that was due has failed, and was set aside for five minutes so that the rest goes on.',
    remedy: () =>
      'The detail of the alert has the error. It is tried again every five minutes; when it succeeds, the alert goes.',
  },
  AUDIT_INCONCLUSIVE: {
    means: 'A change is done, and its audit could not tell whether it is well.',
    remedy: (job) => `\`writ changes resolve ${job} PASS --reason TEXT\`, or FAIL: the alert goes.`,
  },
  REVIEW_LATE: {
    means: 'A contract waits for its approval, and expires in two days.',
    remedy: (contract) =>
      `\`writ contracts approve ${contract}\`, or reject it. The alert goes by itself.`,
  },
  REVIEW_ESCALATED: {
    means: 'A contract waits for its approval, and expires within a day.',
    remedy: (contract) =>
      `\`writ contracts approve ${contract}\`, or reject it. The alert goes by itself.`,
  },
  CONTRACT_ESCALATED: {
    means: 'Somebody wants a contract to be seen to now.',
    remedy: (contract, id) =>
      `\`writ contracts show ${contract}\`; when somebody has, \`writ alerts clear ${id} --reason TEXT\`.`,
  },
  GOVERNOR_ACTION_TIMEOUT: {
    means: 'A governor gave an action up that was not done in time, and has it undone.',
    remedy: () =>
      '`writ governor list` shows which; the alert goes when the undoing has succeeded, or somebody acknowledges it.',
  },
  GOVERNOR_ROLLBACK_FAILED: {
    means:
      'A governor could not have an action undone, and does not act until a person has seen to it.',
    remedy: () =>
      '`writ governor list` shows which. Put it right, then `writ governor ack TENANT [SKU] rollback_failed --reason TEXT`: the alert goes.',
  },
  GOVERNOR_NONDETERMINISM: {
    means:
      'A governor decided an event in two ways, and does not act until a person has seen to it.',
    remedy: () =>
      '`writ governor list` shows which; then `writ governor ack TENANT [SKU] nondeterminism --reason TEXT`: the alert goes.',
  },
  GOVERNOR_CRASH: {
    means:
      'An event crashed a governor too often and was set aside; it does not act until a person has seen to it.',
    remedy: () =>
      '`writ governor list` shows which; then `writ governor ack TENANT [SKU] crash --reason TEXT`: the alert goes.',
  },
  GLASS_BROKEN: {
    means: 'A contract was activated without enough approvals, or in a freeze.',
    remedy: (contract, id) =>
      `\`writ contracts history ${contract}\` says who did so and why; when that is settled, \`writ alerts clear ${id} --reason TEXT\`.`,
  },
};
