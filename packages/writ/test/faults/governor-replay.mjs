// @ts-check
// Decides every event of a governor again, from what was written down about it, and compares each receipt byte by byte, and where the governor stands in the end.
import { isDeepStrictEqual } from 'node:util';
import { decide } from '../../dist/governor/decide.js';
import { nextOf, step, unborn } from '../../dist/governor/machine.js';
import { contentOf, storedData, storedWaiting } from '../../dist/governor/stored.js';

/** @typedef {import('./governor-checker.mjs').Client} Client */

/** @param {Record<string, any>} row of writ_data.governor_event with its mail @returns {any} */
function eventOf({ event_seq, at, mail_seq, mail_at, arrival_seq, content, added }) {
  const rest =
    typeof added === 'object' && added !== null ? added : { from: 'mailbox', decide: added ?? 1 };
  return {
    event_seq: Number(event_seq),
    at: Number(at),
    ...(mail_seq !== null && { mail_seq: Number(mail_seq) }),
    ...(mail_seq !== null && rest.from === 'mailbox' && { arrived_at: Number(mail_at) }),
    ...rest,
    content:
      rest.content ??
      contentOf([
        Number(mail_seq),
        Number(mail_at),
        arrival_seq === null ? null : Number(arrival_seq),
        content,
      ]),
  };
}

/** What is as it is in JSON. @param {unknown} value */
const plain = (value) => JSON.parse(JSON.stringify(value));

/**
 * What does not agree, for people; nothing if everything does. @param {Client} client @param
 * {string} governorId @returns {Promise<string[]>}
 */
export async function replayed(client, governorId) {
  const [stands] = (
    await client.query(
      `select tenant_id, sku_id, state, data, waiting, events::text, receipts::text, encode(inputs_hash, 'hex') as hash from writ_data.governor where governor_id = $1`,
      [governorId],
    )
  ).rows;
  if (!stands) return [`${governorId} is not there`];
  const { rows: events } = await client.query(
    `select e.event_seq, (extract(epoch from e.at) * 1000)::bigint as at, e.mail_seq, e.state, e.added::jsonb as added, (extract(epoch from m.at) * 1000)::bigint as mail_at, m.arrival_seq, m.content
     from writ_data.governor_event e left join writ_data.governor_mail m on m.governor_id = e.governor_id and m.mail_seq = e.mail_seq where e.governor_id = $1 order by e.event_seq`,
    [governorId],
  );
  const { rows: receipts } = await client.query(
    `select entry from writ_data.receipt where log_id = $1 and stream = $2 order by stream_seq`,
    [stands.tenant_id, `governor:${stands.sku_id}`],
  );
  const name = `${stands.tenant_id}/${stands.sku_id}`;
  let governor = unborn(governorId, stands.tenant_id, stands.sku_id);
  let written = 0;
  for (const row of events) {
    const event = eventOf(row);
    const place = `${name}, event ${event.event_seq} (${event.content.kind}, ${event.from})`;
    const waited =
      event.from === 'mailbox' || event.from === 'host'
        ? undefined
        : nextOf(governor, (event.due_at ?? event.at) + 1);
    if (!waited && event.from !== 'mailbox' && event.from !== 'host')
      return [`${place}: nothing waited for its turn`];
    try {
      const stepped = step(governor, event, waited?.waiting ?? governor.waiting, decide);
      const wrong = stepped.entries.findIndex((entry, n) => entry !== receipts[written + n]?.entry);
      if (wrong >= 0)
        return [
          `${place}: receipt ${written + wrong + 1} is ${receipts[written + wrong]?.entry.slice(0, 400)} and should be ${stepped.entries[wrong]?.slice(0, 400)}`,
        ];
      written += stepped.entries.length;
      governor = stepped.governor;
    } catch (error) {
      return [`${place}: cannot be decided again: ${error}`];
    }
    if (governor.state !== row.state)
      return [`${place}: leads to ${governor.state}, and ${row.state} was written down`];
  }
  const stood = {
    state: stands.state,
    events: stands.events,
    receipts: stands.receipts,
    hash: stands.hash,
    data: stands.data,
    waiting: stands.waiting,
  };
  const reached = {
    state: governor.state,
    events: String(governor.events),
    receipts: String(governor.receipts),
    hash: governor.hash,
    data: governor.data ? plain(storedData(governor.data)) : {},
    waiting: plain(storedWaiting(governor.waiting)),
  };
  const differs = Object.entries(reached).filter(
    ([part, value]) =>
      !isDeepStrictEqual(value, /** @type {Record<string, unknown>} */ (stood)[part]) &&
      !isUnused(part, value, stands),
  );
  const left = receipts.length - written;
  return [
    ...(left === 0 ? [] : [`${name}: ${left} receipts follow from no event`]),
    ...differs.map(([part, value]) =>
      `${name}: ${part} is ${JSON.stringify(/** @type {Record<string, unknown>} */ (stood)[part])} and should be ${JSON.stringify(value)}`.slice(
        0,
        800,
      ),
    ),
  ];
}

/**
 * Nothing waits and nothing was ever stored. @param {string} part @param {any} value @param
 * {Record<string, any>} stands
 */
const isUnused = (part, value, stands) =>
  part === 'waiting' &&
  isDeepStrictEqual(stands.waiting, {}) &&
  isDeepStrictEqual(value, { queue: [], postponed: [], timers: [] });
