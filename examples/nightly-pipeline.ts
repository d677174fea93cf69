/**
 * A pipeline: find out what there is, work on each of it, eight at a time, and report when all are
 * done. The list is made by the first step, so how wide the run becomes is known only when it runs.
 *
 *   DATABASE_URL=postgres://… node examples/nightly-pipeline.ts
 */
import pg from 'pg';
import { defineJob, definePlan, type Step, Writ, when } from 'writ';

interface Night {
  readonly day: string;
}
interface Found {
  readonly files: readonly string[];
  readonly count: number;
}

const list = defineJob<Night>('list-files');
const parse = defineJob<{ file: string; day: string }>('parse-file', {
  retry: { attempts: 5, base: '100ms' },
});
const report = defineJob<Night>('report');
const celebrate = defineJob<{ files: number }>('celebrate');

export const nightly = definePlan<Night>('nightly', { version: '1.0.0' }, (p) => {
  const found: Step<Found> = p.step('list', list);
  const parsed = p.each('parse', parse, {
    over: found.output.files,
    parallel: 8,
    input: (file) => ({ file, day: p.input.day }),
  });
  p.step('report', report, { after: parsed });
  // Runs beside the report, and only on a good night; if it fails, nobody minds.
  p.step('celebrate', celebrate, {
    after: parsed,
    when: when.above(found.output.count, 10),
    input: { files: found.output.count },
    retry: { attempts: 1 },
    optional: true,
  });
});

export async function nightlyPipeline(
  connectionString: string,
  files: number,
): Promise<{ total: number; steps: Record<string, string> }> {
  const store = new pg.Pool({ connectionString });
  await store.query(
    'create table if not exists parsed (day text, file text, rows int, primary key (day, file))',
  );
  const writ = await Writ.connect({ connectionString });
  await writ.migrate({ enable: true });
  let total = 0;
  let unlucky = true;
  await writ.work([
    list.handle(({ input }) => ({
      files: Array.from({ length: files }, (_, n) => `${input.day}/${n}.csv`),
      count: files,
    })),
    parse.handle(({ input, commit }) => {
      // One of them fails the first time: its own retry, not the run's affair.
      if (unlucky && input.file.endsWith('/3.csv')) {
        unlucky = false;
        throw new Error('the file is not there yet');
      }
      // What is large goes into a table of yours, in the transaction that ends the job; outputs are
      // for what later steps decide by.
      return commit(async (tx) => {
        await tx.query('insert into parsed (day, file, rows) values ($1, $2, $3)', [
          input.day,
          input.file,
          100,
        ]);
      });
    }),
    report.handle(async ({ input }) => {
      const { rows } = await store.query(
        'select sum(rows)::int as total from parsed where day = $1',
        [input.day],
      );
      total = rows[0].total;
    }),
    celebrate.handle(() => {
      throw new Error('no cake');
    }),
  ]);
  // One run per night, however often it is asked for.
  const run = await writ.start(nightly, { day: '2026-11-15' }, { requestId: '2026-11-15' });
  const { steps } = await run.finished();
  await writ.close();
  await store.end();
  return { total, steps: Object.fromEntries(steps.map(({ stepId, status }) => [stepId, status])) };
}

if (process.argv[1] === import.meta.filename)
  console.log(await nightlyPipeline(process.env.DATABASE_URL ?? '', 100));
