/**
 * The rest of act 2: the agent forges evidence. PostgreSQL refuses it, or a gate does; only a gate
 * leaves a receipt.
 */

import type pg from 'pg';
import { plural } from '../cli/output.js';
import { readRows } from '../database/gate.js';
import { withClient } from '../database/pools.js';
import { refusalIn } from '../errors/index.js';
import type { Contract } from '../governance/contracts.js';
import type { Forgery } from './figures.js';
import type { Scene } from './scene.js';

/**
 * Each first past the gates, or through a gate for workers; then through a gate that the agent may
 * call.
 */
const forgeries = [
  ['a receipt', `insert into writ_data.receipt select 'approved by maria'`],
  ['a health report, as a worker', `select writ.fn_probes_report('[]', 'worker A')`],
  ['a health report', `select writ.fn_probe_report(null, '{"name":"shop","status":"HEALTHY"}')`],
  ['a decision of the governor', `select writ.fn_governors_apply('{}', 'governor')`],
  ['a verdict on a signature', `select writ.fn_signatures_verified('[]', 'worker A')`],
  [
    'a decision about health',
    `select writ.fn_signal_record(null, '{"scope":"checkout","decision":"CLEAN"}')`,
  ],
  ['an approval, as a row', `insert into writ_data.contract_review select $1, 'APPROVE', 'maria'`],
  ['an approval', `select writ.fn_contract_review(null, $1, 'APPROVE')`],
] as const;

export async function forge({ stage, db, cast }: Scene, contract: Contract): Promise<Forgery[]> {
  stage.say('Then it forges: a receipt, a health report, decisions, an approval.');
  const tried: Forgery[] = [];
  await withClient(cast.agentUrl, async (agent) => {
    for (const [what, sql] of forgeries) {
      stage.quote(sql);
      const before = await denialsOf(db);
      const refused = await refusalOf(agent, sql, sql.includes('$1') ? [contract.id] : []);
      const receipts = (await denialsOf(db)) - before;
      tried.push({ what, ...refused, receipts });
      const left = receipts === 0 ? 'no receipt' : plural(receipts, 'receipt');
      const { by, code } = refused;
      stage.harm(by === null ? `${what}: allowed` : `${what}: refused by ${by} (${code}), ${left}`);
    }
  });
  const of = (postgres: boolean) =>
    tried.filter(({ by }) => by !== null && (by === 'PostgreSQL') === postgres);
  const sum = (some: readonly Forgery[]) => some.reduce((n, { receipts }) => n + receipts, 0);
  const [postgres, gates] = [of(true), of(false)];
  stage.seen(
    `${postgres.length} refused by PostgreSQL, which left ${plural(sum(postgres), 'receipt')}; ` +
      `${gates.length} by gates, which left ${plural(sum(gates), 'receipt')} that name the agent`,
  );
  return tried;
}

/**
 * Who refused a statement, and with which code. Only a missing permission is a refusal of
 * PostgreSQL's.
 */
async function refusalOf(
  client: pg.Client,
  sql: string,
  params: string[],
): Promise<Pick<Forgery, 'by' | 'code'>> {
  try {
    const { rows } = await client.query({ text: sql, values: params, rowMode: 'array' });
    const refusal = refusalIn(rows[0]?.[0]);
    return refusal ? { by: gateIn(sql), code: refusal.code } : { by: null, code: 'allowed' };
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === '42501') return { by: 'PostgreSQL', code };
    throw error; // the statement is wrong, so it shows nothing
  }
}

const gateIn = (sql: string): string => /writ\.(fn_\w+)/.exec(sql)?.[1] ?? '';

/** How many receipts say that the agent was denied something. */
async function denialsOf(db: pg.Client): Promise<number> {
  const [row] = await readRows<{ n: number }>(
    db,
    `select count(*)::integer as n from writ.receipt r
     where r.receipt ->> 'reason' = 'access_denied' and r.receipt #>> '{context,principal}' = 'agent'`,
  );
  return row?.n ?? 0;
}
