/**
 * Who takes part in the examples of governance, and what each of them does: an agent proposes, a
 * person approves what she has seen, a service has it done.
 */
import type { Change, Proposal, Writ } from 'writ';

export interface People {
  readonly agent: string;
  readonly ada: string;
  readonly deployer: string;
  readonly operator: string;
}

/**
 * Their keys, which are shown once: each belongs to its own process, or person. Here they are in
 * one place, to show what each can do.
 */
export async function meet(writ: Writ): Promise<People> {
  const operator = await writ.principals.add({
    id: 'olga',
    kind: 'person',
    rights: ['propose', 'operate'],
  });
  return {
    operator,
    ada: await writ.principals.add({ id: 'ada', kind: 'person' }),
    deployer: await writ.principals.add({ id: 'deployer', kind: 'service' }),
    agent: await writ.principals.add({ id: 'agent', kind: 'agent', onBehalfOf: 'olga' }),
  };
}

/** From the proposal to its end. */
export async function carryOut(writ: Writ, people: People, proposal: Proposal): Promise<Change> {
  const contract = await writ.contracts.propose(proposal, { as: people.agent });
  const { steps, hash } = await contract.preview({ as: people.ada });
  for (const { slot, before, after } of steps)
    if (slot) console.log(`${slot}: ${JSON.stringify(before)} → ${JSON.stringify(after)}`);
  await contract.approve({ as: people.ada, hash }); // of exactly what was shown: she signs its hash
  const job = await contract.activate({ as: people.deployer });
  return job.finished();
}
