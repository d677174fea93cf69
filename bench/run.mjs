// @ts-check
// The entry of `npm run bench`. It runs on any Node that Writ supports and needs nothing but the
// root `npm ci`: it installs the peers into bench/node_modules when they are missing, and then
// starts the harness on the Node that lives there, because two of the peers refuse Node 20 and a
// comparison is fair only when everyone runs on the same one.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const windows = process.platform === 'win32';
const OLDEST_NODE_OF_PEERS = [22, 18];

/** @param {string} path */
function nodeVersion(path) {
  const answer = spawnSync(path, ['--version'], { encoding: 'utf8' });
  return answer.status === 0 ? answer.stdout.trim() : undefined;
}

/** @param {string | undefined} version */
function newEnough(version) {
  const [major = 0, minor = 0] = (version ?? '').replace('v', '').split('.').map(Number);
  const [wantMajor = 0, wantMinor = 0] = OLDEST_NODE_OF_PEERS;
  return major > wantMajor || (major === wantMajor && minor >= wantMinor);
}

function installPeers() {
  console.error(
    'bench: the peers are not installed yet; running `npm ci` in bench/ (once, about 220 MB). ' +
      'Warnings that a peer wants a newer Node are harmless: it gets one.',
  );
  const done = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], {
    cwd: here,
    stdio: ['ignore', 'inherit', 'inherit'],
    shell: windows,
  });
  if (done.status !== 0) {
    console.error('bench: `npm ci` in bench/ failed; see the messages above');
    process.exit(2);
  }
}

/** The Node of bench/package.json, or the running one when it is new enough for every peer. */
function chooseNode() {
  const own = join(here, 'node_modules', 'node', 'bin', windows ? 'node.exe' : 'node');
  if (existsSync(own) && newEnough(nodeVersion(own))) return own;
  if (newEnough(process.version)) return process.execPath;
  console.error(
    `bench: ${own} is missing or too old and this is Node ${process.version}; the peers need ` +
      `${OLDEST_NODE_OF_PEERS.join('.')}. Install scripts may be switched off: the npm package ` +
      '`node` fetches its program in one.',
  );
  process.exit(2);
}

if (!existsSync(join(here, 'node_modules', '.package-lock.json'))) installPeers();

const args = process.argv.slice(2);
const againstAt = args.indexOf('--against');
if (againstAt >= 0) {
  const { compare } = await import('./against.mjs');
  const [, other = ''] = args.splice(againstAt, 2);
  process.exit(compare(chooseNode(), args, other));
}

const harness = spawn(
  chooseNode(),
  ['--disable-warning=ExperimentalWarning', join(here, 'harness', 'main.mjs'), ...args],
  {
    stdio: 'inherit',
  },
);
// The terminal sends Ctrl-C to the whole group; the harness stops its server and children and this
// process waits for it. A signal sent to this process alone is passed on.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => harness.kill('SIGTERM'));
harness.on('exit', (code, signal) => process.exit(code ?? (signal ? 130 : 1)));
