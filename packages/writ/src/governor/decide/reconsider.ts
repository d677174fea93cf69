/**
 * What changes what is allowed: policies, entitlements, quotas, and time. While refusing, each is a
 * reason to look whether what it refused for still stands.
 */
import type { Refusal } from '../decision.js';
import type { Permission } from '../events.js';
import { fitsBudget } from './acts.js';
import { whenBooting } from './health.js';
import { judgeLevels, lookAgain, typeOf } from './levels.js';
import { isActive, move, refuse, usedOf } from './moves.js';
import { policyViolation, type RefusingCause } from './refusals.js';
import { entitlementLost } from './results.js';
import { giveUp } from './rollbacks.js';
import { type ContentOf, change, documentOf, given, own, start, type Turn, write } from './turn.js';

type By = 'policy' | 'entitlement' | 'quota' | 'recheck';

/** any: policy published, or withdrawn. */
export function policy(turn: Turn, content: ContentOf<'policy'>) {
  const isNew = takePolicy(turn, content);
  if (turn.state === 'boot') whenBooting(turn);
  else if (turn.event.decide >= 3 && (turn.state === 'stable' || turn.state === 'warning'))
    lookAgain(turn);
  if (turn.state === 'intervening') withdrawIfGone(turn);
  else if (turn.state === 'refusing') reconsider(turn, 'policy', isNew);
}

/** Whether it is another one than before. */
function takePolicy(turn: Turn, { policy: published, actor }: ContentOf<'policy'>): boolean {
  const { policy: before, policy_version } = turn.data;
  const isNamed = ([key]: [string, unknown]) =>
    own(published?.document.when, typeOf(key)) !== undefined;
  const { over, cooling } = turn.data;
  change(turn, { policy: published });
  if (turn.event.decide >= 3) {
    judgeLevels(turn);
    // A cooldown goes on when the policy that began it comes back.
    const lasts = ([key, until]: [string, number]) => isNamed([key, until]) || until > turn.clock;
    change(turn, { cooling: Object.fromEntries(Object.entries(cooling).filter(lasts)) });
  } else {
    change(turn, {
      over: Object.fromEntries(Object.entries(over).filter(isNamed)),
      cooling: Object.fromEntries(Object.entries(cooling).filter(isNamed)),
    });
  }
  const either = published ?? before;
  // Of a withdrawal while it acts the receipt of what follows says so.
  if (!either || (!published && turn.state === 'intervening')) return false;
  if (published) change(turn, { policy_version: published.version });
  write(turn, 'policy_updated', 'accept', {
    policy_id: either.document.policy_id,
    previous_policy_version: policy_version || null,
    current_policy_version: published?.version ?? null,
    ...given({ policy_hash: published?.hash }),
    actor,
  });
  return published !== null && before?.version !== published.version;
}

/** intervening: policy withdrawn. */
function withdrawIfGone(turn: Turn) {
  const action_type = turn.data.in_flight?.action_type as string;
  if (own(documentOf(turn)?.actions, action_type)) return;
  policyViolation(turn, 'policy_withdrawn', { action_type });
  giveUp(turn, 'policy_withdrawn');
  refuse(turn, 'policy_withdrawn', action_type);
}

/** any: entitlement changed. */
export function entitlement(
  turn: Turn,
  { entitlement: current, quota: read }: ContentOf<'entitlement'>,
) {
  change(turn, { entitlement: current, quota: read });
  if (turn.state === 'boot') whenBooting(turn);
  else if (turn.state === 'intervening' && !isActive(turn)) entitlementLost(turn);
  else if (turn.state === 'refusing') reconsider(turn, 'entitlement');
}

/** any: quota changed. */
export function quota(turn: Turn, { quota: read, limit }: ContentOf<'quota'>) {
  const { entitlement: current } = turn.data;
  change(turn, { quota: read, entitlement: current && { ...current, quota_limit: limit } });
  if (turn.state === 'refusing') reconsider(turn, 'quota');
}

/** refusing: 30 s. */
export function recheck(turn: Turn) {
  reconsider(turn, 'recheck');
  if (turn.state === 'refusing') start(turn, 'named:recheck', turn.data.bounds.recheck_ms);
}

/** refusing: policy, entitlement, quota, 30 s. */
function reconsider(turn: Turn, by: By, isNewPolicy = false) {
  const answers = turn.event.answers?.recheck;
  if (answers) change(turn, { quota: answers.quota });
  const { refusals } = turn.data;
  const added: Refusal[] =
    isActive(turn) || refusals.some(({ cause }) => cause === inactive) ? [] : [{ cause: inactive }];
  const left = [...added, ...refusals.filter((refusal) => stands(turn, refusal, by, isNewPolicy))];
  if (added.length === 0 && left.length === refusals.length) return;
  const [first] = left;
  if (first) {
    change(turn, { refusals: left });
    return policyViolation(
      turn,
      first.cause as RefusingCause,
      given({ action_type: first.action_type }),
    );
  }
  const cleared = [...new Set(refusals.map(({ cause }) => cause as RefusingCause))];
  write(turn, 'violations_cleared', 'accept', { cleared, cleared_by: by });
  move(turn, 'stable');
}

const inactive = 'entitlement_not_active';

/**
 * Whether it would be refused again. What only the policy can mend, another version of it may have
 * mended; what was wrong with one request is over with it.
 */
function stands(
  turn: Turn,
  { cause, action_type }: Refusal,
  by: By,
  isNewPolicy: boolean,
): boolean {
  const { entitlement: current, quota: read } = turn.data;
  const answers = turn.event.answers?.recheck;
  switch (cause) {
    case inactive:
      return !isActive(turn);
    case 'quota_exceeded': {
      const limit = current?.quota_limit ?? null;
      return limit !== null && usedOf(turn, read) >= limit;
    }
    case 'permission_denied':
      return !(isAllowed(answers?.permission) && isAllowed(answers?.inverse));
    case 'would_exceed_budget': {
      const document = documentOf(turn);
      const rule = own(document?.actions, action_type ?? '');
      return !isNewPolicy && !(document && rule && fitsBudget(turn, document, rule));
    }
    case 'target_service_not_found':
      return !isNewPolicy && answers?.known !== true;
    case 'policy_withdrawn':
      return turn.data.policy === null;
    default:
      return !isNewPolicy && by !== 'recheck';
  }
}

const isAllowed = (answer: Permission | undefined): boolean =>
  answer !== undefined && 'allowed' in answer && answer.allowed;
