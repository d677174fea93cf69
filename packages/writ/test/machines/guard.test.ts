/**
 * The guards in the database: what no gate would do is rejected even when the owner of the tables,
 * or a superuser, tries it by hand.
 */
import { describe, expect, test } from 'vitest';
import { execution } from '../../src/machines/index.js';
import { type DatabaseError, sharedGates } from '../queue/gates/harness.js';

const gates = sharedGates();
const stored = execution.stored?.states ?? [];
const legal = new Set(execution.transitions.map((t) => `${t.from}>${t.to}`));
// A row that has not come to its end may have something written beside its state.
legal.add('COMMITTED>COMMITTED');
const pairs = stored.flatMap((from) => stored.map((to) => [from, to] as const));

/**
 * An execution in a stored state, written by hand so that only the guard stands between it and the
 * next.
 */
const columns: Record<string, string> = {
  COMMITTED: `status = 'COMMITTED', abort_kind = null, final = false, committed_at = now(), finished_at = null`,
  DONE: `status = 'DONE', abort_kind = null, final = false, committed_at = now(), finished_at = now()`,
  ABORTED: `status = 'ABORTED', abort_kind = 'permanent', final = true, committed_at = null, finished_at = now()`,
};

async function insert(status: string): Promise<string> {
  const [row] = await gates.db.query(
    `insert into writ_data.job_execution (job_id, execution_no, attempt, status, abort_kind, committed_at, finished_at)
     select writ_data.uuidv7(), 1, 1, $1, case when $1 = 'ABORTED' then 'permanent' end,
       case when $1 <> 'ABORTED' then now() end, case when $1 <> 'COMMITTED' then now() end
     returning job_id`,
    [status],
  );
  return String(row?.job_id);
}

describe('a direct UPDATE of an execution', () => {
  test.each(pairs)('%s → %s', async (from, to) => {
    const id = await insert(from);
    const update = () =>
      gates.db.query(`update writ_data.job_execution set ${columns[to]} where job_id = $1`, [id]);
    if (legal.has(`${from}>${to}`)) {
      await update();
      expect(
        await gates.db.query('select status from writ_data.job_execution where job_id = $1', [id]),
      ).toEqual([{ status: to }]);
    } else {
      await gates.raises('WR002', /illegal_transition/, update);
    }
  });

  test('as the owner of the table is guarded too', async () => {
    const id = await insert('DONE');
    // Several statements in one message are one transaction: the error ends it, and the role with
    // it.
    await gates.raises('WR002', /illegal_transition/, () =>
      gates.db.query(
        `set local role writ_owner; update writ_data.job_execution set ${columns.ABORTED} where job_id = '${id}'`,
      ),
    );
  });

  test('to a state that is not stored is rejected', async () => {
    const id = await insert('COMMITTED');
    for (const status of ['LEASED', 'IN_PROGRESS', 'nonsense', null]) {
      const outcome = await gates.unchanged(() =>
        gates.db
          .query('update writ_data.job_execution set status = $2 where job_id = $1', [id, status])
          .catch((e: DatabaseError) => e),
      );
      expect(['WR002', '23502']).toContain((outcome as DatabaseError).code);
    }
  });
});

describe('rows that are written once', () => {
  test.each([
    ['job', `update writ_data.job set priority = 1`],
    ['event_batch', `update writ_data.event_batch set actor = 'x'`],
    ['event_batch', `delete from writ_data.event_batch`],
    ['job_cleaned', `update writ_data.job_cleaned set was = 'cancelled'`],
    ['job_cleaned', `delete from writ_data.job_cleaned`],
  ])('%s: %s is rejected', async (table, sql) => {
    await gates.register();
    const id = await gates.enqueue();
    await gates.db.query(
      `insert into writ_data.job_cleaned (job_id, cleaned_at, was) values ($1, now(), 'succeeded')`,
      [id],
    );
    expect(await gates.db.query(`select from writ_data.${table}`)).not.toHaveLength(0);
    await gates.raises('WR002', /illegal_transition/, () => gates.db.query(sql));
  });
});

describe('impossible states do not fit', () => {
  const insertion = (values: string) => () =>
    gates.db.query(
      `insert into writ_data.job_execution (job_id, execution_no, attempt, status, abort_kind, final, committed_at, finished_at) values (writ_data.uuidv7(), 1, 1, ${values})`,
    );
  test.each([
    ['execution_status_is_stored', `'LEASED', null, false, null, null`],
    ['abort_kind_matches_status', `'ABORTED', null, false, null, now()`],
    ['abort_kind_matches_status', `'DONE', 'transient', false, now(), now()`],
    ['abort_kind_is_known', `'ABORTED', 'bored', false, null, now()`],
    ['committed_at_matches_status', `'ABORTED', 'transient', false, now(), now()`],
    ['committed_at_matches_status', `'COMMITTED', null, false, null, null`],
    ['finished_at_matches_status', `'COMMITTED', null, false, now(), now()`],
    ['finished_at_matches_status', `'DONE', null, false, now(), null`],
    ['final_means_aborted', `'DONE', null, true, now(), now()`],
  ])('%s: (%s)', async (constraint, values) => {
    await gates.raises('23514', new RegExp(constraint), insertion(values));
  });

  test('a second committed execution of a job', async () => {
    const id = await insert('DONE');
    await gates.raises('23505', /a_job_has_one_effect_or_one_end/, () =>
      gates.db.query(
        `insert into writ_data.job_execution (job_id, execution_no, attempt, status, committed_at) values ($1, 2, 2, 'COMMITTED', now())`,
        [id],
      ),
    );
  });
});
