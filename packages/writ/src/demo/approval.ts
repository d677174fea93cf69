/** Acts 1 to 4: a change is proposed, tried without asking, approved, edited, and approved anew. */

import { stepWords, valueText } from '../cli/governance/words.js';
import { readRows } from '../database/gate.js';
import { withClient } from '../database/pools.js';
import type { Contract, Preview } from '../governance/contracts.js';
import { signedBy } from '../governance/keys.js';
import { configure, enable, soak } from '../governance/steps.js';
import { type Figures, stateHash } from './figures.js';
import { forge } from './forgeries.js';
import { asOthersSee, outcomeOf, refusedWith, type Scene, short, untilHealthy } from './scene.js';

/** The step that is edited after its approval, and over which a worker is killed. */
export const watched = { step: 2, slot: 'limits#perMinute' };

type Approval = Pick<
  Figures,
  'directWrites' | 'forgeries' | 'overreach' | 'edited' | 'untouched'
> & { readonly contract: Contract };

export async function tellOfApproval(scene: Scene): Promise<Approval> {
  const { db } = scene;
  const before = await stateHash(db);
  const { contract, preview } = await propose(scene);
  const directWrites = await writeDirectly(scene, before);
  const forgeries = await forge(scene, contract);
  const overreach = await approve(scene, contract, preview);
  const { edited, draft } = await edit(scene, contract);
  return {
    contract: draft,
    directWrites,
    forgeries,
    overreach,
    edited,
    untouched: (await stateHash(db)) === before,
  };
}

async function propose({
  stage,
  writ,
  cast,
  db,
}: Scene): Promise<{ contract: Contract; preview: Preview }> {
  stage.act(1, 'An agent proposes a change');
  stage.say(
    'A shop has a checkout and limits. An agent wants to change both, and can only propose.',
  );
  await untilHealthy(writ);
  const contract = await cast.agent.contracts.propose({
    title: 'Open the new checkout',
    scope: ['checkout', 'limits'],
    steps: [
      enable('checkout', 'PREVIEW'),
      configure('limits', 'perMinute', 200),
      configure('limits', 'burst', 50),
      soak('1s'),
    ],
  });
  const { status, created_by, on_behalf_of, affected_capabilities: scope } = await contract.get();
  stage.seen(
    `${created_by} proposes, on behalf of ${on_behalf_of}; scope: ${(scope as string[]).join(', ')}; ${status}`,
  );
  const preview = await contract.preview();
  showSteps(stage, preview);
  stage.seen(`nothing has changed so far: the state has the hash ${short(await stateHash(db))}`);
  return { contract, preview };
}

/** What each step would change, and what undoes it. */
export function showSteps(stage: Scene['stage'], { steps }: Preview, only?: string): void {
  const shown = steps.filter(({ slot }) => only === undefined || slot === only);
  stage.columns(
    shown.map((step) =>
      step.slot === undefined
        ? [String(step.step_no), stepWords(step), 'if health fails, all of it is undone']
        : [
            String(step.step_no),
            stepWords(step),
            `${valueText(step.before)} → ${valueText(step.after)}`,
            `undo: ${valueText(step.undo?.restore)}`,
          ],
    ),
  );
}

/** A write, another, and a claim of the job that would do it. */
const directly = [
  `update writ_data.configuration set value = '200' where key = 'perMinute'`,
  `update writ_data.capability set lifecycle = 'LAUNCHED'`,
  `select writ.fn_job_claim('governance.change', 'external_worker', null, 'agent', 30)`,
];

async function writeDirectly(
  { stage, db, cast }: Scene,
  before: string,
): Promise<Figures['directWrites']> {
  stage.act(2, 'It tries without asking');
  stage.say(
    'The agent has a database login of its own, bound to its principal. It may propose, and nothing else.',
  );
  let denied = 0;
  await withClient(cast.agentUrl, async (client) => {
    for (const sql of directly) {
      stage.quote(sql);
      const error = await client.query(sql).then(
        () => undefined,
        (thrown: Error & { code?: string }) => thrown,
      );
      if (error?.code === '42501') denied++;
      stage.harm(error ? `ERROR ${error.code}: ${error.message}` : 'It was allowed.');
    }
  });
  const now = await stateHash(db);
  stage.seen(
    `${denied} of ${directly.length} denied by PostgreSQL itself; the state is ${now === before ? 'still' : 'now'} ${short(now)}`,
  );
  return { tried: directly.length, denied };
}

async function approve(
  scene: Scene,
  contract: Contract,
  { hash }: Preview,
): Promise<Figures['overreach']> {
  const { stage, cast } = scene;
  stage.act(3, 'It may not approve itself');
  stage.say('Agents propose. Somebody else approves: a person who did not ask for it.');
  stage.say(
    'The workers run with WRIT_TRUST=database: they verify signatures with the keys in this database, because nobody else owns it. ' +
      'In production, a trust file beside the worker names the keys (docs/trust.md). Then no owner of the database can add one.',
  );
  const attempts = [
    ['the agent approves it', await outcomeOf(contract.approve({ as: cast.agentKey, hash }))],
    [
      'omar does, on whose behalf it was proposed',
      await outcomeOf(asOthersSee(scene, contract).approve({ as: cast.omar, hash })),
    ],
    ['the agent has it done without approval', await outcomeOf(contract.activate())],
    [
      'the agent has found the key of maria, and approves with it',
      await outcomeOf(contract.approve({ as: cast.maria, hash })),
    ],
  ] as const;
  for (const [what, outcome] of attempts) stage.harm(`${what}: ${refusedWith(outcome)}`);
  await mariaSigns(scene, contract);
  return {
    tried: attempts.length,
    refused: attempts.map(([, outcome]) => outcome).filter((outcome) => outcome !== 'allowed'),
  };
}

/** Looks at the preview, approves exactly that, and checks the signature as an auditor would. */
async function mariaSigns(scene: Scene, proposed: Contract): Promise<void> {
  const { stage, cast, db } = scene;
  const contract = asOthersSee(scene, proposed);
  const { hash } = await contract.preview({ as: cast.maria });
  const { status } = await contract.approve({ as: cast.maria, hash });
  const [review] = await readRows<{
    hash: string;
    signature: string;
    public_key: string;
    trust: string;
  }>(
    db,
    `select v.hash, v.signature, v.public_key, v.trust from writ.contract_review v where v.contract_id = $1 and v.action = 'APPROVE' and v.by = 'maria'`,
    [contract.id],
  );
  const valid =
    review !== undefined &&
    review.hash === hash &&
    signedBy(review.public_key, hash, review.signature);
  stage.seen(
    `maria signs this preview, hash ${short(hash)}; signature ${valid ? 'valid' : 'WRONG'}, trust: ${review?.trust}; ${status}`,
  );
}

/** Somebody who owns the tables edits what was approved, with all that follows from it. */
async function edit(
  scene: Scene,
  contract: Contract,
): Promise<{ edited: string; draft: Contract }> {
  const { stage, db, cast } = scene;
  stage.act(4, 'Somebody edits what was approved');
  stage.say(
    'The owner of the tables changes the contract after its approval: 200 becomes 250, and the checksum beside it is made to fit.',
  );
  const content = String((await contract.get()).content).replace(
    '"new_value":200',
    '"new_value":250',
  );
  await db.query('begin');
  await db.query('set local role writ_owner');
  stage.quote('update writ_data.contract set content = …, steps = …, scope_hash = …');
  await readRows(
    db,
    `update writ_data.contract set content = $2::text, steps = $2::text::jsonb -> 'steps', scope_hash = sha256(convert_to($2::text, 'UTF8')) where contract_id = $1`,
    [contract.id, content],
  );
  await db.query('commit');
  const edited = await outcomeOf(asOthersSee(scene, contract).activate({ as: cast.deployer }));
  const { status } = await contract.get();
  stage.harm(`the deployer activates it: ${refusedWith(edited)}; the contract is ${status}`);
  const [row] = await readRows<{ id: string }>(
    db,
    'select contract_id as id from writ.system_contracts where parent_contract_id = $1',
    [contract.id],
  );
  const draft = cast.agent.contracts.handle(String(row?.id));
  await draft.submit();
  stage.seen('a draft takes its place, and shows what it says now');
  showSteps(stage, await draft.preview(), watched.slot);
  await mariaSigns(scene, draft);
  return { edited, draft: asOthersSee(scene, draft) };
}
