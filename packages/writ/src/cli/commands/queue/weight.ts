/** `writ queue weight`: the shares of tenants, and setting one. */
import type { Command } from 'commander';
import { WritError } from '../../../errors/index.js';
import { contextOf } from '../../command.js';
import { actor } from '../../connection.js';
import { ago } from '../../output.js';

interface Weight {
  readonly tenant_id: string;
  readonly weight: number;
  readonly set_by: string;
  readonly set_at: Date;
}

export function addWeight(queue: Command): void {
  queue
    .command('weight')
    .description("tenants' shares of the workers, or set one; a tenant that is not listed has 1")
    .argument('[tenant]')
    .argument('[weight]', '0.01 to 100: twice the weight, twice the jobs; 1 takes it off the list')
    .option('--actor <name>', 'who changes it, for the record; otherwise the system user')
    .action(
      async (
        tenant: string | undefined,
        weight: string | undefined,
        options: { actor?: string },
        command: Command,
      ) => {
        const { output, session } = contextOf(command);
        await session(async (db) => {
          if (tenant !== undefined && weight !== undefined) {
            if (!(Number(weight) >= 0.01 && Number(weight) <= 100))
              throw new WritError('invalid_weight', weight);
            const answer = await db.gate('fn_tenant_weight_set($1, $2::text::float8, $3)', [
              tenant,
              weight,
              actor(options.actor),
            ]);
            if (output.json) output.data(answer);
            else output.line(`${tenant} has weight ${weight} from the next claim on.`);
            return;
          }
          const rows = await db.rows<Weight>(
            'select tenant_id, weight, set_by, set_at from writ.tenant_weight where tenant_id = coalesce($1, tenant_id) order by tenant_id',
            [tenant ?? null],
          );
          if (output.json) return output.data(rows);
          if (rows.length === 0) return output.line('Every tenant has weight 1.');
          output.table(
            [{ title: 'TENANT' }, { title: 'WEIGHT', align: 'right' }, { title: 'SET' }],
            rows.map((row) => [
              row.tenant_id,
              String(row.weight),
              `${ago(row.set_at, new Date())} by ${row.set_by}`,
            ]),
          );
        });
      },
    );
}
