// Compiles src/ to dist/ from scratch, so that a file removed from src/ does not live on in the package.
import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
rmSync('dist', { recursive: true, force: true });
execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json'], {
  stdio: 'inherit',
});
const typebox = 'dist/ledger/typebox.js';
const licence = readFileSync('node_modules/typebox/license', 'utf8').trim();
await build({
  input: typebox,
  platform: 'neutral',
  logLevel: 'warn',
  output: { file: typebox, banner: `/*\n${licence}\n*/` },
});
rmSync(`${typebox}.map`, { force: true });
chmodSync('dist/cli/main.js', 0o755);
