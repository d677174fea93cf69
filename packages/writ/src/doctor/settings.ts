/** Settings of the server that the queue's promises rest on, as this user's sessions have them. */
import { readRows } from '../database/gate.js';
import { type Checks, type Finding, type Level, type Patient, well } from './finding.js';

interface Rule {
  readonly wrong: (value: string) => boolean;
  readonly level: Exclude<Level, 'ok'>;
  readonly means: string;
}

const off = (value: string): boolean => value === 'off';
const msOf: Readonly<Record<string, number>> = { ms: 1, s: 1_000, min: 60_000 };
/** Of a time as PostgreSQL shows it: 0 stands for none, and longer units for longer times. */
const isUnder = (value: string, limitMs: number): boolean => {
  const [, n, unit] = /^(\d+)(ms|s|min)$/.exec(value) ?? [];
  return unit !== undefined && Number(n) * (msOf[unit] as number) < limitMs;
};

const rules: Readonly<Record<string, Rule>> = {
  autovacuum: {
    wrong: off,
    level: 'error',
    means: 'Nothing cleans up what was deleted: the queue’s tables grow and slow down without end.',
  },
  track_counts: {
    wrong: off,
    level: 'error',
    means: 'Autovacuum does not know which tables need it, and so cleans none.',
  },
  fsync: {
    wrong: off,
    level: 'warning',
    means: 'A crash of the machine can lose or spoil everything. That is for tests only.',
  },
  full_page_writes: {
    wrong: off,
    level: 'warning',
    means: 'A crash of the machine can spoil pages that were being written.',
  },
  synchronous_commit: {
    wrong: off,
    level: 'warning',
    means:
      'Answers do not wait for the disk: after a crash of the server a job that was accepted may be gone, and one that ran may run again.',
  },
  default_transaction_isolation: {
    wrong: (value) => value !== 'read committed',
    level: 'warning',
    means:
      'Gates lock and then look. In a stricter transaction those of the queue fail with 40001 and are tried again. Those of governance, governors and limited runs refuse it with 25000.',
  },
  transaction_read_only: {
    wrong: (value) => value === 'on',
    level: 'error',
    means:
      'This is a standby, or its sessions are read-only: nothing can be enqueued or finished here.',
  },
  statement_timeout: {
    wrong: (value) => isUnder(value, 30_000),
    level: 'warning',
    means:
      'A gate that takes longer is cancelled and does nothing. The clockwork works in short parts, but a slow disk or a lock that it waits for makes them longer.',
  },
  idle_in_transaction_session_timeout: {
    wrong: (value) => value === '0',
    level: 'hint',
    means:
      'A program that stops in the middle of a transaction keeps its locks and its snapshot until its connection dies.',
  },
};

export function judgeSettings(values: Readonly<Record<string, string>>): Finding[] {
  const wrong = Object.entries(rules).filter(([name, rule]) => rule.wrong(values[name] ?? ''));
  const findings = wrong.map(
    ([name, { level, means }]): Finding => ({
      check: 'settings',
      level,
      code: 'server_setting',
      facts: { name, value: values[name] ?? '' },
      says:
        name === 'idle_in_transaction_session_timeout'
          ? `${name} is not set`
          : `${name} is ${values[name]}`,
      means,
    }),
  );
  return findings.length > 0 ? findings : [well('settings', 'As they should be')];
}

async function readSettings({ db }: Patient): Promise<Record<string, string>> {
  const rows = await readRows<{ name: string; value: string }>(
    db,
    'select name, current_setting(name) as value from unnest($1::text[]) as names(name)',
    [Object.keys(rules)],
  );
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
}

export const settingsChecks: Checks = {
  settings: async (patient) => judgeSettings(await readSettings(patient)),
};
