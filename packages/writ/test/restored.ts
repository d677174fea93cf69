/**
 * As if the database had been dumped on a server whose transactions had come further, and restored
 * on this one: what is recorded has numbers that are far ahead, positions too, and every row was
 * written by the restore.
 */
export const transactionsAhead = 1_000_000_000n;

export async function asIfRestored(
  query: (sql: string) => Promise<unknown>,
  { batches = 'true', by = transactionsAhead } = {},
): Promise<void> {
  const later = (xid: string) => `((${xid})::text::numeric + ${by})::text::xid8`;
  const positions = [
    ['destination', 'position'],
    ['consumer_position', 'position'],
    ['run_projector', 'position'],
    ['ledger_clockwork', 'sealed'],
  ];
  // Only positions at or behind a moved batch move.
  await query(`do $$
    declare v_first xid8 := (select min(b.xid) from writ_data.event_batch b where ${batches});
    begin
      set local session_replication_role = replica;
      ${positions
        .map(
          ([table, column]) => `
      update writ_data.${table} set ${column} = row((${column}).era, ${later(`(${column}).xid`)}, (${column}).fact)
      where (${column}).xid >= v_first;`,
        )
        .join('')}
      update writ_data.event_seal set to_xid = ${later('to_xid')} where to_xid >= v_first;
      update writ_data.event_seal set from_xid = ${later('from_xid')} where from_xid >= v_first;
      update writ_data.event_batch b set xid = ${later('xid')} where ${batches};
      update writ_data.record_era set written = written;
    end $$`);
}
