/** Settings of the server that the queue's promises rest on, as this user's sessions have them. */
import type { Session } from '../connection.js';
import type { Checks, Finding, Level } from './finding.js';

interface Rule {
  readonly wrong: (value: string) => boolean;
  readonly level: Level;
  readonly means: string;
  readonly remedy: string;
}

const off = (value: string): boolean => value === 'off';
const msOf: Readonly<Record<string, number>> = { ms: 1, s: 1_000, min: 60_000 };
/** Of a time as PostgreSQL shows it: 0 stands for none, and longer units for longer times. */
const isUnder = (value: string, limitMs: number): boolean => {
  const [, n, unit] = /^(\d+)(ms|s|min)$/.exec(value) ?? [];
  return unit !== undefined && Number(n) * (msOf[unit] as number) < limitMs;
};
const inServer = (name: string) => `alter system set ${name} = on; select pg_reload_conf();`;

const rules: Readonly<Record<string, Rule>> = {
  autovacuum: {
    wrong: off,
    level: 'error',
    means: 'Nothing cleans up what was deleted: the queue’s tables grow and slow down without end.',
    remedy: inServer('autovacuum'),
  },
  track_counts: {
    wrong: off,
    level: 'error',
    means: 'Autovacuum does not know which tables need it, and so cleans none.',
    remedy: inServer('track_counts'),
  },
  fsync: {
    wrong: off,
    level: 'warning',
    means: 'A crash of the machine can lose or spoil everything. That is for tests only.',
    remedy: inServer('fsync'),
  },
  full_page_writes: {
    wrong: off,
    level: 'warning',
    means: 'A crash of the machine can spoil pages that were being written.',
    remedy: inServer('full_page_writes'),
  },
  synchronous_commit: {
    wrong: off,
    level: 'warning',
    means:
      'Answers do not wait for the disk: after a crash of the server a job that was accepted may be gone, and one that ran may run again.',
    remedy:
      'Take the setting back for the roles that use Writ: alter role ROLE reset synchronous_commit;',
  },
  default_transaction_isolation: {
    wrong: (value) => value !== 'read committed',
    level: 'warning',
    means:
      'Gates lock and then look. In a stricter transaction those of the queue fail with 40001 and are tried again. Those of governance, governors and limited runs refuse it with 25000.',
    remedy:
      'Take the setting back for the roles that use Writ: alter role ROLE reset default_transaction_isolation;',
  },
  transaction_read_only: {
    wrong: (value) => value === 'on',
    level: 'error',
    means:
      'This is a standby, or its sessions are read-only: nothing can be enqueued or finished here.',
    remedy:
      'Connect to the primary (target_session_attrs=read-write), or reset default_transaction_read_only.',
  },
  statement_timeout: {
    wrong: (value) => isUnder(value, 30_000),
    level: 'warning',
    means:
      'A gate that takes longer is cancelled and does nothing. The clockwork works in short parts, but a slow disk or a lock that it waits for makes them longer.',
    remedy:
      "For the roles that workers log in with, at least 30 seconds: alter role ROLE set statement_timeout = '30s';",
  },
  idle_in_transaction_session_timeout: {
    wrong: (value) => value === '0',
    level: 'hint',
    means:
      'A program that stops in the middle of a transaction keeps its locks and its snapshot until its connection dies.',
    remedy:
      "For the roles that applications and workers log in with: alter role ROLE set idle_in_transaction_session_timeout = '5min';",
  },
};

export function judgeSettings(values: Readonly<Record<string, string>>): Finding[] {
  const wrong = Object.entries(rules).filter(([name, rule]) => rule.wrong(values[name] ?? ''));
  const findings = wrong.map(([name, { level, means, remedy }]) => ({
    check: 'settings',
    level,
    says:
      name === 'idle_in_transaction_session_timeout'
        ? `${name} is not set`
        : `${name} is ${values[name]}`,
    means,
    remedy,
  }));
  return findings.length > 0
    ? findings
    : [{ check: 'settings', level: 'ok', says: 'As they should be' }];
}

export async function readSettings(db: Session): Promise<Record<string, string>> {
  const rows = await db.rows<{ name: string; value: string }>(
    'select name, current_setting(name) as value from unnest($1::text[]) as names(name)',
    [Object.keys(rules)],
  );
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
}

export const settingsChecks: Checks = {
  settings: async (db) => judgeSettings(await readSettings(db)),
};
