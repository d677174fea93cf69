/**
 * A flag of LaunchDarkly is served to more and more people, and to as many as before when something
 * goes wrong in between.
 *
 *   DATABASE_URL=postgres://… WRIT_SECRET_LAUNCHDARKLY_TOKEN=api-… node
 *   examples/governance/launchdarkly.ts
 */
import {
  defineStep,
  environmentSecrets,
  PermanentFailure,
  type Proposal,
  type StepType,
  soak,
  Writ,
} from 'writ';
import { z } from 'zod';
import { carryOut, meet } from './people.ts';

export interface Place {
  readonly url: string;
  readonly project: string;
  readonly environment: string;
}

const Rollout = z.object({
  flag: z.string().regex(/^[\w.-]+$/),
  percent: z.number().min(0).max(100),
});
export type Rollout = z.infer<typeof Rollout>;

/**
 * What matters of a flag: whether it is on, and how many of a hundred thousand get which variation.
 * Versions and times change by themselves.
 */
interface Served {
  readonly on: boolean;
  readonly weights: Readonly<Record<string, number>>;
}

interface Flag {
  readonly variations: readonly { readonly _id: string; readonly value: unknown }[];
  readonly environments: Readonly<
    Record<
      string,
      {
        readonly on: boolean;
        readonly fallthrough: {
          readonly variation?: number;
          readonly rollout?: {
            readonly variations: readonly { readonly variation: number; readonly weight: number }[];
          };
        };
      }
    >
  >;
}

type Secret = (name: string) => Promise<string>;

export function launchDarkly({ url, project, environment }: Place): StepType<Rollout> {
  async function call(
    flag: string,
    secret: Secret,
    signal: AbortSignal,
    patch?: object,
  ): Promise<Flag> {
    const response = await fetch(`${url}/api/v2/flags/${project}/${flag}?env=${environment}`, {
      method: patch ? 'PATCH' : 'GET',
      headers: {
        authorization: await secret('launchdarkly-token'),
        ...(patch && {
          'content-type': 'application/json; domain-model=launchdarkly.semanticpatch',
        }),
      },
      ...(patch && { body: JSON.stringify(patch) }),
      signal,
    });
    if (response.ok) return (await response.json()) as Flag;
    const why = `LaunchDarkly answered ${response.status}: ${(await response.text()).slice(0, 200)}`;
    // What is wrong with the request stays wrong; the rest is tried again.
    const again = response.status === 409 || response.status === 429 || response.status >= 500;
    throw again ? new Error(why) : new PermanentFailure(why);
  }

  function served(flag: Flag): Served {
    const { on, fallthrough } = flag.environments[environment] as Flag['environments'][string];
    const shares = fallthrough.rollout?.variations ?? [
      { variation: fallthrough.variation ?? 0, weight: 100_000 },
    ];
    const idOf = (n: number) => (flag.variations[n] as { _id: string })._id;
    return {
      on,
      weights: Object.fromEntries(
        shares
          .filter(({ weight }) => weight > 0)
          .map((share) => [idOf(share.variation), share.weight]),
      ),
    };
  }

  /** Says what shall stand, not what shall be added: so a second time does no harm. */
  const patchTo = ({ on, weights }: Served, comment: string) => {
    const [only, ...others] = Object.keys(weights);
    return {
      environmentKey: environment,
      comment,
      instructions: [
        { kind: on ? 'turnFlagOn' : 'turnFlagOff' },
        {
          kind: 'updateFallthroughVariationOrRollout',
          ...(others.length === 0 ? { variationId: only } : { rolloutWeights: weights }),
        },
      ],
    };
  };

  return defineStep<Rollout>('launchdarkly_rollout', {
    input: Rollout,
    target: ({ flag }) => `flag:${flag}`,
    read: async ({ flag }, { secret, signal }) => served(await call(flag, secret, signal)),
    apply: async ({ flag, percent }, { secret, signal, effectKey }) => {
      const { variations } = await call(flag, secret, signal);
      const idOf = (value: boolean) =>
        variations.find((variation) => variation.value === value)?._id;
      const [yes, no] = [idOf(true), idOf(false)];
      if (!yes || !no) throw new PermanentFailure(`${flag} is not a flag that is true or false`);
      const share = Math.round(percent * 1000);
      const weights = Object.fromEntries(
        [[yes, share] as const, [no, 100_000 - share] as const].filter(([, weight]) => weight > 0),
      );
      await call(flag, secret, signal, patchTo({ on: true, weights }, `writ ${effectKey}`));
    },
    revert: async (found, { flag }, { secret, signal, effectKey }) => {
      await call(flag, secret, signal, patchTo(found as Served, `writ ${effectKey}`));
    },
    retry: { attempts: 5, base: '50ms', cap: '10s' },
  });
}

/** Five percent, a while in which its health is watched, then everybody. */
export const launch = (rollout: StepType<Rollout>, flag: string, watched = '10m'): Proposal => ({
  title: `Launch ${flag}`,
  scope: [`flag:${flag}`],
  steps: [rollout({ flag, percent: 5 }), soak(watched as '10m'), rollout({ flag, percent: 100 })],
});

if (process.argv[1] === import.meta.filename) {
  const writ = await Writ.connect({
    connectionString: process.env.DATABASE_URL ?? '',
    secrets: environmentSecrets(),
  });
  await writ.migrate({ enable: true });
  const rollout = launchDarkly({
    url: 'https://app.launchdarkly.com',
    project: 'default',
    environment: 'production',
  });
  await writ.work([], { governance: [rollout] });
  console.log((await carryOut(writ, await meet(writ), launch(rollout, 'checkout-v2'))).status);
  await writ.close();
}
