/**
 * Acts 5 and 6: the change is done by a worker that is killed over it and by another; and a second
 * one makes the shop ill, and is put back.
 */

import { plural } from '../cli/output.js';
import type { GovernanceJob } from '../governance/changes.js';
import type { Contract } from '../governance/contracts.js';
import { configure, enable, soak } from '../governance/steps.js';
import { showSteps, watched } from './approval.js';
import type { CrewMember, Death } from './crew.js';
import { type Figures, stateHash, tracesOf } from './figures.js';
import { asOthersSee, type Scene, short, until, untilHealthy } from './scene.js';

/** What a governance job has come to, drawn while it is awaited. */
async function atRest({ stage }: Scene, job: GovernanceJob, doing: string): Promise<string> {
  let status = '';
  await until('the change to come to rest', async () => {
    const { total_steps, completed_steps, ...row } = await job.get();
    status = String(row.status);
    stage.progress(Number(completed_steps), Number(total_steps), doing);
    return (
      ['COMPLETED', 'ROLLED_BACK', 'ROLLBACK_FAILED', 'CANCELLED'].includes(status) &&
      row.audit_verdict !== 'PENDING'
    );
  });
  return status;
}

export async function tellOfExecution(
  scene: Scene,
  contract: Contract,
  victim: CrewMember,
): Promise<Pick<Figures, 'killed' | 'completed'>> {
  const { stage, crew, cast, db } = scene;
  stage.act(5, 'It is done, and a worker is killed over it');
  stage.say(
    'Steps 1 to 3 are one transaction. Whatever happens to those who do it, each step is done once.',
  );
  const since = performance.now();
  const job = await contract.activate({ as: cast.deployer });
  stage.seen(`the deployer activates it; ${victim.name} (process ${victim.pid}) begins`);
  let death: Death | undefined;
  void victim.gone.then((how) => {
    death = how;
  });
  await until(`${victim.name} to die`, async () => death !== undefined);
  const { signal, point = '' } = death as unknown as Death;
  stage.harm(
    point === 'change_sent'
      ? `${signal}: it had sent steps 1 to 3 to be committed, and had not heard the answer`
      : `${signal}: it had just heard that steps 1 to 3 are committed, and had told nobody`,
  );
  const successor = crew.start('worker B');
  stage.awaiting(`${successor.name} is being started`);
  await successor.ready;
  stage.seen(
    `${successor.name} (process ${successor.pid}) takes over; the dead one's lease ends within 2 s`,
  );
  const status = await atRest(scene, job, 'steps done');
  const traces = await tracesOf(db, job.id, watched.step, watched.slot);
  stage.seen(
    `step ${watched.step} in the end: ${plural(traces.effects, 'write')}, ${plural(traces.receipts, 'receipt')}, ${plural(traces.events, 'event')} that it is done`,
  );
  const audit = (await job.audit()) as { verdict: string; checks_passed: number } | undefined;
  stage.seen(
    `${status}; its audit says ${audit?.verdict}, ${plural(audit?.checks_passed ?? 0, 'check')} passed`,
    performance.now() - since,
  );
  return {
    killed: { signal: String(signal), point, ...traces },
    completed: { status, audit: String(audit?.verdict), checks: audit?.checks_passed ?? 0 },
  };
}

export async function tellOfRollback(scene: Scene): Promise<Figures['restored']> {
  const { stage, writ, cast, shop, db } = scene;
  stage.act(6, 'A second change, and the shop falls ill');
  stage.say('What breaks something is undone, without anybody being asked.');
  await untilHealthy(writ);
  const proposed = await cast.agent.contracts.propose({
    title: 'More of the new checkout',
    scope: ['checkout', 'limits'],
    steps: [enable('checkout'), configure('limits', 'perMinute', 5_000), soak('20s')],
  });
  const contract = asOthersSee(scene, proposed);
  const preview = await contract.preview({ as: cast.maria });
  showSteps(stage, preview);
  await contract.approve({ as: cast.maria, hash: preview.hash });
  const stateBefore = await stateHash(db);
  const job = await contract.activate({ as: cast.deployer });
  stage.seen(`agent proposes, maria signs, deployer activates; state ${short(stateBefore)}`);
  await until('the soak', async () =>
    (await job.steps()).some(
      ({ step_type, status }) => step_type === 'soak' && status === 'RUNNING',
    ),
  );
  const stateBetween = await stateHash(db);
  stage.seen(`the changes are made, health is watched; now the state is ${short(stateBetween)}`);
  shop.fallIll();
  const since = performance.now();
  const asked = await fetch(shop.healthUrl);
  stage.harm(`the health check of the shop answers ${asked.status}`);
  const status = await atRest(scene, job, 'steps done');
  const { rollback_job_id, rollback_reason } = await job.get();
  stage.seen(`${status} by itself`, performance.now() - since);
  if (rollback_reason) stage.quote(rollback_reason);
  const undone = rollback_job_id ? await writ.changes.steps(rollback_job_id) : [];
  const stateAfter = await stateHash(db);
  const same = stateAfter === stateBefore;
  stage.seen(
    `${plural(undone.filter((step) => step.status === 'COMPLETED').length, 'step')} undone; the state is ${short(stateAfter)}, ${same ? 'exactly as' : 'NOT as'} before`,
  );
  return { status, stateBefore, stateBetween, stateAfter };
}
