/** `writ settings`: what can be set, and setting it. */
import type { Command } from 'commander';
import type { Setting } from '../../ground/settings.js';
import { withActor } from '../command.js';
import { ago, type Output } from '../output.js';
import { act, show } from '../shapes.js';

export function addSettings(program: Command): void {
  const settings = program
    .command('settings')
    .description('show or change the settings in the database')
    .argument('[key]', 'show this one only');
  show<Setting | readonly Setting[]>(settings, {
    read: async (writ, { args: [key] }) =>
      key === undefined
        ? (await writ.settings.list({ limit: 1_000 })).items
        : writ.settings.get(key),
    print: (shown, { output, now }) => {
      if (!Array.isArray(shown)) printSetting(shown as Setting, output, now);
      else
        output.table(
          [{ title: 'SETTING' }, { title: 'VALUE', align: 'right' }, { title: 'MEANING' }],
          (shown as readonly Setting[]).map(({ key, value, description }) => [
            key,
            JSON.stringify(value),
            description,
          ]),
        );
    },
  });
  act(
    withActor(
      settings
        .command('set')
        .description('change a setting, from now on and for everybody')
        .argument('<key>')
        .argument('<value>', 'true, false, or a number'),
    ),
    {
      do: (writ, { args: [key = '', text = ''] }) => writ.settings.set(key, settingOf(text)),
      says: ({ key, was, value }, { output }) =>
        `${key}: ${JSON.stringify(was)} → ${output.style('bold', JSON.stringify(value))}`,
    },
  );
}

function printSetting(setting: Setting, output: Output, now: Date): void {
  output.pairs([
    [setting.key, output.style('bold', JSON.stringify(setting.value))],
    ['meaning', setting.description],
    ['set', `${ago(new Date(setting.updatedAt), now)} by ${setting.updatedBy}`],
  ]);
}

/** What is not JSON is a text, which the gate then takes or refuses by the setting's type. */
function settingOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
