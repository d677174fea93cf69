/**
 * Send an e-mail through a service outside the database.
 *
 * No transaction reaches that far: when the answer of the service is lost, nobody here can know
 * whether the mail went out. So the job is tried again, and the service is given `effectKey`, which
 * is the same in every attempt. A service that knows Idempotency-Key sends one mail.
 *
 *   DATABASE_URL=postgres://… MAIL_URL=https://… node examples/welcome-email.ts
 */
import { defineJob, PermanentFailure, Writ } from 'writ';
import { z } from 'zod';

const welcome = defineJob('welcome-email', {
  input: z.object({ to: z.email(), name: z.string().trim().default('friend') }),
  retry: { attempts: 5, base: '200ms', cap: '1m' },
  timeout: '30s',
});

const welcomeHandler = (mailUrl: string) =>
  welcome.handle(async ({ input, effectKey, signal }) => {
    const answer = await fetch(mailUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': effectKey },
      body: JSON.stringify({ to: input.to, text: `Welcome, ${input.name}!` }),
      signal, // aborts the request when the job is cancelled, times out, or the worker stops
    });
    if (answer.status === 422)
      throw new PermanentFailure(`the address ${input.to} is not accepted`);
    if (!answer.ok) throw new Error(`the mail service answered ${answer.status}`);
    return { messageId: answer.headers.get('x-message-id') };
  });

/** Welcomes one person, and resolves when the mail has been accepted. */
export async function welcomeByEmail(
  connectionString: string,
  mailUrl: string,
  to: string,
): Promise<void> {
  const writ = await Writ.connect({ connectionString });
  await writ.migrate({ enable: true });
  await writ.enqueue(welcome, { to }, { key: to });

  const worker = await writ.work([welcomeHandler(mailUrl)], {
    onError: (error) => console.warn(`will be tried again: ${error}`),
  });
  const busy = async () => {
    const { backlog, waiting, in_progress } = await writ.jobs.health();
    return [backlog, waiting, in_progress].some((jobs) => jobs !== 0);
  };
  while (await busy()) await new Promise((resume) => setTimeout(resume, 50));
  await worker.stop();
  await writ.close();
}

if (process.argv[1] === import.meta.filename) {
  await welcomeByEmail(
    process.env.DATABASE_URL ?? '',
    process.env.MAIL_URL ?? '',
    'ada@example.com',
  );
}
