/**
 * A listener as the command runs it, with an intake that does what the type of a signal says. What
 * it is told of, it prints as lines that begin with TOLD.
 */
import { Credentials } from '../../../dist/cli/governor/credentials.js';
import { listenUntilStopped } from '../../../dist/cli/governor/listening.js';
import { Output } from '../../../dist/cli/output.js';

const [spool, port, ...flags] = process.argv.slice(2);
let away = flags.includes('away');
const tell = (what, value) => process.stdout.write(`TOLD ${what} ${JSON.stringify(value)}\n`);
const lost = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

const intake = {
  async take(governor, { type, signal_id }) {
    if (type === 'database.back') away = false;
    if (away) throw lost();
    if (type === 'fault') throw new Error(`it broke with ${process.env.LISTEN_SECRET}`);
    tell('take', { ...governor, signal_id });
    if (type === 'accepted' || type === 'buffered') return { status: type, arrival_seq: 1 };
    return { status: 'decided', receipt: { status: 'accept', reason: 'signal_received' } };
  },
  async entitlement() {},
  async missed({ payload }) {
    if (away) throw lost();
    tell('missed', payload);
    return payload.signal_id === 'unknown' ? { code: 'invalid_tenant', detail: 'no' } : undefined;
  },
};

const tokens = new Credentials('--token', ['env:LISTEN_TOKEN']);
const secrets = new Credentials('--secret', ['env:LISTEN_SECRET']);
await listenUntilStopped(
  {
    intake,
    host: '127.0.0.1',
    port: Number(port),
    spool,
    tokensOf: (tenant) => tokens.of(tenant),
    secretsOf: (tenant) => secrets.of(tenant),
  },
  new Output({ json: flags.includes('json') }),
);
