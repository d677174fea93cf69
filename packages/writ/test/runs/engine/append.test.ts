/** Numbers in logs, where one call appends to several of them. */
import { expect, test } from 'vitest';
import { defineJob, definePlan } from '../../../src/index.js';
import { scene } from './scene.js';

const s = scene();
const plan = definePlan('append', { version: '1' }, (p) => p.step('only', defineJob('only')));

test('of events of several runs, one that is left when the others have happened is counted on in its own log', async () => {
  s.unchecked(); // what is appended here no rule allows
  const first = await s.writ.start(plan, undefined);
  const second = await s.writ.start(plan, undefined);
  const append = (runs: string[], types: string[]) =>
    s.db.query(
      `select writ_data.append_events($1::uuid[], $2::text[], array_fill('RUN'::text, array[cardinality($2::text[])]), array_fill('1'::text, array[cardinality($2::text[])]), array_fill(null::integer, array[cardinality($2::text[])]),
         array_fill('{}'::jsonb, array[cardinality($2::text[])]), null, null, 'test', 'test', now())`,
      [runs, types],
    );
  await append([first.runId, first.runId], ['RunApproved', 'RunQueued']);
  await append([first.runId, second.runId], ['RunApproved', 'RunApproved']);
  expect(
    (await s.writ.runs.events(second.runId)).map(({ runSeq, eventType }) => [runSeq, eventType]),
  ).toEqual([
    [1, 'RunStarted'],
    [2, 'RunApproved'],
  ]);
});
