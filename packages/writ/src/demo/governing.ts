/**
 * Act 7: nobody is asked any more. A signal crosses a threshold, and a governor does what a
 * template allows it, once; then the same under a storm.
 */

import { count, plural } from '../cli/output.js';
import { readRows } from '../database/gate.js';
import { configure, param } from '../governance/steps.js';
import { contract, definePolicy } from '../governor/policy.js';
import type { Figures } from './figures.js';
import { asOthersSee, type Scene, short, until } from './scene.js';

const slot = 'recommendations#percent';
const stormed = 300;

export async function tellOfGovernor(scene: Scene): Promise<Figures['governed']> {
  const { stage, writ, cast } = scene;
  stage.act(7, 'Nobody is asked: a governor decides');
  stage.say(
    'At night errors rise. What may be done then was approved in the daytime: a template, with bounds.',
  );
  const template = await approveTemplate(scene);
  const governor = await writ.governor();
  await writ.governors.entitlements.put({ tier: 'starter' }, { tenant: 'default', as: cast.omar });
  const policy = definePolicy('error-budget', {
    when: { error_rate: { above: 0.02, clearBelow: 0.01, cooldown: '5m' } },
    then: contract(template, {
      type: 'fewer_recommendations',
      parameters: { percent: 10 },
      completeWithin: '20s',
    }),
    requires: 'flags:write',
  });
  await governor.publish(policy, { as: cast.omar });
  await until('the governor to be ready', async () => {
    const { state, policy_version } = await governor.get();
    return state === 'stable' && policy_version === 1;
  });
  stage.seen('omar publishes a policy: error_rate over 0.02 → percent = 10, by that template');
  const since = performance.now();
  const calm = await governor.signal({ type: 'error_rate', value: 0.008, source: 'monitoring' });
  stage.seen(`error_rate 0.008: ${reasonOf(calm)}, nothing follows`);
  const over = await governor.signal({
    type: 'error_rate',
    value: 0.034,
    source: 'monitoring',
    severity: 'CRITICAL',
  });
  stage.harm(`error_rate 0.034: ${reasonOf(over)}, and over the threshold`);
  await until(
    'the governor’s change',
    async () => (await receiptsOf(scene, 'action_succeeded')) === 1,
  );
  const ms = performance.now() - since;
  const way = await wayOf(scene);
  stage.columns([
    ['signal', String(over.arrival_seq), 'error_rate 0.034'],
    ['governor', 'default', 'stable → warning → intervening → warning'],
    ['contract', short(way.contract), 'an instance of the template, within its bounds'],
    ['job', short(way.job), 'the execution of it, audited'],
    ['run, queue', short(way.run), `${plural(way.queued, 'job')} of the queue`],
    ['effect', '10', slot],
    ['receipts', count(way.receipts), 'of the governor alone'],
  ]);
  stage.seen('from the signal to the effect, its audit and its receipts', ms);
  stage.say(`Now ${stormed} signals at once, all over the threshold.`);
  const sent = await Promise.all(
    Array.from({ length: stormed }, (_, n) =>
      governor.signal({ type: 'error_rate', value: 0.05, source: 'monitoring', id: `storm-${n}` }),
    ),
  );
  await until('the storm to be taken in', async () => (await governor.get()).in_mailbox === 0);
  const figures = await countGoverned(scene);
  stage.seen(
    `${sent.length - figures.waiting} are decided, ${figures.waiting} wait in the buffer: a tenant may send 100 a minute`,
  );
  stage.seen(
    `one receipt says that it storms; ${plural(figures.changes, 'change')} in all, because the action cools down`,
  );
  return { ...figures, ms: Math.round(ms) };

  async function approveTemplate({ cast: { agent, maria } }: Scene) {
    await writ.principals.add({
      id: 'governor',
      kind: 'service',
      permissions: ['flags:write'],
    });
    const proposal = await agent.contracts.propose({
      title: 'Fewer recommendations',
      scope: ['recommendations'],
      steps: [configure('recommendations', 'percent', param('percent'))],
      template: {
        params: { percent: { min: 5, max: 50 } },
        pre: { 'recommendations#percent': { min: 0, max: 100 } },
        activations: 3,
        expiresIn: '1h',
      },
    });
    const proposed = asOthersSee(scene, proposal);
    const { hash } = await proposed.preview({ as: maria });
    await proposed.approve({ as: maria, hash });
    stage.seen('the agent proposes it, maria signs it: percent from 5 to 50, three times at most');
    return proposed;
  }
}

const reasonOf = (answer: { status: string; receipt?: { reason: string } }) =>
  answer.receipt?.reason ?? answer.status;

async function receiptsOf({ db }: Scene, reason: string): Promise<number> {
  const [row] = await readRows<{ n: number }>(
    db,
    `select count(*)::integer as n from writ.receipt where stream = 'governor:default' and receipt ->> 'reason' = $1`,
    [reason],
  );
  return row?.n ?? 0;
}

interface Way {
  readonly contract: string;
  readonly job: string;
  readonly run: string;
  readonly queued: number;
  readonly receipts: number;
}

/** From the signal down to the queue, by what each layer has written. */
async function wayOf({ db }: Scene): Promise<Way> {
  const [row] = await readRows<Way>(
    db,
    `select c.contract_id::text as contract, g.job_id::text as job, g.run_id::text as run,
       (select count(*) from writ.run_events e where e.run_id = g.run_id and e.event_type = 'StepCompleted')::integer as queued,
       (select count(*) from writ.receipt r where r.stream = 'governor:default')::integer as receipts
     from writ.system_contracts c join writ.governance_jobs g on g.contract_id = c.contract_id where c.template_id is not null`,
  );
  return row as Way;
}

/** Signals of which something is known, and what followed from them. */
async function countGoverned({ db }: Scene): Promise<Omit<Figures['governed'], 'ms'>> {
  const [row] = await readRows<Omit<Figures['governed'], 'ms'>>(
    db,
    `select g.signals::integer, (g.signals - g.buffered - g.postponed - g.in_mailbox)::integer as decided, (g.buffered + g.postponed + g.in_mailbox)::integer as waiting,
       (select count(distinct (r.receipt #>> '{context,arrival_seq}')::bigint) from writ.receipt r where r.stream = 'governor:default' and r.receipt #>> '{context,terminal}' = 'true')::integer as settled,
       (select count(*) from writ.receipt r where r.stream = 'governor:default' and r.receipt ->> 'reason' = 'signal_storm_detected')::integer as storms,
       (select count(*) from demo.written w where w.slot = '${slot}')::integer as changes
     from writ.governor g`,
  );
  return row as Omit<Figures['governed'], 'ms'>;
}
