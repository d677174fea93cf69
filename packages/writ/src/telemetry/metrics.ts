/**
 * Every metric and every span, once: instruments are made from the first table,
 * docs/reference/telemetry.md from both, and a test looks whether each is really emitted and
 * nothing else is.
 */

export interface Metric {
  readonly instrument: 'counter' | 'histogram' | 'gauge' | 'observable gauge';
  /** In UCUM, as OpenTelemetry has them. */
  readonly unit: string;
  readonly description: string;
  /** Few, and with few values: no ids, and no tenants. */
  readonly attributes: readonly string[];
}

const kind = 'writ.job.kind';
const destination = 'writ.destination';

export const metrics = {
  // What this process does.
  'writ.jobs.enqueued': {
    instrument: 'counter',
    unit: '{job}',
    description: 'Jobs that this process has enqueued. Those that were there already do not count.',
    attributes: [kind],
  },
  'writ.jobs.claimed': {
    instrument: 'counter',
    unit: '{job}',
    description: 'Jobs that workers of this process have claimed.',
    attributes: [kind],
  },
  'writ.jobs.finished': {
    instrument: 'counter',
    unit: '{job}',
    description:
      'Executions that have ended here: succeeded, transient (to be tried again), permanent, released (given back), or lost (with their lease).',
    attributes: [kind, 'writ.outcome'],
  },
  'writ.job.duration': {
    instrument: 'histogram',
    unit: 's',
    description: 'How long handlers ran.',
    attributes: [kind, 'writ.outcome'],
  },
  'writ.job.queue_time': {
    instrument: 'histogram',
    unit: 's',
    description:
      'From the moment a job could be claimed to its first claim. Of an undelayed job that moment is in its id, by the clock of whoever enqueued it.',
    attributes: [kind],
  },
  'writ.claims': {
    instrument: 'counter',
    unit: '{call}',
    description: 'Calls that asked for jobs; writ.found says whether there were any.',
    attributes: ['writ.found'],
  },
  'writ.reports': {
    instrument: 'counter',
    unit: '{call}',
    description: 'Calls that told the database what became of jobs.',
    attributes: [],
  },
  'writ.leases.lost': {
    instrument: 'counter',
    unit: '{lease}',
    description:
      'Leases that were taken from a worker of this process: it was too slow, or stood still.',
    attributes: [],
  },
  'writ.runs.started': {
    instrument: 'counter',
    unit: '{run}',
    description: 'Runs that this process has started.',
    attributes: ['writ.plan.id'],
  },
  'writ.projector.events': {
    instrument: 'counter',
    unit: '{event}',
    description: 'Events of runs that went into snapshots.',
    attributes: [],
  },
  'writ.projector.lag': {
    instrument: 'gauge',
    unit: 's',
    description: 'How old the oldest event was when a worker of this process last projected.',
    attributes: [],
  },
  'writ.ledger.sealed': {
    instrument: 'counter',
    unit: '{row}',
    description: 'Rows of the record that were sealed into the ledger.',
    attributes: [],
  },
  'writ.ledger.receipts': {
    instrument: 'counter',
    unit: '{receipt}',
    description: 'Receipts that were put into their logs.',
    attributes: [],
  },
  'writ.outbox.events': {
    instrument: 'counter',
    unit: '{event}',
    description:
      'Events that a relay of this process has sent: delivered, failed (to be tried again, or not), or dead (letters that came of it).',
    attributes: [destination, 'writ.outcome'],
  },
  'writ.outbox.duration': {
    instrument: 'histogram',
    unit: 's',
    description: 'How long a destination took for what it was given at once.',
    attributes: [destination],
  },
  'writ.governor.signals': {
    instrument: 'counter',
    unit: '{signal}',
    description:
      'Signals that governors driven by this process have settled: accept, refuse or error.',
    attributes: ['writ.outcome'],
  },
  // What is in the database: of connections with `observe` only.
  'writ.queue.ready': {
    instrument: 'observable gauge',
    unit: '{job}',
    description: 'Jobs that can be claimed now.',
    attributes: [kind],
  },
  'writ.queue.waiting': {
    instrument: 'observable gauge',
    unit: '{job}',
    description: 'Jobs that can be claimed later: delays and retries.',
    attributes: [kind],
  },
  'writ.queue.in_progress': {
    instrument: 'observable gauge',
    unit: '{job}',
    description: 'Jobs that workers hold.',
    attributes: [],
  },
  'writ.queue.oldest_ready': {
    instrument: 'observable gauge',
    unit: 's',
    description: 'How long the oldest job that can be claimed has been so.',
    attributes: [],
  },
  'writ.queue.dead_letters': {
    instrument: 'observable gauge',
    unit: '{job}',
    description: 'Dead letters that nobody has replayed.',
    attributes: [],
  },
  'writ.queue.workers': {
    instrument: 'observable gauge',
    unit: '{worker}',
    description: 'Workers that have been heard lately.',
    attributes: [],
  },
  'writ.runs.open': {
    instrument: 'observable gauge',
    unit: '{run}',
    description:
      'Runs that have not ended. PENDING are those that wait for room: the admission queue.',
    attributes: ['writ.run.status'],
  },
  'writ.outbox.lag': {
    instrument: 'observable gauge',
    unit: 's',
    description: 'How long ago the oldest was recorded that a destination has not been given yet.',
    attributes: [destination],
  },
  'writ.outbox.undelivered': {
    instrument: 'observable gauge',
    unit: '{event}',
    description: 'Events that a destination has not accepted, and those behind them.',
    attributes: [destination],
  },
  'writ.outbox.dead_letters': {
    instrument: 'observable gauge',
    unit: '{event}',
    description: 'Events that were given up.',
    attributes: [destination],
  },
  'writ.alerts.open': {
    instrument: 'observable gauge',
    unit: '{alert}',
    description: 'Alerts that nobody has cleared.',
    attributes: ['writ.alert.severity'],
  },
  'writ.governors': {
    instrument: 'observable gauge',
    unit: '{governor}',
    description: 'Governors, by the state they are in.',
    attributes: ['writ.governor.state'],
  },
  'writ.governor.mailbox': {
    instrument: 'observable gauge',
    unit: '{event}',
    description: 'What was sent to governors and has not been handled.',
    attributes: [],
  },
  'writ.ledger.checkpoint_age': {
    instrument: 'observable gauge',
    unit: 's',
    description: 'How old the newest signed checkpoint of the system log is, where there is one.',
    attributes: [],
  },
} as const satisfies Record<string, Metric>;

export type MetricName = keyof typeof metrics;

export interface SpanOfOurs {
  readonly name: string;
  readonly kind: 'PRODUCER' | 'CONSUMER' | 'INTERNAL' | 'CLIENT';
  readonly parent: string;
  readonly description: string;
  readonly attributes: readonly string[];
}

const messaging = [
  'messaging.system',
  'messaging.operation.type',
  'messaging.operation.name',
  'messaging.destination.name',
];
const count = 'messaging.batch.message_count';
const execution = [
  ...messaging,
  'messaging.message.id',
  'writ.job.id',
  'writ.attempt',
  'writ.execution',
  'writ.queue_ms',
  'writ.outcome',
];

export const spans: readonly SpanOfOurs[] = [
  {
    name: 'enqueue <kind>',
    kind: 'PRODUCER',
    parent: 'the active span',
    description: 'One call that enqueues, with however many jobs. Its place is stored with each.',
    attributes: [...messaging, count],
  },
  {
    name: 'start <plan>',
    kind: 'PRODUCER',
    parent: 'the active span',
    description:
      'One call that starts a run. Its place is stored with the run, and with the jobs of its steps.',
    attributes: messaging,
  },
  {
    name: 'process <kind>',
    kind: 'CONSUMER',
    parent: 'enqueue',
    description: 'One execution of a job; a retry is another. Active while the handler runs.',
    attributes: execution,
  },
  {
    name: 'step <plan>/<step>',
    kind: 'CONSUMER',
    parent: 'start',
    description: 'One execution of a step of a run. Active while the handler runs.',
    attributes: [...execution, 'writ.run.id', 'writ.step.id', 'writ.plan.id'],
  },
  {
    name: 'commit',
    kind: 'INTERNAL',
    parent: 'process, step, or what the handler was doing',
    description:
      'The transaction of `commit`; or, where the handler only returned, until its report is durable.',
    attributes: [],
  },
  {
    name: 'deliver <destination>',
    kind: 'PRODUCER',
    parent: 'none: it links the first 128 traces',
    description: 'What a relay gives a destination at once.',
    attributes: [...messaging, count, 'writ.bus', 'writ.accepted'],
  },
  {
    name: 'post <destination>',
    kind: 'CLIENT',
    parent: 'enqueue or start',
    description:
      'One webhook, of an event whose job or run has a trace. Its place is in the header `traceparent`.',
    attributes: [
      ...messaging,
      'messaging.message.id',
      'writ.event.type',
      'http.request.method',
      'http.response.status_code',
    ],
  },
];
