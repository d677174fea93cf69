/**
 * An agent proposes, a person decides, and only then something happens. The run waits in the
 * database, not in a process: for two days if need be, through every deployment.
 *
 *   DATABASE_URL=postgres://… node examples/agent-approval.ts
 *
 * and, in another terminal, what it prints: npx writ runs deliver RUN approval --payload
 * '{"approved": true, "by": "ada"}'
 */
import { defineJob, definePlan, type Step, Writ, when } from 'writ';
import { z } from 'zod';

interface Ticket {
  readonly id: string;
  readonly text: string;
}
interface Proposal {
  readonly action: string;
  readonly amount: number;
}

const propose = defineJob<Ticket>('propose');
const pay = defineJob<{ proposal: Proposal; by: string }>('pay');
const explain = defineJob<{ ticket: string }>('explain');

const Approval = z.object({ approved: z.boolean(), by: z.string() });

export const support = definePlan<Ticket>('support', { version: '1.0.0' }, (p) => {
  const proposed: Step<Proposal> = p.step('propose', propose, { timeout: '5m' });
  const answer = p.waitFor('approval', Approval, {
    after: proposed,
    timeout: '48h',
    onTimeout: 'skip',
  });
  p.step('pay', pay, {
    when: when.is(answer.output.approved, true),
    input: { proposal: proposed.output, by: answer.output.by },
  });
  // Refused, or nobody answered in two days: then there is no output, and nothing is `true`.
  p.step('explain', explain, {
    after: answer,
    when: { not: when.is(answer.output.approved, true) },
    input: { ticket: p.input.id },
  });
});

export const paid: { action: string; amount: number; by: string }[] = [];

export const handlers = [
  // Whatever thinks: its answer is kept as the output of the step, so that a crash afterwards does
  // not ask it again.
  propose.handle(async ({ input }) => ({
    action: `refund ${input.id}`,
    amount: input.text.length,
  })),
  pay.handle(async ({ input }) => {
    paid.push({ ...input.proposal, by: input.by });
  }),
  explain.handle(async () => undefined),
];

/** Starts a run and resolves when a person is asked. */
export async function ask(writ: Writ, ticket: Ticket): Promise<string> {
  const { runId } = await writ.start(support, ticket, { requestId: ticket.id });
  while ((await writ.runs.snapshot(runId)).substatus !== 'WAITING_APPROVAL')
    await new Promise((resume) => setTimeout(resume, 20));
  return runId;
}

if (process.argv[1] === import.meta.filename) {
  const writ = await Writ.connect({ connectionString: process.env.DATABASE_URL ?? '' });
  await writ.migrate({ enable: true });
  await writ.work(handlers);
  const runId = await ask(writ, { id: 'ticket-1', text: 'It arrived broken.' });
  console.log(
    `npx writ runs deliver ${runId} approval --payload '{"approved": true, "by": "ada"}'`,
  );
  console.log((await writ.runs.finished(runId)).status, paid);
  await writ.close();
}
