/**
 * What the story plays on: a shop with something to change, the people and programs around it, and
 * a witness that Writ knows nothing about.
 */

import type pg from 'pg';
import { exitCodes, Failure } from '../cli/failure.js';
import { urlFor } from '../database/address.js';
import { readRows } from '../database/gate.js';
import { WritRefusal } from '../errors/index.js';
import type { Contract } from '../governance/contracts.js';
import { newPassword } from '../governance/logins.js';
import { keepSecret } from '../secrets/passwords.js';
import { Writ } from '../writ.js';
import type { Crew } from './crew.js';
import type { Shop } from './shop.js';
import type { Stage } from './stage.js';

export interface Scene {
  readonly stage: Stage;
  /** A superuser's session: to count, and to do what only an owner can. */
  readonly db: pg.Client;
  readonly writ: Writ;
  readonly cast: Cast;
  readonly crew: Crew;
  readonly shop: Shop;
  /** Where the export goes. */
  readonly folder: string;
}

export interface Cast {
  /** Proposes on behalf of omar. */
  readonly agent: Writ;
  /** What the agent would sign with. */
  readonly agentKey: string;
  /** The login of the agent's program. */
  readonly agentUrl: string;
  /** Runs the shop. */
  readonly omar: string;
  /** Approves. */
  readonly maria: string;
  /** Has done what was approved. */
  readonly deployer: string;
}

/**
 * Each write of what applications read is a row here, whoever wrote it and whatever they say about
 * it.
 */
const witness = `
  create schema demo;
  create table demo.written (slot text not null, value jsonb);
  create function demo.witness() returns trigger language plpgsql security definer set search_path = pg_catalog as $$
  begin
    if tg_table_name = 'capability' then
      if new.lifecycle <> old.lifecycle then insert into demo.written values (new.capability_name, to_jsonb(new.lifecycle)); end if;
    else
      insert into demo.written values (new.scope || '#' || new.key, new.value);
    end if;
    return null;
  end $$;
  create trigger witness after update on writ_data.capability for each row execute function demo.witness();
  create trigger witness after insert or update on writ_data.configuration for each row execute function demo.witness()`;

export async function engage(
  writ: Writ,
  db: pg.Client,
  { databaseUrl, healthUrl }: { databaseUrl: string; healthUrl: string },
): Promise<Cast> {
  const omar = await writ.principals.add({
    id: 'omar',
    kind: 'person',
    rights: ['propose', 'approve', 'activate', 'operate'],
  });
  const maria = await writ.principals.add({ id: 'maria', kind: 'person' });
  const deployer = await writ.principals.add({ id: 'deployer', kind: 'service' });
  const agentKey = await writ.principals.add({
    id: 'agent',
    kind: 'agent',
    onBehalfOf: 'omar',
  });
  await writ.capabilities.put(
    [
      { capability_name: 'checkout', domain: 'shop' },
      { scope: 'limits', owner_capability: 'checkout', values: { perMinute: 100, burst: 10 } },
      { capability_name: 'recommendations', domain: 'shop' },
      { scope: 'recommendations', owner_capability: 'recommendations', values: { percent: 100 } },
    ],
    { as: omar },
  );
  await writ.probes.put(
    {
      name: 'shop',
      capability: 'checkout',
      type: 'http',
      config: { url: healthUrl },
      every_ms: 5_000,
    },
    { as: omar },
  );
  await readRows(db, witness);
  const agentUrl = await loginOf('agent', writ, databaseUrl);
  // Without a key: the login says who acts.
  const agent = await Writ.connect({ connectionString: agentUrl, actor: 'agent', max: 2 });
  return { agent, agentKey, agentUrl, omar, maria, deployer };
}

/**
 * A login as `writ logins add NAME --principal NAME` makes it: bound to that principal, it can act
 * for nobody else.
 */
async function loginOf(name: string, writ: Writ, address: string): Promise<string> {
  const password = newPassword();
  const plan = await writ.logins.plan({
    login: name,
    principal: name,
    roles: ['writ_principal'],
  });
  await writ.logins.put(plan, { actor: 'demo', password });
  const url = urlFor(address, name, password);
  keepSecret(url);
  return url;
}

/**
 * A contract of the agent's as everybody else gets at it: the agent's own login acts for the agent
 * alone.
 */
export const asOthersSee = ({ writ }: Scene, { id }: Contract): Contract =>
  writ.contracts.handle(id);

/**
 * What came of something that must not work: the code it was refused with, or that it was allowed.
 */
export async function outcomeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'allowed';
  } catch (error) {
    if (!(error instanceof WritRefusal)) throw error;
    return error.code;
  }
}

export const refusedWith = (outcome: string): string =>
  outcome === 'allowed' ? outcome : `refused, ${outcome}`;

/** Enough of a hash to compare it by eye. */
export const short = (hash: string): string => hash.slice(0, 12);

/** Nothing is eligible that would change what is ill. */
export const untilHealthy = ({ health }: Writ): Promise<void> =>
  until('the shop to be found healthy', async () => (await health.get()).system === 'HEALTHY');

/** Polls a condition; a demo that hangs is worse than one that fails. */
export async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const giveUpAt = Date.now() + 25_000; !(await holds()); ) {
    if (Date.now() > giveUpAt) {
      throw new Failure(
        exitCodes.failed,
        'demo_failed',
        `The demo waited for ${what} in vain.`,
        'Run it again; on a busy machine it can take long.',
      );
    }
    await new Promise((resume) => setTimeout(resume, 50));
  }
}
