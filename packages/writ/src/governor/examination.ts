/**
 * Everything that an auditor checks of an export, in one walk over its logs: the evidence itself,
 * the changes that governance applied, and the decisions of governors.
 */
import { signedBy, signedByAside } from '../governance/keys.js';
import { type Audited, type AuditOptions, GovernanceAudit } from '../governance/trust/audit.js';
import { nodeSha256 } from '../ledger/sha256.js';
import type { Verdict } from '../ledger/verdict.js';
import type { Reader } from '../ledger/verification/log.js';
import { tolerant, type VerifyOptions, verifyExport } from '../ledger/verify.js';
import { ExportedEvents, type RedecidedExport } from './exported.js';

export interface ExaminationOptions
  extends Omit<VerifyOptions, 'sha256' | 'onReceipt' | 'beforeVerdict'>,
    Pick<AuditOptions, 'trust' | 'outside'> {
  /** The keys are the export's own word. With a trust file that is a finding. */
  readonly ownKeys?: boolean | undefined;
}

const keysMissing =
  'The trust file has no ledger key, and no other was given: anyone could have signed this ' +
  'ledger. Add its public key to ledger_keys.';

export interface Examined {
  readonly ok: boolean;
  readonly verdict: Verdict;
  readonly governors: RedecidedExport;
  /** Undefined where the verdict came before it. */
  readonly governance: Audited | undefined;
}

/** Examines an export, or a database that is read as one. */
export async function examine(
  read: Reader,
  { trust, outside, ownKeys = false, ...options }: ExaminationOptions,
): Promise<Examined> {
  const sha256 = nodeSha256;
  const events = await ExportedEvents.of(tolerant(read));
  const audit = await GovernanceAudit.of(tolerant(read), {
    trust,
    outside,
    signedBy,
    signedByAside,
    sha256,
  });
  let governance: Audited | undefined;
  const verdict = await verifyExport(read, {
    ...options,
    sha256,
    onReceipt: (log, receipt, entry, index) =>
      events.hear(log, receipt, entry) ?? audit.hear(log, receipt, index),
    beforeVerdict: async (findings) => {
      events.addUndecided(findings);
      governance = await audit.close(findings);
      if (trust && ownKeys) findings.add('keys_missing', keysMissing);
    },
  });
  const governors = events.close();
  return { ok: verdict.ok && governors.ok, verdict, governors, governance };
}
