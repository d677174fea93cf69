// @ts-check
// Turns the ledger's clockwork, as fast as it can and beside others who do the same: by itself, inside a transaction that stays open for a while, and inside one that is
// rolled back, as a crash would.

/** @param {import('./process.mjs').Tools} tools */
export async function role({ random, passage, pause, eachTurn }) {
  const tick = `select writ.fn_ledger_tick('faults')`;
  await eachTurn(async (client) => {
    if (random.next() < 0.6) {
      const ticking = client.query(tick);
      ticking.catch(() => undefined); // it is awaited below
      await passage('tick_sent', client);
      await ticking;
      await passage('ticked', client);
    } else {
      await client.query('begin');
      await client.query(tick);
      await passage('tick_open', client);
      await pause(random.pick([0, 5, 30]));
      const ending = client.query(random.next() < 0.2 ? 'rollback' : 'commit');
      ending.catch(() => undefined);
      await passage('tick_commit_sent', client);
      await ending;
    }
    await pause(random.pick([0, 5, 20, 50]));
  });
}
