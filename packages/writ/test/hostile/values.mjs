// @ts-check
// Hostile values, by type and by the name of a member, and mutations of plausible arguments.

/** @typedef {ReturnType<import('../faults/plan.mjs').generator>} Random */
/** What an attacker knows: ids, names and tokens by what they are. */
/** @typedef {{ anyId(): string, own(what: string): any, foreign(what: string): any }} Knowledge */

/** Names of locks that Writ has used as keys of advisory locks, or might. */
export const lockNames = [
  ...[
    'writ.migrate',
    'writ.job_tick',
    'writ.ledger',
    'writ.ledger_tick',
    'writ.seal',
    'writ.projector',
  ],
  ...[
    'writ.consumers',
    'writ.dispatch',
    'writ.governance',
    'writ.governor',
    'writ.outbox',
    'writ.upkeep',
  ],
  ...[
    'writ.template',
    'writ.schedule',
    'writ.partitions',
    'writ.probes',
    'writ.reaper',
    'writ.limit',
  ],
];
export const channels = [
  ...[
    'queue_ready',
    'queue_cancel',
    'queue_wake',
    'governor_due',
    'flags_changed',
    'outbox',
    'run_changed',
  ],
  ...['writ_queue', 'writ_runs', 'runs', 'governor', 'relay_wake', 'queue'],
];
export const reserved = [
  ...[
    'governance.change',
    'governance.soak',
    'governance.ended',
    'governance.audit',
    'governor.action',
  ],
  ...[
    'governor.webhook',
    'governor.contract',
    'writ.timer',
    'writ.anything',
    '_system',
    'system',
    'SYSTEM',
  ],
];

const long = 'A'.repeat(100_000);
const texts = [
  ...[
    '',
    ' ',
    'default',
    '*',
    '_system',
    'null',
    'NaN',
    '-1',
    '1e999',
    "x'; drop schema writ; --",
    '../../etc',
  ],
  ...[
    '\u202egnp.exe',
    '\u0001\u001b[31m',
    '\ud83d\ude00'.repeat(50),
    'é'.normalize('NFD'),
    'a:b:c',
    '%s%n',
  ],
  ...['APPROVE', 'PASS', 'COMPLETED', 'alpha', 'beta', 'calm', long],
  ...reserved,
];
const integers = ['0', '1', '-1', '2', '100000', '2147483647', '-2147483648', '2147483648'];
const bigints = [...integers, '9223372036854775807', '-9223372036854775808', '9007199254740993'];
const doubles = [
  '0',
  '-0',
  '1',
  '-1',
  'NaN',
  'Infinity',
  '-Infinity',
  '1e308',
  '-1e308',
  '5e-324',
  '9e18',
];
const times = [
  ...['-infinity', 'infinity', '4713-01-01 BC', '294276-12-31', '1970-01-01', '2100-01-01', 'now'],
  ...['2262-04-12', '0001-01-01'],
];
const xids = ['0', '1', '3', '18446744073709551615', '9223372036854775807', '4294967296'];
const deep = `${'['.repeat(3000)}${']'.repeat(3000)}`;
const jsons = [
  ...[
    'null',
    '[]',
    '{}',
    '0',
    '"x"',
    'true',
    '[null]',
    '[[]]',
    '[{}]',
    '{"": ""}',
    '1e1000',
    '-1',
    '[1e400]',
  ],
  ...['{"refused": false}', '{"a": {"b": {"c": []}}}', deep, `"${'j'.repeat(200_000)}"`],
];

/**
 * A hostile value of a PostgreSQL type, as text. @param {Random} random @param {string} type @param
 * {Knowledge} known @returns {any}
 */
export function ofType(random, type, known) {
  if (random.next() < 0.06) return null;
  if (type.endsWith('[]')) {
    const of = type.slice(0, -2);
    const n = random.pick([0, 1, 1, 2, 3, 5, 40, 1000]);
    return Array.from({ length: n }, () => ofType(random, of, known));
  }
  switch (type) {
    case 'uuid':
      return random.pick([
        () => known.anyId(),
        () => known.anyId(),
        () => '00000000-0000-0000-0000-000000000000',
        () => 'ffffffff-ffff-ffff-ffff-ffffffffffff',
        () => randomUuid(random),
        () => uuid7(random),
      ])();
    case 'integer':
    case 'smallint':
      return random.pick(integers);
    case 'bigint':
    case 'numeric':
      return random.pick(bigints);
    case 'double precision':
    case 'real':
      return random.pick(doubles);
    case 'boolean':
      return random.pick(['true', 'false']);
    case 'timestamp with time zone':
    case 'timestamp without time zone':
      return random.pick(times);
    case 'date':
      return random.pick(['-infinity', 'infinity', '2026-01-01', '2100-01-01', '4713-01-01 BC']);
    case 'interval':
      return random.pick(['-1 year', '178000000 years', '0', '1 microsecond']);
    case 'xid8':
      return random.pick(xids);
    case 'bytea':
      return random.pick(['\\x', '\\x00', `\\x${'ff'.repeat(1000)}`]);
    case 'json':
    case 'jsonb':
      return random.pick(jsons);
    default:
      return random.next() < 0.3 ? String(known.anyId()) : random.pick(texts);
  }
}

/** @param {Random} random */
export function randomUuid(random) {
  const hex = Array.from({ length: 32 }, () => random.between(0, 15).toString(16));
  hex[12] = '4';
  hex[16] = random.pick(['8', '9', 'a', 'b']);
  const text = hex.join('');
  return [
    text.slice(0, 8),
    text.slice(8, 12),
    text.slice(12, 16),
    text.slice(16, 20),
    text.slice(20),
  ].join('-');
}

/**
 * An id as Writ makes them, of now or of another time. @param {Random} random @param {number} [at]
 */
export function uuid7(random, at = Date.now()) {
  const time = Math.floor(at).toString(16).padStart(12, '0').slice(-12);
  const rest = randomUuid(random);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${rest.slice(15, 18)}-${rest.slice(19)}`;
}

/** Members that have switched something off, or name what a caller must not choose. */
const planted = /** @type {[string, unknown][]} */ ([
  ['undo_of', 1],
  ['undo', true],
  ['tenant', 'alpha'],
  ['tenant_id', 'beta'],
  ['log', '_system'],
  ['log_id', 'alpha'],
  ['stream', 'ledger'],
  ['stream_seq', 1],
  ['approved', true],
  ['status', 'COMPLETED'],
  ['verdict', 'PASS'],
  ['by', 'alpha-ada'],
  ['actor', 'alpha-ada'],
  ['principal', 'alpha-ada'],
  ['system', true],
  ['at', '2999-01-01T00:00:00Z'],
  ['due', 9e18],
  ['kind', 'governance.change'],
  ['job_kind', 'governance.ended'],
  ['timeout_ms', 9e18],
  ['governed_by', '00000000-0000-0000-0000-000000000000'],
  ['signed_with', 'DATABASE_URL'],
  ['$ref', 'steps.x.output'],
]);

/** @param {Random} random @param {Knowledge} known @returns {unknown} */
function leaf(random, known) {
  return random.pick([
    () => null,
    () => '',
    () => known.anyId(),
    () => known.anyId(),
    () => random.pick(texts),
    () => random.pick([0, -1, 1e18, 9.2e18, -9.3e18, 1e300, 0.1, 2 ** 31, 2 ** 53 + 2, 1e-9]),
    () => true,
    () => [],
    () => ({}),
    () => [[]],
    () =>
      random.pick(['-infinity', 'infinity', '2999-01-01T00:00:00Z', '-292277022-01-01T00:00:00Z']),
    () => Array.from({ length: 2000 }, (_, n) => n),
  ])();
}

/**
 * A text of JSON, mutated. One that is nested too deeply to walk becomes another nested text.
 * @param {any} random @param {string} text @param {any} known
 */
function mutateText(random, text, known) {
  try {
    return JSON.stringify(mutateJson(random, JSON.parse(text), known));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return `${'['.repeat(1_000)}${']'.repeat(1_000)}`;
  }
}

/**
 * Changes one place of a JSON value. @param {Random} random @param {any} value @param {Knowledge}
 * known @returns {any}
 */
export function mutateJson(random, value, known) {
  const copy = structuredClone(value);
  /** @type {{ holder: any, key: string | number }[]} */
  const places = [];
  const walk = (/** @type {any} */ holder) => {
    if (typeof holder !== 'object' || holder === null) return;
    for (const key of Object.keys(holder)) {
      places.push({ holder, key });
      walk(holder[key]);
    }
  };
  const root = { root: copy };
  walk(root);
  const { holder, key } = random.pick(places);
  const there = holder[key];
  const way = random.between(0, 7);
  if (way === 0) delete holder[key];
  else if (way === 1 && typeof there === 'object' && there !== null && !Array.isArray(there)) {
    const [name, planting] = random.pick(planted);
    there[name] = planting;
  } else if (way === 2 && Array.isArray(there) && there.length > 0) {
    holder[key] = Array.from({ length: random.pick([2, 50, 1500]) }, () => there[0]);
  } else if (way === 3 && typeof there === 'object' && there !== null && !Array.isArray(there)) {
    const [name, planting] = random.pick(planted);
    holder[key] = { [name]: planting, ...there };
  } else if (way === 4 && typeof there === 'number') {
    holder[key] = random.pick([-there, there + 1, there * 1e15, 0, 9e18]);
  } else if (typeof there === 'string' && /^[[{]/.test(there) && random.next() < 0.9)
    // Text that is JSON itself: an event or a receipt in a turn.
    holder[key] = mutateText(random, there, known);
  else holder[key] = leaf(random, known);
  return root.root === undefined ? null : root.root;
}
