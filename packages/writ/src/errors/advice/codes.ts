/**
 * What to do about an error on the command line, where that is a command or an option. The registry
 * (src/errors/registry.ts) gives the remedies for callers of the library; a code that is not here
 * has the same remedy for both.
 */
import type { ErrorCode } from '../index.js';

export const remedies: Partial<Record<ErrorCode, string>> = {
  not_authenticated:
    'Send the current key of a principal that is not disabled (`writ principals add` makes both), or use a login that is bound to a principal (`writ logins add`).',
  login_not_found: '`writ logins list` shows registered logins; `writ logins add` makes one.',
  login_in_use: '`writ logins remove` revokes those roles and deletes the registration.',
  not_authorized:
    'Ask a principal that has the right, or have an administrator give it with `writ principals put`.',
  principal_exists: 'Choose another name, or change this one with `writ principals put`.',
  principal_not_found: '`writ principals list` shows the principals.',
  invalid_key: 'Use the key that `writ principals add` showed: it begins with writ_key_.',
  unknown_target: 'Make it known first with `writ capabilities put`.',
  change_needs_a_contract: 'Propose the change with `writ contracts propose`.',
  contract_not_found: '`writ contracts list` shows the contracts.',
  trust_missing:
    'Make a trust file with `writ trust init`, and set WRIT_TRUST to its path. For development, or if you accept the keys that the database knows: WRIT_TRUST=database.',
  invalid_trust_file: 'The detail names the field. Correct the file; `writ trust check` checks it.',
  approval_missing:
    '`writ contracts show` says who has approved it, and how many its risk asks for.',
  already_activated: 'The detail is its job: see `writ changes show`.',
  target_not_read:
    'Start a worker with the step types (`writ worker FILE`), and ask it to read again with `writ contracts preview --read`. The detail names each value and why it was not read.',
  health_block: 'See `writ health`, and activate again when it is well.',
  probe_not_found: '`writ probes list` shows the probes; `writ probes put` adds one.',
  incident_not_found: '`writ incidents list` shows the incidents.',
  freeze_not_found: '`writ freeze list` shows the freezes.',
  governor_not_found:
    '`writ governor list` shows the governors; `writ governor policy publish` makes one.',
  entitlement_not_found: '`writ governor entitlement set TENANT --tier starter` gives it one.',
  policy_moved: 'Nothing was published. Run it again, and see what it changes now.',
  cause_not_found: 'The detail names the causes that stand, and so does `writ governor show`.',
  mailbox_full: 'Try again later. `writ governor show` shows what waits.',
  unknown_setting: '`writ settings` lists them.',
  invalid_setting: '`writ settings` shows the types.',
  invalid_argument: 'See `writ --help`.',
  schema_missing: 'Run `writ migrate --enable`.',
  schema_behind: 'Run `writ migrate`; `writ migrate --plan` shows what it would do.',
  upgrade_blocked:
    'End those transactions, or wait until they have ended, and migrate again: `writ doctor` names those that are open for long.',
  schema_prerelease: 'Create a new database and run `writ migrate --enable` in it.',
  database_unreachable:
    'Check DATABASE_URL and that the server runs; `writ dev` starts an embedded one.',
  dev_record_untrusted: 'Remove it and start `writ dev` again, or set DATABASE_URL.',
  key_mismatch:
    'Use that key, or put yours in its place with `writ ledger keygen --replaces`: both sign that.',
  not_yet_signed: 'Sign one with `writ ledger checkpoint`, and ask again.',
  no_checkpoint: 'Make a key with `writ ledger keygen`, then sign with `writ ledger checkpoint`.',
  database_older_than_checkpoint:
    'It was restored, or its end was cut off. Find the newer one; or go on with this one, and put that on record with `writ ledger accept-restore`.',
  ledger_replaced:
    'Somebody has changed it, or this is another database. `writ ledger verify` names the first entry that differs.',
  job_substrate_disabled:
    'Turn it on with `writ migrate --enable` or `writ settings set queue.job_substrate.enabled true`.',
  replay_disabled: 'Turn it on with `writ settings set queue.dlq.replay_enabled true`.',
  job_not_found: 'Check the id; `writ queue list` shows what is there.',
  dead_letter_not_found: '`writ queue list --status dead_letter` shows them.',
  alert_not_found: '`writ alerts list` shows the alerts that stand.',
  run_not_finished: 'Wait longer, or see what it waits for with `writ runs show RUN`.',
  step_of_run: 'Signal the run instead: `writ runs signal RUN CANCEL`, SKIP_STEP or RETRY_STEP.',
  SIGNAL_NOT_APPLICABLE: 'Look at the run first: `writ runs show RUN`.',
  secrets_not_configured:
    'Give --secrets to `writ worker` and to the previews of `writ contracts`.',
  destination_not_found: '`writ webhooks list` shows them.',
  consumer_not_found: '`writ consumers list` shows them.',
  subscription_not_found:
    '`writ subscriptions list` shows them; kind and domain have to be the same.',
  schedule_not_found: 'Check the name; `writ schedules list` shows what is there.',
};

export const remedyOf = ({ code, remedy }: { code: ErrorCode; remedy: string }): string =>
  remedies[code] ?? remedy;
