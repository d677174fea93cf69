// @ts-check
// Signs and publishes checkpoints, beside another who does the same, to a file and to an address that keeps every one it ever got. The faults fall between what it asks
// of the database: before, while and after the trees are read, while they are recorded, between record and publication, and during it.
import { Writ } from '../../../../dist/index.js';

/** @param {import('./process.mjs').Tools} tools */
export async function role({ options, random, passage, pause, eachTurn }) {
  const { key, places } = options;
  const send = globalThis.fetch;
  /** @type {import('./process.mjs').Client} */
  let current;
  globalThis.fetch = async (address, request) => {
    const sending = send(address, request);
    sending.catch(() => undefined); // it is awaited below
    if (request?.method === 'PUT') await passage('publish_sent', current);
    const answer = await sending;
    if (request?.method === 'PUT') await passage('published', current);
    return answer;
  };
  await eachTurn(async (client) => {
    current = client;
    const asking = {
      /** @param {string} sql @param {unknown[]} [params] */
      async query(sql, params) {
        const answer = client.query(sql, params);
        answer.catch(() => undefined); // it is awaited below
        if (sql.includes('fn_ledger_heads')) await passage('heads_sent', client);
        if (sql.includes('fn_ledger_checkpoint_record')) await passage('record_sent', client);
        const rows = await answer;
        if (sql.includes('fn_ledger_heads')) await passage('heads_answered', client);
        if (sql.includes('fn_ledger_checkpoint_record')) await passage('recorded', client);
        return rows;
      },
    };
    const writ = await Writ.connect({ db: asking, actor: 'publisher' });
    await writ.ledger.checkpoint({ key, places });
    await pause(random.pick([0, 20, 100, 300]));
  });
}
