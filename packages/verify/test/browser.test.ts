/**
 * The built `@writ/verify`, one file, in a real browser. Where no browser can be started, the test
 * says so loudly and ends. That the file reaches nothing of Node is checked everywhere.
 */
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Files, keys, sampleLedger, tamper } from '../../writ/test/ledger/exports.js';

const built = fileURLToPath(new URL('../dist/index.js', import.meta.url));
const modules = fileURLToPath(new URL('../../writ/dist/', import.meta.url));

/** Every file that the entry reaches, and what it imports by name. */
function reach(entry: string): { files: Set<string>; packages: Set<string> } {
  const files = new Set([entry]);
  const packages = new Set<string>();
  for (const file of files) {
    for (const [, target] of readFileSync(join(modules, file), 'utf8').matchAll(
      /(?:from|import)\s*\(?\s*['"]([^'"]+)['"]/g,
    )) {
      if (target!.startsWith('.')) files.add(normalize(join(dirname(file), target!)));
      else packages.add(target!);
    }
  }
  return { files, packages };
}

test('the sources reach nothing of Node and no package but noble', () => {
  const { files, packages } = reach('ledger/browser.js');
  expect(files.size).toBeGreaterThan(15);
  expect([...packages].sort()).toEqual(['@noble/curves/ed25519.js', '@noble/hashes/sha2.js']);
  const words = [...files].filter((file) =>
    /\b(?:Buffer|process|require|__dirname)\b/.test(code(file)),
  );
  expect(words).toEqual([]);
});

test('the bundle imports nothing', () => {
  expect(readFileSync(built, 'utf8')).not.toMatch(/^(?:import|export) .* from /m);
});

const code = (file: string) =>
  readFileSync(join(modules, file), 'utf8')
    .replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
    .replace(/(['"`]).*?\1/g, '');

const page = `<!doctype html><meta charset="utf-8"><title>verify</title>
<script type="importmap">{"imports": { "@writ/verify": "/verify.js" }}</script>
<script type="module">
  import { describe, verifyExport } from '@writ/verify';
  window.check = async (name, options) => {
    const reader = async (path) => {
      const answer = await fetch('/export/' + name + '/' + path.split('/').map(encodeURIComponent).join('/'));
      return answer.ok ? new Uint8Array(await answer.arrayBuffer()) : null;
    };
    const verdict = await verifyExport(reader, options);
    return { ...verdict, words: describe(verdict) };
  };
</script>`;

describe('in a browser', () => {
  let server: Server;
  let browser: Browser | undefined;
  let address: string;
  const exports = new Map<string, Files>();

  beforeAll(async () => {
    server = createServer((request, response) => {
      const path = decodeURIComponent(request.url ?? '/');
      const [, kind = '', name = '', ...rest] = path.split('/');
      if (path === '/') return response.setHeader('content-type', 'text/html').end(page);
      const bytes =
        kind === 'export'
          ? exports.get(name)?.get(rest.join('/'))
          : path === '/verify.js'
            ? readFileSync(built)
            : undefined;
      if (!bytes) return response.writeHead(404).end();
      response
        .setHeader(
          'content-type',
          extname(path) === '.js' ? 'text/javascript' : 'application/octet-stream',
        )
        .end(bytes);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    browser = await start().catch((error: Error) => {
      console.warn(
        `NOT TESTED IN A BROWSER: it cannot be started on this machine (${error.message.split('\n')[0]}).`,
      );
      return undefined;
    });
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await new Promise((resolve) => server.close(resolve));
  });

  /** What verifyExport says in a page of the browser. */
  async function verdictOf(name: string, checkpoint: string) {
    const tab = await browser!.newPage();
    await tab.goto(address);
    const options = { keys, checkpoint };
    const verdict = await tab.evaluate(
      `window.check(${JSON.stringify(name)}, ${JSON.stringify(options)})`,
    );
    await tab.close();
    return verdict;
  }

  test('an export verifies, and a tampered one is refused with its first bad entry', {
    timeout: 120_000,
  }, async (context) => {
    if (!browser) return context.skip('the browser cannot be started');
    const ledger = sampleLedger();
    const checkpoint = ledger.checkpoint('_system');
    exports.set('good', ledger.export());
    const bad = ledger.export();
    tamper(bad, 'acme', 600, (entries) => entries.toSpliced(300, 1));
    exports.set('bad', bad);
    expect(await verdictOf('good', checkpoint)).toMatchObject({
      ok: true,
      problems: [],
      words: expect.stringContaining('is as it was signed'),
    });
    expect(await verdictOf('bad', checkpoint)).toMatchObject({
      ok: false,
      problems: expect.arrayContaining([
        expect.objectContaining({
          log: 'acme',
          index: 300,
          message: 'Log acme, entry 300: the entry that stood here was removed.',
        }),
      ]),
    });
  });
});

async function start(): Promise<Browser> {
  const [{ chromium }, { default: binary }] = await Promise.all([
    import('playwright-core'),
    import('@sparticuz/chromium'),
  ]);
  return chromium.launch({
    executablePath: await binary.executablePath(),
    args: ['--no-sandbox', '--disable-gpu'],
    headless: true,
  });
}
