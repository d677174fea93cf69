/** How a governor, its receipts, its policy and an entitlement look on a terminal. */

import { remedyOfCause } from '../../errors/advice/causes.js';
import { plain } from '../../errors/words.js';
import { argumentsOf } from '../../governor/causes.js';
import { typeOf } from '../../governor/decide/levels.js';
import { type State, states } from '../../governor/decision.js';
import { type PolicyChange, partsOf } from '../../governor/policy-changes.js';
import type { GovernorPolicy } from '../../governor/policy-document.js';
import type { Governor, GovernorDetails, TenantEntitlement } from '../../governor/rows.js';
import { sentenceOf } from '../../governor/sentences.js';
import type { Receipt } from '../../ledger/receipt.js';
import { ago, count, type Output, plural, type Style, span, visible } from '../output.js';
import { clockTime } from '../runs/words.js';

type Paint = Pick<Output, 'style'>;

export const stateStyle: Readonly<Record<State, Style>> = {
  boot: 'cyan',
  stable: 'green',
  warning: 'yellow',
  intervening: 'cyan',
  refusing: 'yellow',
  degraded: 'red',
};

type Policed = Pick<Governor, 'policy_id' | 'policy_version' | 'shadow'>;

export const policyWords = ({ policy_id, policy_version, shadow }: Policed): string =>
  policy_version === null
    ? 'none'
    : plain(`${policy_id} v${policy_version}${shadow ? ' (shadow)' : ''}`);

/**
 * The six states, side by side, the one it is in with a thick frame; in one line where the window
 * is too narrow for frames.
 */
export function statesLines(at: State, output: Paint, columns: number): string[] {
  const boxes = states.map((state) => {
    const [topLeft, topRight, bottomLeft, bottomRight, across, down] =
      state === at ? '┏┓┗┛━┃' : '┌┐└┘─│';
    const edge = (across as string).repeat(state.length + 2);
    const lines = [
      `${topLeft}${edge}${topRight}`,
      `${down} ${state} ${down}`,
      `${bottomLeft}${edge}${bottomRight}`,
    ];
    return lines.map((line) =>
      state === at
        ? output.style(['bold', stateStyle[state] as never], line)
        : output.style('dim', line),
    );
  });
  const drawn = [0, 1, 2].map((line) => boxes.map((box) => box[line]).join('  '));
  if (visible(drawn[0] as string).length <= columns) return drawn;
  return [
    states
      .map((state) =>
        state === at
          ? output.style(['bold', stateStyle[state] as never], `[${state}]`)
          : output.style('dim', state),
      )
      .join(' '),
  ];
}

/** With the causes by their names, which are short; `show` has them in words. */
export function stateWords({ state, causes, refusals }: Governor, output: Paint): string {
  const why = [...(causes ?? []), ...(refusals ?? []).map(({ cause }) => cause)];
  return output.style(
    stateStyle[state],
    plain(why.length === 0 ? state : `${state} (${why.join(', ')})`),
  );
}

export function headingOf(
  row: Pick<Governor, 'state' | 'state_since' | 'tenant_id' | 'sku_id'>,
  now: Date,
  output: Paint,
): string {
  const { state, state_since } = row;
  const since =
    state_since === null
      ? ', not driven yet'
      : ` for ${span(Math.max(0, now.getTime() - Date.parse(state_since)))}`;
  return `${output.style('bold', plain(argumentsOf(row)))}  ${output.style(stateStyle[state], state)}${output.style('dim', since)}`;
}

/** Why it does not act, with what to do about each. */
export function whyLines(governor: GovernorDetails, output: Paint): string[] {
  const { state, why, tenant_id } = governor;
  return why.flatMap(({ cause, says }) => [
    `${state === 'degraded' && cause !== 'undriven' ? output.style('red', '✗') : output.style('yellow', '!')} ${output.style('bold', plain(cause))}: ${says}`,
    `  → ${plain(remedyOfCause(cause, tenant_id, argumentsOf(governor)))}`,
  ]);
}

/** What it waits for, with the time that is left. */
export function timerLines({ awaits }: GovernorDetails, now: Date, output: Paint): string[] {
  return awaits.map(({ says, due_at }) => {
    const left = due_at === null ? 0 : Date.parse(due_at) - now.getTime();
    const when = left > 0 ? `in ${span(left)}` : output.style('yellow', `due for ${span(-left)}`);
    return `${output.style('cyan', '◷')} ${when}  ${says}`;
  });
}

/** What is being done or undone, and what is awaited. */
export function doingLines(row: GovernorDetails, at: Date, output: Paint): string[] {
  const now = at.getTime();
  const { in_flight: doing, awaiting_baseline: awaited, queued_actions: queued } = row;
  const until = row.timers?.find(
    ({ name }) => name === (doing?.kind === 'rollback' ? 'named:rollback' : 'state'),
  )?.due;
  const left =
    typeof until === 'number'
      ? `, ${until > now ? `${span(until - now)} left` : 'its time is over'}`
      : '';
  return [
    ...(doing
      ? [
          `${output.style('cyan', '▶')} ${plain(`${doing.kind === 'rollback' ? 'undoing by ' : ''}${doing.action_type} of ${doing.target}`)}, attempt ${doing.attempt}${
            row.attempts === null ? '' : ` of ${row.attempts}`
          }${doing.acknowledged ? ', taken on' : ''}${left}`,
        ]
      : []),
    ...(awaited
      ? [
          `${output.style('cyan', '…')} ${plain(`${awaited.action_type} of ${awaited.target}`)} is done; what was observed is not well yet`,
        ]
      : []),
    ...(queued > 0
      ? [`${output.style('dim', '·')} ${plural(queued, 'action')} wait for their turn`]
      : []),
  ];
}

/** Types of signals that are over, and those that cool down. */
export function levelLines(row: GovernorDetails, at: Date, output: Paint): string[] {
  const now = at.getTime();
  const over = row.over_threshold ?? {};
  const cooling = Object.fromEntries(
    Object.entries(row.cooling ?? {}).filter(([, until]) => until > now),
  );
  const cools = (type: string) =>
    cooling[type] === undefined ? '' : `, no action for ${span(cooling[type] - now)}`;
  return [
    ...Object.entries(over).map(([key, { value, since }]) => {
      const type = typeOf(key);
      const threshold = row.policy?.document?.when[type];
      const sign = threshold?.direction === 'below' ? '<' : '>';
      return `${output.style('yellow', '▲')} ${plain(key)} ${value}${threshold ? ` ${sign} ${threshold.limit}` : ''} for ${span(Math.max(0, now - since))}${cools(type)}`;
    }),
    ...Object.keys(cooling)
      .filter((type) => !Object.keys(over).some((key) => typeOf(key) === type))
      .map((type) => `${output.style('dim', '▽')} ${plain(type)} is well${cools(type)}`),
  ];
}

function quotaWords(entitlement: TenantEntitlement | null): string {
  if (!entitlement) return 'no entitlement';
  const { quota_limit, quota_used, status } = entitlement;
  const left =
    quota_limit === null
      ? 'without limit'
      : `${count(Math.max(0, quota_limit - quota_used))} of ${count(quota_limit)} left`;
  return `${status === 'ACTIVE' ? '' : `${status}, `}${left}`;
}

function figures(row: GovernorDetails): [string, string][] {
  return [
    ['policy', policyWords(row)],
    ['signals', count(row.signals)],
    ['mailbox', count(row.in_mailbox)],
    ['postponed', count(row.postponed)],
    ['buffered', count(row.buffered)],
    ['actions', quotaWords(row.entitlement)],
  ];
}

export function printGovernor(
  output: Output,
  governor: GovernorDetails & { readonly last_receipts: readonly Receipt[] },
  now: Date,
): void {
  const block = (title: string, lines: readonly string[]) => {
    if (lines.length === 0) return;
    output.line();
    output.heading(title);
    for (const line of lines) output.line(`  ${line}`);
  };
  output.line(headingOf(governor, now, output));
  output.line();
  for (const line of statesLines(governor.state, output, Math.max(output.width, 80)))
    output.line(line);
  output.line();
  output.pairs(figures(governor));
  block('Why', whyLines(governor, output));
  block('Doing', doingLines(governor, now, output));
  block('Signals that are over', levelLines(governor, now, output));
  block('Timers', timerLines(governor, now, output));
  const { document = null, version } = governor.policy ?? {};
  const unheard = version === governor.policy_version ? '' : ', which it has not heard of yet';
  block(`Policy v${version}${unheard}`, document ? policyLines(document, output) : []);
  block(
    'Last receipts',
    governor.last_receipts.map((receipt) => receiptLine(receipt, output)),
  );
}

const marks: Readonly<Record<Receipt['status'], readonly [mark: string, style: Style]>> = {
  accept: ['·', 'dim'],
  refuse: ['!', 'yellow'],
  error: ['✗', 'red'],
};

const reasonWidth = 22;

/** When a receipt was written, its number, its reason, and its sentence. */
export function receiptLine(receipt: Receipt, output: Paint): string {
  const { timestamp, status, reason, context } = receipt;
  const [mark, style] = reason === 'state_transition' ? (['→', 'cyan'] as const) : marks[status];
  const shadow =
    'shadow' in context && context.shadow === true ? output.style('dim', ' (shadow)') : '';
  const number = String(context.stream_seq).padStart(5);
  return `${output.style('dim', `${clockTime(timestamp)} ${number}`)} ${output.style(style, mark)} ${reason.padEnd(reasonWidth)} ${sentenceOf(receipt)}${shadow}`;
}

export function policyLines(document: GovernorPolicy, output: Paint): string[] {
  const parts = [...partsOf(document)];
  const width = Math.max(...parts.map(([name]) => name.length));
  return parts.map(
    ([name, words]) => `${output.style('dim', plain(name).padEnd(width))}  ${plain(words)}`,
  );
}

export function changeLines(changes: readonly PolicyChange[], output: Paint): string[] {
  return changes.flatMap(({ what, before, after }) => {
    if (before === null) return [`${output.style('green', '+')} ${plain(what)}: ${plain(after)}`];
    if (after === null) return [`${output.style('red', '-')} ${plain(what)}: ${plain(before)}`];
    return [
      `${output.style('yellow', '~')} ${plain(what)}`,
      `    was     ${plain(before)}`,
      `    will be ${output.style('bold', plain(after))}`,
    ];
  });
}

export function printEntitlement(output: Output, row: TenantEntitlement, now: Date): void {
  const over = row.expires_at !== null && new Date(row.expires_at) <= now;
  const limit = row.quota_limit === null ? 'any number' : count(row.quota_limit);
  output.pairs([
    ['tenant', plain(row.tenant_id)],
    [
      'status',
      output.style(
        row.status === 'ACTIVE' && !over ? 'green' : 'yellow',
        over ? `${row.status}, and expired` : row.status,
      ),
    ],
    ['tier', row.tier],
    ['quota', `${count(row.quota_used)} of ${limit} used this month`],
    ['expires', row.expires_at === null ? 'never' : new Date(row.expires_at).toISOString()],
    ['known as', plain(row.entitlement_id)],
    ['set', plain(`${ago(new Date(row.put_at), now)} by ${row.put_by}`)],
  ]);
}
