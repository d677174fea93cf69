/** What `import 'writ'` loads: a queue user pays for a queue. Needs dist/. */
import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const dist = fileURLToPath(new URL('../dist/', import.meta.url));

/** A module and everything that it imports statically, as paths in dist/. */
function closureOf(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  const text = readFileSync(join(dist, file), 'utf8');
  const imports = /^(?:import|export)\b[^'";]*?(?:from\s*)?['"](\.[^'"]+\.m?js)['"];/gm;
  for (const [, target = ''] of text.matchAll(imports))
    closureOf(relative(dist, join(dist, dirname(file), target)), seen);
  return seen;
}

test('import of writ loads of governance, governors and ledger what its own exports are made of', () => {
  const loaded = [...closureOf('index.js')].filter((file) =>
    /^(?:governance|governor|ledger|cli)\//.test(file),
  );
  expect(loaded.sort()).toEqual([
    'governance/actor.js',
    'governance/api-keys.js',
    'governance/document.js',
    'governance/filled.js',
    'governance/flags.js',
    'governance/keys.js',
    'governance/rights.js',
    'governance/steps.js',
    'governance/trust/file.js',
    'governance/trust/source.js',
    'governor/action-types.js',
    'governor/actuators/handler.js',
    'governor/actuators/job.js',
    'governor/policies/action.js',
    'governor/policies/fields.js',
    'governor/policies/normal.js',
    'governor/policy.js',
    'ledger/canonical.js',
    'ledger/clockwork.js',
    'ledger/note.js',
    'ledger/sha256.js',
    'ledger/text.js',
  ]);
});

test('import of writ loads no schema library and no relay', () => {
  const loaded = closureOf('index.js');
  expect(loaded).toContain('writ.js');
  expect(loaded).not.toContain('ledger/typebox.js');
  expect(loaded).not.toContain('outbox/relay.js');
});
