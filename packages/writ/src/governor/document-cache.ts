/**
 * Documents of policies, by their hash, so that what is here stays right. Several governors may
 * share one, each under a version of its own, one of them as a shadow: that is not kept here.
 */
import type { Queryable } from '../database/connection.js';
import { gate } from '../database/gate.js';
import { isGone } from './asking.js';
import { policyHash } from './policy.js';
import type { GovernorPolicy, PolicyVersion } from './policy-document.js';

const atMost = 10_000;

export class DocumentCache {
  readonly #db: Queryable;
  readonly #withinMs: () => number;
  readonly #known = new Map<string, GovernorPolicy>();

  constructor(db: Queryable, withinMs: () => number) {
    this.#db = db;
    this.#withinMs = withinMs;
  }

  known(hash: string): GovernorPolicy | undefined {
    return this.#known.get(hash);
  }

  /**
   * Not under a hash that is another's: whoever may publish for one governor must not decide for
   * others. Answers whether it was.
   */
  add({ hash, document }: PolicyVersion): boolean {
    if (policyHash(document) !== hash) return false;
    if (this.#known.size >= atMost) this.#known.clear();
    this.#known.set(hash, document);
    return true;
  }

  /** Answers those that could not be loaded in time, and why. */
  async load(
    wanted: readonly { readonly id: string; readonly version: number }[],
  ): Promise<Map<string, string>> {
    const failed = new Map<string, string>();
    await Promise.all(
      wanted.map(async ({ id, version }) => {
        try {
          const policy = await gate<PolicyVersion>(
            this.#db,
            'fn_governor_policy($1::text::uuid, $2::text::integer)',
            [id, String(version)],
            this.#withinMs(),
          );
          if (!this.add(policy)) failed.set(id, `version ${version} is not what its hash says`);
        } catch (error) {
          if (isGone(error)) throw error;
          failed.set(id, (error as Error).message.slice(0, 500));
        }
      }),
    );
    return failed;
  }
}
