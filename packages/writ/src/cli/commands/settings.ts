/** `writ settings`: what can be set, and setting it. */
import type { Command } from 'commander';
import { WritError } from '../../errors/index.js';
import { contextOf } from '../command.js';
import { actor } from '../connection.js';
import { ago } from '../output.js';

interface Setting {
  readonly key: string;
  readonly value: unknown;
  readonly description: string;
  readonly updated_at: Date;
  readonly updated_by: string;
}

export function addSettings(program: Command): void {
  const settings = program
    .command('settings')
    .description('show or change the settings in the database')
    .argument('[key]', 'show this one only')
    .action(show);
  settings
    .command('set')
    .description('change a setting, from now on and for everybody')
    .argument('<key>')
    .argument('<value>', 'true, false, or a number')
    .option('--actor <name>', 'who changes it, for the record; otherwise the system user')
    .action(set);
}

async function show(key: string | undefined, _options: unknown, command: Command): Promise<void> {
  const { output, session } = contextOf(command);
  await session(async (db) => {
    const rows = await db.rows<Setting>(
      'select key, value, description, updated_at, updated_by from writ.dot_config where key = coalesce($1, key) order by key',
      [key ?? null],
    );
    if (key !== undefined && rows.length === 0) throw new WritError('unknown_setting', key);
    if (output.json) {
      output.data(key === undefined ? rows : rows[0]);
      return;
    }
    if (key === undefined) {
      return output.table(
        [{ title: 'SETTING' }, { title: 'VALUE', align: 'right' }, { title: 'MEANING' }],
        rows.map((row) => [row.key, JSON.stringify(row.value), row.description]),
      );
    }
    for (const row of rows) {
      output.pairs([
        [row.key, output.style('bold', JSON.stringify(row.value))],
        ['meaning', row.description],
        ['set', `${ago(row.updated_at, new Date())} by ${row.updated_by}`],
      ]);
    }
  });
}

async function set(
  key: string,
  text: string,
  options: { actor?: string },
  command: Command,
): Promise<void> {
  const { output, session } = contextOf(command);
  await session(async (db) => {
    const answer = await db.gate<{ key: string; value: unknown; was: unknown }>(
      'fn_setting_set($1, $2::text::jsonb, $3)',
      [key, asJson(text), actor(options.actor)],
    );
    if (output.json) {
      output.data({ key: answer.key, was: answer.was, value: answer.value });
      return;
    }
    output.line(
      `${key}: ${JSON.stringify(answer.was)} → ${output.style('bold', JSON.stringify(answer.value))}`,
    );
  });
}

/** What is not JSON is a text, which the gate then takes or refuses by the setting's type. */
function asJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return JSON.stringify(text);
  }
}
