// @ts-check
/**
 * The layers, lowest first: each may use those before it. The tidy test enforces this order, and
 * `npm run generate` prints it with the folder tables into ARCHITECTURE.md. Adding a folder to src/
 * or sql/ means adding a line here.
 */

/**
 * A name with a dot is a file of src/, the others are its folders. @type {Readonly<Record<string,
 * string>>}
 */
export const layers = {
  errors: 'the registry of codes, and what an error tells people',
  secrets: 'providers of secrets, and the redaction of everything that leaves the process',
  machines: 'the state machines as data; guards and diagrams are generated from them',
  database: 'connections, gates, pages of lists, migration, the embedded server, ids',
  ground: 'settings and alerts',
  spool: 'files for events that the database could not take yet',
  telemetry: 'spans and metrics through the API of OpenTelemetry',
  ledger: 'canonical JSON, trees, checkpoints, proofs, exports, `verification/`',
  queue: 'kinds, enqueueing, jobs, consumers; `worker/` claims, runs and reports jobs',
  schedules: 'cron expressions, due ticks, and firing them',
  artifacts: 'stores for what is too large for a row: a folder, S3',
  runs: '`plans/`, events, the reducer, the rules, the projector, other engines',
  outbox: 'the envelope of a fact, `buses/`, the relay, streams inside a program',
  governance: 'keys, contracts, step types, probes, flags, `trust/` (documents, judgement)',
  authorization: 'the interface that answers who may do what',
  governor: '`decide/` (the table), event order, turns, policies, `actuators/`',
  doctor: 'checks of the server, the installation and every layer, and their findings',
  'connect-options.ts': 'the options of `Writ.connect`',
  'writ.ts': 'the class `Writ`: one connection, and a door to each layer',
  'index.ts': 'everything that the package exports',
  testing: '`writ/testing`: a clock to move, fault points, generators',
  cli: 'the command `writ`: options, one call, a table',
  demo: 'the story that `writ demo` tells and measures',
};

/**
 * Layers of the database. The layer of a table is the base that makes it. @type
 * {Readonly<Record<string, string>>}
 */
export const sqlLayers = {
  ground: 'refusals, settings, the record, ids, alerts, tenants, logins',
  ledger: 'receipts, logs, seals, checkpoints',
  queue: 'jobs, lanes, leases, limits, consumers, subscriptions, the clockwork',
  schedules: 'schedules and their ticks',
  runs: 'plans, runs, their events and snapshots',
  outbox: 'destinations and the facts that they have not accepted',
  governance: 'principals, contracts, governance jobs, health, flags',
  governor: 'governors, mailboxes, policies, entitlements',
  telemetry: 'views over all layers: facts, calls, metrics',
};

/** A list of names, at most 100 characters a line. @param {readonly string[]} names */
function chain(names) {
  const lines = [''];
  for (const name of names) {
    const link = lines[0] === '' ? name : `← ${name}`;
    const last = lines.length - 1;
    if (`${lines[last]} ${link}`.length > 94) lines.push(link);
    else lines[last] = `${lines[last]} ${link}`.trim();
  }
  return lines.join('\n');
}

/** @param {string} folder @param {Readonly<Record<string, string>>} rows */
const table = (folder, rows) =>
  [
    `| ${folder} | contains |`,
    '|---|---|',
    ...Object.entries(rows).map(
      ([name, what]) => `| \`${folder}${name}${name.includes('.') ? '' : '/'}\` | ${what} |`,
    ),
  ].join('\n');

/** The parts of ARCHITECTURE.md that follow from the layers, by the name of their marker. */
export const generatedParts = {
  layers: `\`\`\`\nsrc: ${chain(Object.keys(layers))}\nsql: ${chain(Object.keys(sqlLayers))}\n\`\`\``,
  folders: `${table('src/', layers)}\n\n${table('sql/', sqlLayers)}`,
};

/** Replaces what stands between the markers of a page. @param {string} page */
export const withGeneratedParts = (page) =>
  Object.entries(generatedParts).reduce(
    (text, [name, part]) =>
      text.replace(
        new RegExp(`(<!-- generated: ${name} -->\\n)[\\s\\S]*?(\\n<!-- end -->)`),
        (_, begin, end) => `${begin}${part}${end}`,
      ),
    page,
  );
