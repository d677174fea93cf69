/** How a governor looks: its six states with the one it is in marked, why it is there, what it is doing and waiting for, and its last receipts. */
import { type State, states } from '../../governor/decision.js';
import type { Receipt } from '../../ledger/receipt.js';
import { plain } from '../governance/words.js';
import { count, fit, plural, type Style, span, visible } from '../output.js';
import { whyOf } from './causes.js';
import type { GovernorRow, Look } from './look.js';
import { governorAt, nameOf } from './session.js';
import { receiptLine } from './words.js';

type Paint = (style: Style, text: string) => string;

export const stateStyle: Readonly<Record<State, Style>> = {
  boot: 'cyan',
  stable: 'green',
  warning: 'yellow',
  intervening: 'cyan',
  refusing: 'yellow',
  degraded: 'red',
};

export const policyWords = ({ policy_id, policy_version, shadow }: GovernorRow): string =>
  policy_version === null
    ? 'none'
    : plain(`${policy_id} v${policy_version}${shadow ? ' (shadow)' : ''}`);

/** The six states, side by side, the one it is in with a thick frame; in one line where the window is too narrow for frames. */
export function statesLines(at: State, paint: Paint, columns: number): string[] {
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
      state === at ? paint(['bold', stateStyle[state] as never], line) : paint('dim', line),
    );
  });
  const drawn = [0, 1, 2].map((line) => boxes.map((box) => box[line]).join('  '));
  if (visible(drawn[0] as string).length <= columns) return drawn;
  return [
    states
      .map((state) =>
        state === at
          ? paint(['bold', stateStyle[state] as never], `[${state}]`)
          : paint('dim', state),
      )
      .join(' '),
  ];
}

export function headingOf({ row, now }: Look, paint: Paint): string {
  const since =
    row.state_since === null
      ? ', not driven yet'
      : ` for ${span(Math.max(0, now - Date.parse(row.state_since)))}`;
  return `${paint('bold', plain(nameOf(governorAt(row.tenant_id, row.sku_id))))}  ${paint(stateStyle[row.state], row.state)}${paint('dim', since)}`;
}

/** Why it does not act, with what to do about each. */
/** What waits for longer than this is driven by nobody. */
export const undrivenMs = 5_000;

export function whyLines({ row, now }: Look, paint: Paint): string[] {
  const mark = row.state === 'degraded' ? paint('red', '✗') : paint('yellow', '!');
  const undriven = row.mail_since === null ? 0 : now - Date.parse(row.mail_since);
  const waits =
    undriven > undrivenMs
      ? [
          `${paint('yellow', '!')} ${plural(row.in_mailbox, 'event')} in its mailbox, the oldest for ${span(undriven)}: nobody drives it`,
          '  → Start a worker: `writ worker`.',
        ]
      : [];
  const why = whyOf(row, governorAt(row.tenant_id, row.sku_id)).flatMap(
    ({ cause, says, remedy }) => [
      `${mark} ${paint('bold', plain(cause))}: ${says}`,
      `  → ${plain(remedy)}`,
    ],
  );
  return [...waits, ...why];
}

const timers: Readonly<Record<string, string>> = {
  'named:rollback': 'the undoing has to be done',
  'named:baseline': 'what was observed has to be well again',
  'named:check': 'looks whether everything is there again',
  'named:recheck': 'looks whether it still has to refuse',
  'named:storm': 'releases what is buffered',
};
const stateTimers: Partial<Readonly<Record<State, string>>> = {
  boot: 'has to be ready',
  intervening: 'the action has to be done',
  degraded: 'begins anew',
};

/** What it waits for, with the time that is left. */
export function timerLines({ row, now }: Look, paint: Paint): string[] {
  const all = (row.timers ?? []).map(({ name, due }) => ({
    words: (name === 'state' && stateTimers[row.state]) || timers[name] || name,
    due,
  }));
  return all
    .sort((a, b) => Number(a.due) - Number(b.due))
    .map(({ words, due }) => {
      const left = due === 'now' ? 0 : due - now;
      return `${paint('cyan', '◷')} ${left > 0 ? `in ${span(left)}` : paint('yellow', `due for ${span(-left)}`)}  ${plain(words)}`;
    });
}

/** What is being done or undone, and what is awaited. */
export function doingLines({ row, now }: Look, paint: Paint): string[] {
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
          `${paint('cyan', '▶')} ${plain(`${doing.kind === 'rollback' ? 'undoing by ' : ''}${doing.action_type} of ${doing.target}`)}, attempt ${doing.attempt}${
            row.attempts === null ? '' : ` of ${row.attempts}`
          }${doing.acknowledged ? ', taken on' : ''}${left}`,
        ]
      : []),
    ...(awaited
      ? [
          `${paint('cyan', '…')} ${plain(`${awaited.action_type} of ${awaited.target}`)} is done; what was observed is not well yet`,
        ]
      : []),
    ...(queued > 0 ? [`${paint('dim', '·')} ${plural(queued, 'action')} wait for their turn`] : []),
  ];
}

/** Types of signals that are over, and those that cool down. */
export function levelLines({ row, policy, now }: Look, paint: Paint): string[] {
  const over = row.over_threshold ?? {};
  const cooling = Object.fromEntries(
    Object.entries(row.cooling ?? {}).filter(([, until]) => until > now),
  );
  const cools = (type: string) =>
    cooling[type] === undefined ? '' : `, no action for ${span(cooling[type] - now)}`;
  return [
    ...Object.entries(over).map(([type, { value, since }]) => {
      const threshold = policy?.document?.when[type];
      const sign = threshold?.direction === 'below' ? '<' : '>';
      return `${paint('yellow', '▲')} ${plain(type)} ${value}${threshold ? ` ${sign} ${threshold.limit}` : ''} for ${span(Math.max(0, now - since))}${cools(type)}`;
    }),
    ...Object.keys(cooling)
      .filter((type) => !Object.hasOwn(over, type))
      .map((type) => `${paint('dim', '▽')} ${plain(type)} is well${cools(type)}`),
  ];
}

export function quotaWords({ entitlement }: Pick<Look, 'entitlement'>): string {
  if (!entitlement) return 'no entitlement';
  const { quota_limit, quota_used, status } = entitlement;
  const left =
    quota_limit === null
      ? 'without limit'
      : `${count(Math.max(0, Number(quota_limit) - Number(quota_used)))} of ${count(Number(quota_limit))} left`;
  return `${status === 'ACTIVE' ? '' : `${status}, `}${left}`;
}

export function figures(look: Look): [string, string][] {
  const { row } = look;
  return [
    ['policy', policyWords(row)],
    ['signals', count(row.signals)],
    ['mailbox', count(row.in_mailbox)],
    ['postponed', count(row.postponed)],
    ['buffered', count(row.buffered)],
    ['actions', quotaWords(look)],
  ];
}

/** The whole picture, at most as many lines as there is room for: receipts give way first. */
export function linesOf(
  look: Look,
  paint: Paint,
  { rows, columns }: { readonly rows: number; readonly columns: number },
): string[] {
  const counts = figures(look).map(([name, value]) => `${paint('dim', name)} ${value}`);
  const now = [
    ...doingLines(look, paint),
    ...levelLines(look, paint),
    ...timerLines(look, paint),
    ...whyLines(look, paint),
  ];
  const above = [
    headingOf(look, paint),
    '',
    ...statesLines(look.row.state, paint, columns),
    '',
    counts.join('  '),
    ...(now.length > 0 ? ['', ...now] : []),
    '',
  ];
  const room = Math.max(1, rows - above.length);
  const receipts = look.receipts.slice(-room).map((receipt) => receiptLine(receipt, paint));
  return [...above, ...(receipts.length > 0 ? receipts : [paint('dim', 'No receipts yet.')])]
    .slice(0, rows)
    .map((line) => fit(line, columns));
}

/** Those that are shown at most. */
export const kept = (receipts: readonly Receipt[], n: number): readonly Receipt[] =>
  receipts.length > n ? receipts.slice(-n) : receipts;
