/**
 * Deciding again: what agrees is found to agree, and whatever was done to events or receipts is
 * found and named.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { decide } from '../../src/governor/decide.js';
import type { GovernorEvent } from '../../src/governor/events.js';
import { eventId } from '../../src/governor/ids.js';
import { definePolicy, handler, policyHash } from '../../src/governor/policy.js';
import {
  type Difference,
  type GovernorIdentity,
  type RedecisionOptions,
  redecide,
} from '../../src/governor/redecision.js';
import { canonicalize } from '../../src/ledger/canonical.js';
import type { ReceiptContainer } from '../../src/ledger/container.js';
import { type GeneratorOptions, generateSignals } from '../../src/testing/signals.js';
import { Simulation, type SimulationOptions } from '../../src/testing/simulation.js';

const policyWith = (more: Partial<Parameters<typeof definePolicy>[1]> = {}) =>
  definePolicy('scale-up', {
    when: {
      cpu_utilization: { above: 75, clearBelow: 60, cooldown: '20s' },
      billing_spend: { above: 100, then: false },
    },
    then: handler('scale_up_cloud_run', {
      target: 'catalog',
      parameters: { replicas_delta: 3 },
      notRestored: 'rollback',
      baselineWithin: '5s',
    }),
    ...more,
  });
const types = { cpu_utilization: { calm: 40, high: 95 }, billing_spend: { calm: 20, high: 200 } };

/** Attempts succeed, fail, are refused, or are never heard of again, in turn. */
function unsteady(): SimulationOptions {
  let attempts = 0;
  return {
    bounds: { storm_limit: 30, capacity: 50, action_ms: 500, rollback_ms: 5_000 },
    carry: ({ kind }) => {
      const n = attempts++ % 11;
      if (n === 2) return undefined;
      if (n === 5)
        return { after: 100, ok: false, response_code: 403, failure_reason: 'permission_denied' };
      if (n % 4 === 3)
        return {
          after: 120,
          ok: false,
          failure_reason: 'service_error',
          response_code: 500,
          error_message: 'ü\u0007',
        };
      return {
        after: 80,
        ...(kind === 'action' && {
          baseline: n % 3 === 0 ? ('unknown' as const) : ('restored' as const),
        }),
      };
    },
    permission: (at) =>
      at % 13 === 0
        ? { unreachable: 'no answer' }
        : { allowed: at % 17 !== 0, policy_set_hash: 'ab'.repeat(32) },
  };
}

function simulated(seed: number, profile: GeneratorOptions['profile'], n = 600): Simulation {
  const simulation = new Simulation(unsteady());
  simulation.publish(policyWith());
  generateSignals(seed, { types, n, profile }).forEach((signal, at) => {
    if (at % 97 === 50)
      simulation.publish(policyWith({ budget: 1_000 + at }), { shadow: at % 2 === 1 });
    if (at % 89 === 40)
      simulation.tell({
        kind: 'act',
        action_id: actionId(at),
        action_type: 'scale_up_cloud_run',
        parameters: {},
      });
    if (at % 211 === 100)
      simulation.fail({
        kind: 'health_failed',
        failure: { cause: 'policy', component: 'policy_cache', failure_type: 'x' },
      });
    simulation.signal(signal);
  });
  simulation.pass(20 * 60_000);
  return simulation;
}
const actionId = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
const whoOf = ({ governor: { id, tenant, sku } }: Simulation) => ({ governor_id: id, tenant, sku });
const replayed = (simulation: Simulation, options: RedecisionOptions = {}) =>
  redecide(whoOf(simulation), simulation.events, simulation.receipts, options);

describe('what agrees', () => {
  test.each(['calm', 'spikes', 'storm'] as const)(
    'signals of any seed, %s, are decided alike again',
    (profile) => {
      const seen = new Set<string>();
      for (const seed of [1, 2, 3, 4, 5]) {
        const simulation = simulated(seed, profile);
        const result = replayed(simulation);
        expect(result.differences).toEqual([]);
        expect(result).toMatchObject({ ok: true, receipts: simulation.receipts.length });
        expect(result.events + result.behind).toBe(simulation.events.length);
        for (const state of result.states) seen.add(state);
      }
      if (profile !== 'calm')
        expect(seen).toEqual(
          new Set(['boot', 'stable', 'warning', 'intervening', 'refusing', 'degraded']),
        );
    },
  );

  test('the same input gives the same bytes, another seed others', () => {
    const [one, same, other] = [
      simulated(7, 'storm'),
      simulated(7, 'storm'),
      simulated(8, 'storm'),
    ];
    expect(same.receipts).toEqual(one.receipts);
    expect(same.governor.hash).toBe(one.governor.hash);
    expect(redecide(whoOf(one), one.events, same.receipts).ok).toBe(true);
    expect(other.governor.hash).not.toBe(one.governor.hash);
  });

  test('events whose receipts are not in the log yet are behind it, and no difference', () => {
    const simulation = simulated(1, 'spikes');
    const half = simulation.receipts.slice(0, simulation.receipts.length / 2);
    const result = redecide(whoOf(simulation), simulation.events, half);
    expect(result).toMatchObject({ ok: true, receipts: half.length });
    expect(result.behind).toBeGreaterThan(100);
    expect(result.events + result.behind).toBe(simulation.events.length);
  });
});

describe('what was changed is named', () => {
  const story = simulated(3, 'spikes', 300);
  const events = story.events.map((line) => JSON.parse(line) as GovernorEvent);
  const receipts = story.receipts.map((line) => JSON.parse(line) as ReceiptContainer);
  const indexOf = (is: (event: GovernorEvent) => boolean, from = 0) => {
    const at = events.findIndex((event, n) => n >= from && is(event));
    expect(at).toBeGreaterThanOrEqual(0);
    return at;
  };
  type Changed = {
    readonly events?: readonly unknown[];
    readonly receipts?: readonly unknown[];
    readonly id?: string;
  };
  const lines = (list: readonly unknown[]) => list.map((one) => canonicalize(one));
  const found = (changed: Changed, options: RedecisionOptions = {}): readonly Difference[] =>
    redecide(
      { ...whoOf(story), ...(changed.id !== undefined && { governor_id: changed.id }) },
      lines(changed.events ?? events),
      lines(changed.receipts ?? receipts),
      options,
    ).differences;
  const first = (changed: Changed) => {
    const differences = found(changed);
    expect(differences).toHaveLength(1);
    return differences[0] as Difference;
  };
  const withEvent = (at: number, change: (event: GovernorEvent) => unknown) => ({
    events: events.map((event, n) => (n === at ? change(event) : event)),
  });
  const told = new Set(receipts.map(({ context }) => context.event_id));
  const isSignal = ({ content, from }: GovernorEvent) =>
    content.kind === 'signal' && from === 'mailbox';

  test('a signal whose value was changed', () => {
    const at = indexOf((event) => isSignal(event) && event.event_seq > 20);
    const difference = first(
      withEvent(at, (event) => ({
        ...event,
        content: { ...event.content, severity: 'LOW', value: 41.5 },
      })),
    );
    expect(difference).toMatchObject({
      kind: 'event_changed',
      event_seq: at + 1,
      message: expect.stringContaining(`Event ${at + 1}`),
    });
  });

  test('an answer that was changed, even where the decision is the same', () => {
    const at = indexOf(
      ({ answers }) =>
        answers?.act !== undefined &&
        'policy_set_hash' in answers.act.action &&
        answers.act.action.allowed,
    );
    const hash = 'cd'.repeat(32);
    const difference = first(
      withEvent(at, (event) => ({
        ...event,
        answers: {
          act: { ...event.answers?.act, action: { allowed: true, policy_set_hash: hash } },
        },
      })),
    );
    expect(difference).toMatchObject({ kind: 'event_changed', event_seq: at + 1 });
  });

  test('an event that has no receipt of its own: the next receipt bears it out', () => {
    const silent = indexOf(
      ({ event_seq, from }) =>
        from === 'mailbox' && !told.has(eventId(story.governor.id, event_seq)),
    );
    const difference = first(
      withEvent(silent, (event) => ({ ...event, content: { ...event.content, extra: 1 } })),
    );
    expect(difference).toMatchObject({
      kind: 'event_changed',
      message: expect.stringContaining(`One of the events ${silent + 1} to`),
    });
  });

  test('a policy that is not the one that was published: by its hash, and with its hash', () => {
    const at = indexOf(({ content }) => content.kind === 'policy');
    const tamper = (isHashed: boolean) =>
      withEvent(at, (event) => {
        const { policy } = event.content as Extract<GovernorEvent['content'], { kind: 'policy' }>;
        const document = { ...policy?.document, budget: 7 } as NonNullable<
          typeof policy
        >['document'];
        return {
          ...event,
          content: {
            ...event.content,
            policy: { ...policy, document, ...(isHashed && { hash: policyHash(document) }) },
          },
        };
      });
    for (const isHashed of [false, true])
      expect(first(tamper(isHashed))).toMatchObject({
        kind: 'policy_changed',
        event_seq: at + 1,
        message: expect.stringMatching(/polic.*published.*hash/),
      });
  });

  test('an event that was taken out, and one whose place was closed', () => {
    const at = indexOf((event) => isSignal(event) && event.event_seq > 30);
    expect(first({ events: events.toSpliced(at, 1) })).toMatchObject({
      kind: 'event_missing',
      event_seq: at + 1,
      message: `Event ${at + 1} should follow, and there is ${at + 2}: ${at + 1} is missing.`,
    });
    const closed = events.toSpliced(at, 1).map((event, n) => ({ ...event, event_seq: n + 1 }));
    expect(first({ events: closed })).toMatchObject({
      kind: 'signal_lost',
      message: expect.stringContaining('was never handled'),
    });
    // Its place in the mailbox closed as well: the signals have numbers of their own.
    const mail = (events[at] as GovernorEvent).mail_seq as number;
    const moved = closed.map((event) =>
      event.mail_seq !== undefined && event.mail_seq > mail
        ? { ...event, mail_seq: event.mail_seq - 1 }
        : event,
    );
    expect(first({ events: moved })).toMatchObject({
      kind: 'signal_lost',
      message: expect.stringMatching(/it is signal \d+, where \d+ should follow/),
    });
  });

  test('events at the end that are missing', () => {
    expect(first({ events: events.slice(0, 100) })).toMatchObject({
      kind: 'event_missing',
      event_seq: 101,
    });
  });

  test('an event that was put in, and one twice', () => {
    const at = indexOf((event) => isSignal(event) && event.event_seq > 30);
    expect(first({ events: events.toSpliced(at, 0, events[at] as GovernorEvent) })).toMatchObject({
      kind: 'event_missing',
      message: expect.stringContaining('once more'),
    });
    const host = {
      event_seq: at + 1,
      at: (events[at] as GovernorEvent).at,
      decide: 1,
      from: 'host',
      content: { kind: 'verify' },
    };
    expect(
      first({
        events: events
          .toSpliced(at, 0, host as GovernorEvent)
          .map((event, n) => ({ ...event, event_seq: n + 1 })),
      }),
    ).toMatchObject({
      kind: 'event_order',
    });
  });

  test('what was inserted and comes later, or says something else', () => {
    const at = indexOf(({ from, content }) => from === 'inserted' && content.kind === 'act');
    const [before, inserted] = [events[at - 1] as GovernorEvent, events[at] as GovernorEvent];
    const swapped = events
      .with(at - 1, { ...inserted, event_seq: at })
      .with(at, { ...before, event_seq: at + 1 });
    expect(first({ events: swapped })).toMatchObject({ kind: 'event_order', event_seq: at });
    const other = withEvent(at, (event) => ({
      ...event,
      content: { ...event.content, action_id: actionId(1) },
    }));
    expect(first(other)).toMatchObject({
      kind: 'event_changed',
      event_seq: at + 1,
      message: expect.stringContaining('what waited was'),
    });
  });

  test('a timer that was not due, or not then, and a mail that came after one was', () => {
    const at = indexOf(({ from, due_at }) => from === 'timer' && due_at !== undefined);
    const later = withEvent(at, (event) => ({ ...event, due_at: (event.due_at as number) + 1 }));
    expect(first(later)).toMatchObject({
      kind: 'event_order',
      event_seq: at + 1,
      message: expect.stringMatching(/next was timer/),
    });
    const none = events.toSpliced(at, 1).map((event, n) => ({ ...event, event_seq: n + 1 }));
    expect(first({ events: none }).kind).toBe('event_order');
  });

  test('time that goes back', () => {
    const at = indexOf((event) => isSignal(event) && event.event_seq > 30);
    expect(first(withEvent(at, (event) => ({ ...event, at: event.at - 3_600_000 })))).toMatchObject(
      {
        kind: 'event_order',
        event_seq: at + 1,
      },
    );
  });

  test('a version of the table that is not known, and one that is known and decides otherwise', () => {
    const at = 40;
    expect(first(withEvent(at, (event) => ({ ...event, decide: 4 })))).toMatchObject({
      kind: 'decide_version',
      event_seq: 41,
      found: 4,
      message: expect.stringMatching(/version 4 of the table, and this Writ knows 1, 2, 3/),
    });
    const second = { ...withEvent(at, (event) => ({ ...event, decide: 4 })) };
    const decides = new Map([
      [3, decide],
      [4, decide],
    ]);
    expect(found(second, { decides })[0]?.kind).toBe('event_changed');
    const received =
      events[
        indexOf(
          ({ event_seq }) => event_seq > 60 && told.has(eventId(story.governor.id, event_seq)),
        )
      ]?.event_seq;
    const silent: typeof decide = (situation, event) => {
      const decision = decide(situation, event);
      return event.event_seq === received ? { ...decision, receipts: [] } : decision;
    };
    const otherwise = found({}, { decides: new Map([[3, silent]]) });
    expect(otherwise[0]?.kind).toBe('receipt_added');
  });

  test('old versions stay runnable: a log of two versions is decided by both', () => {
    const mixed = withEvent(40, (event) => ({ ...event, decide: 9 }));
    const used: number[] = [];
    const noted = (version: number): typeof decide => {
      return (situation, event) => {
        used.push(version);
        return decide(situation, event);
      };
    };
    const decides = new Map([3, 9].map((version) => [version, noted(version)]));
    found(mixed, { decides });
    expect(used.slice(39, 41)).toEqual([3, 9]);
  });

  test.each([1, 2])('what version %s has written decides the same again', (version) => {
    const {
      events: lines,
      receipts: entries,
      ...who
    } = JSON.parse(readFileSync(new URL(`./version-${version}.json`, import.meta.url), 'utf8')) as {
      events: string[];
      receipts: string[];
    } & GovernorIdentity;
    expect(redecide(who, lines, entries)).toMatchObject({
      ok: true,
      events: lines.length,
      receipts: entries.length,
      differences: [],
    });
  });

  test('a receipt that was edited, taken out, or put in', () => {
    const at = receipts.findIndex(({ reason }) => reason === 'action_attempted');
    const receipt = receipts[at] as ReceiptContainer;
    const edited = receipts.with(at, {
      ...receipt,
      context: { ...receipt.context, target: 'elsewhere' },
    });
    expect(first({ receipts: edited })).toMatchObject({
      ...{ kind: 'receipt_changed', stream_seq: at + 1, expected: 'catalog', found: 'elsewhere' },
      message: expect.stringContaining('/context/target is "elsewhere", and should be "catalog"'),
    });
    expect(first({ receipts: receipts.toSpliced(at, 1) })).toMatchObject({
      kind: 'receipt_missing',
      message: expect.stringContaining(`Receipt ${at + 1} (action_attempted`),
    });
    const forged = { ...receipt, receipt_id: actionId(5) };
    expect(first({ receipts: receipts.toSpliced(at, 0, forged) })).toMatchObject({
      kind: 'receipt_added',
      stream_seq: at + 1,
    });
  });

  test('receipts of another governor', () => {
    expect(first({ id: '018f0000-0000-7000-8000-000000000002' })).toMatchObject({
      kind: 'governor',
    });
  });

  test('a line that is no event, and an event that cannot be decided', () => {
    expect(
      redecide(whoOf(story), story.events.with(9, '{"event_seq":10'), story.receipts).differences,
    ).toMatchObject([{ kind: 'event_unreadable', event_seq: 10 }]);
    expect(found({ events: events.with(9, null as unknown as GovernorEvent) })).toMatchObject([
      { kind: 'event_unreadable' },
    ]);
    const at = indexOf(({ answers }) => answers?.act !== undefined);
    const { answers: _, ...unanswered } = events[at] as GovernorEvent;
    expect(first({ events: events.with(at, unanswered as GovernorEvent) })).toMatchObject({
      kind: 'undecidable',
      event_seq: at + 1,
    });
  });

  test('all of them are found when one goes on after the first', () => {
    const [one, two] = [30, 90].map((from) =>
      indexOf((event) => isSignal(event) && event.event_seq > from),
    ) as [number, number];
    const edit = receipts.findIndex(({ reason }, n) => n > 150 && reason === 'signal_received');
    const changed = {
      events: events.map((event, n) =>
        n === one || n === two
          ? { ...event, content: { ...event.content, observed_at: 1 } }
          : event,
      ),
      receipts: receipts
        .map((receipt, n) => (n === edit ? { ...receipt, status: 'error' } : receipt))
        .toSpliced(60, 1),
    };
    expect(
      found(changed, { all: true })
        .map(({ kind }) => kind)
        .sort(),
    ).toEqual(['event_changed', 'event_changed', 'receipt_changed', 'receipt_missing']);
    expect(found(changed)).toHaveLength(1);
  });

  test('every event matters: whichever is changed, it is found', () => {
    const last = JSON.parse(story.receipts.at(-1) as string).timestamp;
    for (let at = 0; at < events.length; at += 7) {
      if (new Date((events[at] as GovernorEvent).at).toISOString() >= last) continue;
      const differences = found(
        withEvent(at, (event) => ({ ...event, content: { ...event.content, extra: 1 } })),
      );
      expect([at, differences.length]).toEqual([at, 1]);
      expect(differences[0]?.event_seq).toBeGreaterThanOrEqual(at + 1);
    }
  });
});
