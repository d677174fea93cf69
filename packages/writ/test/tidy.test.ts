/**
 * The repository checks itself: that layers import only what lies below them, that SQL is where it
 * belongs, that files are short, alive and named as our vocabulary says, that links lead somewhere,
 * and that nothing of the machine it was written on has stayed behind.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import {
  sqlLayers as databaseLayers,
  generatedParts,
  layers as layersBelow,
  withGeneratedParts,
} from '../../../scripts/layers.mjs';
import { isObject, parseSchemaObject } from '../src/database/schema.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const skipped = new Set(['node_modules', 'dist', '.git', '.cache', '.writ', 'results', 'coverage']);

function walk(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    if (skipped.has(entry.name)) return [];
    const path = join(folder, entry.name);
    return entry.isDirectory() ? walk(path) : [path];
  });
}
/** Sources, SQL and tests of `writ` are named by their path in its package, as pages do. */
const home = 'packages/writ/';
const copies = /^packages\/\w+\/(?:LICENSE|CHANGELOG\.md)$|^packages\/writ\/README\.md$/;
const files = walk('.')
  .filter((file) => !copies.test(file))
  .map((file) =>
    /^packages\/writ\/(?:src|sql|test)\//.test(file) ? file.slice(home.length) : file,
  )
  .sort();
const at = (path: string) => join(root, /^(?:src|sql|test)\//.test(path) ? home : '', path);
const isThere = (path: string) => existsSync(at(path));
const read = (path: string) => readFileSync(at(path), 'utf8');
const sources = files.filter((file) => /^src\/.*\.(ts|mjs)$/.test(file));
const texts = files.filter(
  (file) =>
    /\.(ts|mjs|js|sql|md|json|svg|yml)$|^\.ci\//.test(file) && !file.endsWith('package-lock.json'),
);

const layers = Object.keys(layersBelow);
const below = (layer: string): string[] => layers.slice(0, layers.indexOf(layer));
const layerOf = (path: string) => path.split('/')[1] as string;

/**
 * Files that a file imports, names in a URL, or starts as a thread or process: by path, as they are
 * in src/.
 */
function imports(path: string): string[] {
  const specifiers = [
    ...read(path).matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g),
    ...read(path).matchAll(/new URL\('(\.\.?\/[^']+\.m?js)', import\.meta\.url\)/g),
  ].map((match) => normalize(join(dirname(path), match[1] as string)));
  return specifiers.map((target) => (isThere(target) ? target : target.replace(/\.js$/, '.ts')));
}

describe('layers', () => {
  test('every folder of src/ is a layer, and every layer exists', () => {
    expect([...new Set(sources.map(layerOf))].sort()).toEqual([...layers].sort());
  });

  test.each(sources)('%s imports only its own layer and those below', (path) => {
    const allowed = [layerOf(path), ...below(layerOf(path))];
    const wrong = imports(path).filter(
      (target) =>
        target.startsWith('src/') &&
        !allowed.includes(layerOf(target)) &&
        !(path === 'src/cli/commands/demo.ts' && target === 'src/demo/story.ts'),
    );
    expect(wrong).toEqual([]);
  });

  test('what is imported exists', () => {
    const missing = sources.flatMap((path) =>
      imports(path)
        .filter((target) => !isThere(target))
        .map((target) => `${path}: ${target}`),
    );
    expect(missing).toEqual([]);
  });

  test('the check can fail', () => {
    expect(imports('src/writ.ts')).toContain('src/queue/enqueue.ts');
    expect(imports('src/queue/worker/renewal.ts')).toContain('src/queue/worker/renewer.mjs');
  });
});

describe('SQL', () => {
  /** At the beginning of a text, which may be the line after the quote. */
  const statement =
    /['"`]\s*(?:select\s+\S|with (?:recursive )?\w+(?: ?\([^)]*\))? as (?:not )?(?:materialized )?\(|insert into|update \w+[\w.]* set|delete from|create (?:or replace )?(?:table|function|view|schema|role)|truncate )[^\n]*/gi;
  // The guard of a machine is generated where the machine is declared; nothing there is sent to a
  // database.
  const homes = new RegExp(
    `^src/(?:database|${Object.keys(databaseLayers).join('|')}|doctor|testing|demo)/|^src/(?:machines/guard|writ)\\.ts$`,
  );

  test.each(sources.filter((path) => !homes.test(path)))('%s has no SQL in it', (path) => {
    expect(read(path).match(statement) ?? []).toEqual([]);
  });

  test.each([
    ["'select now()'"],
    ['`\n      select 1 from writ.job_queue`'],
    ['`with due as (select 1) select * from due`'],
    ['`\n  with recursive up (id) as materialized (select 1)`'],
  ])('the check of SQL finds %j', (text) => {
    expect(text.match(statement)).toHaveLength(1);
  });

  const gates = files.filter((file) => file.startsWith('sql/') && isObject(file.slice(4)));
  test.each(gates)('%s holds one object, says what it is, and is named after it', (path) => {
    const object = parseSchemaObject(relative('sql', path), read(path));
    const created =
      read(path).match(/^create (?:or replace )?(?:function|view|trigger|table)|^insert into/gm) ??
      [];
    expect(created).toHaveLength(1);
    if (object.type !== 'guard' && object.type !== 'data')
      expect(basename(path, '.sql')).toBe(object.name.split('.')[1]);
  });

  const objects = gates.map((path) => ({
    path,
    ...parseSchemaObject(relative('sql', path), read(path)),
  }));
  test.each(objects)('$path names its callers if and only if it is a gate or a view', (object) => {
    const isOpen = object.type === 'gate' || object.type === 'view';
    expect(object.roles.length > 0).toBe(isOpen);
    if (isOpen) expect(object.name).toMatch(/^writ\./);
  });

  const creates: Readonly<Record<string, RegExp>> = {
    gate: /^create or replace function writ\./m,
    internal: /^create or replace function writ_data\./m,
    view: /^create or replace view writ\./m,
    guard: /^create or replace trigger /m,
    data: /^insert into writ_data\./m,
  };
  test.each(objects)('$path creates what its folder says', ({ type, sql }) => {
    expect(sql).toMatch(creates[type] as RegExp);
  });

  test('no two files create an object of the same name', () => {
    const names = objects.map(({ name, type }) => `${type} ${name}`).sort();
    expect(
      names.filter((name, index) => name === names[index - 1] && !name.startsWith('data ')),
    ).toEqual([]);
  });

  const sqlLayers = Object.keys(databaseLayers);
  const bases = files.filter((file) => file.startsWith('sql/migrations/'));
  const baseOf = (path: string) => basename(path, '.sql').replace(/^\d+_/, '');
  /** SQL without what is only said: comments, also those that the database keeps. */
  const statements = (path: string) =>
    read(path)
      .replace(/--.*$/gm, '')
      .replace(/^comment on [\s\S]*?';$/gm, '');
  const isHook = (path: string) => /^sql\/\w+\/hooks\/on_\w+\.sql$/.test(path);
  const places = new Map<string, { layer: string; hook: boolean }>();
  for (const path of bases)
    for (const [, name] of statements(path).matchAll(
      /^create (?:table|sequence|function) (writ\w*\.\w+)/gm,
    ))
      places.set(name as string, { layer: baseOf(path), hook: false });
  for (const { name, type, layer, path } of objects)
    if (type !== 'data') places.set(name, { layer, hook: isHook(path) });

  /** What a file uses of layers above its own. */
  const upward = (path: string, layer: string) =>
    [...new Set(statements(path).match(/\bwrit(?:_data)?\.[a-z0-9_]+/g))].filter((name) => {
      const used = places.get(name);
      return used && sqlLayers.indexOf(used.layer) > sqlLayers.indexOf(layer);
    });

  test('every folder of sql/ is a layer, and the bases stand in the order of the layers', () => {
    const folders = [...new Set(objects.map(({ layer }) => layer))];
    expect(folders.filter((layer) => !sqlLayers.includes(layer))).toEqual([]);
    const made = bases.map(baseOf);
    expect(made).toEqual(sqlLayers.filter((layer) => made.includes(layer)));
    expect(made.flatMap((layer, n) => upward(bases[n] as string, layer))).toEqual([]);
  });

  test.each(objects)('$path uses its own layer, those below, and hooks above', (object) => {
    expect(upward(object.path, object.layer).filter((name) => !places.get(name)?.hook)).toEqual([]);
  });

  test('every hook is called by a lower layer, and hooks stand nowhere else', () => {
    const called = new Set(objects.flatMap(({ path, layer }) => upward(path, layer)));
    const hooks = objects.filter(({ name, path }) => /\.on_|\/hooks\//.test(`${name} ${path}`));
    expect(hooks.length).toBeGreaterThan(10);
    expect(hooks.filter(({ name, path }) => !isHook(path) || !called.has(name))).toEqual([]);
  });

  test('the check of layers can fail', () => {
    expect(places.get('writ_data.contract')).toEqual({ layer: 'governance', hook: false });
    expect(upward('sql/telemetry/views/event_outbox.sql', 'queue')).toContain('writ_data.contract');
    expect(upward('sql/runs/internal/lock_runs.sql', 'queue')).toContain('writ_data.run');
  });

  test('gates read times of callers with writ_data.moment, which bounds them', () => {
    const elsewhere: Record<string, string> = {
      'sql/ground/internal/moment.sql': 'is the bound',
      'sql/schedules/internal/fire_schedules.sql': 'is a tick that the gate has checked before',
      'sql/governor/gates/fn_governors_apply.sql': 'is compared and never kept',
    };
    const cast = /\)::timestamptz|p_\w+::timestamptz|as timestamptz\)/;
    const casting = files.filter(
      (file) => /^sql\/\w+\/(?:gates|internal|hooks)\//.test(file) && cast.test(read(file)),
    );
    expect(casting).toEqual(Object.keys(elsewhere).sort());
  });

  describe('form', () => {
    const inForm = files.filter(
      (file) => /^sql\/.*\.sql$/.test(file) && file !== 'sql/snapshot.sql',
    );
    const isLong = (line: string) => [...line].length > 100;
    const holdsSeveral = (line: string) =>
      /;\s*[^\s;]/.test(line.replace(/'(?:[^']|'')*'/g, "''").replace(/--.*$/, ''));

    test.each(inForm)('%s has short lines, one statement or declaration each', (path) => {
      const lines = read(path).split('\n');
      expect(lines.filter(isLong)).toEqual([]);
      if (!path.startsWith('sql/migrations/')) {
        const code = lines.filter((line) => !/^\s*(?:--|')/.test(line));
        expect(code.filter(holdsSeveral)).toEqual([]);
      }
    });

    test('the check can fail', () => {
      expect(isLong(`-- ${'x'.repeat(98)}`)).toBe(true);
      expect(holdsSeveral('  v_from text; v_to text;')).toBe(true);
      expect(holdsSeveral("  v_text := 'a; b';  -- once; no more")).toBe(false);
      expect(inForm.length).toBeGreaterThan(300);
    });
  });

  test('migrations are numbered without gaps', () => {
    const numbers = files
      .filter((file) => file.startsWith('sql/migrations/'))
      .map((file) => Number.parseInt(basename(file), 10));
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  });
});

describe('files', () => {
  test('every source is imported by another, or is an entry of the package', () => {
    const entries = ['index', 'ledger/browser', 'testing/index', 'cli/main', 'outbox/webhooks'].map(
      (entry) => `src/${entry}.ts`,
    );
    const reached = new Set(entries);
    for (const path of reached)
      for (const target of imports(path)) if (target.startsWith('src/')) reached.add(target);
    expect(sources.filter((path) => !reached.has(path))).toEqual([]);
  });

  test.each(sources)(
    '%s, if it holds a loop or a thread, says near its top what goes on there',
    (path) => {
      const text = read(path);
      if (!/^\s*for \(;;\)|^\s*while \(|setInterval\(|new Thread\(/m.test(text)) return;
      expect(text.split('\n').slice(0, 25).join('\n')).toMatch(/\/\*\*[\s\S]{60,}?\*\//);
    },
  );

  test('names say what a thing is', () => {
    const vague = /(?:^|[-_./])(?:utils?|helpers?|common|misc|managers?|stuff)(?:[-_./]|$)/i;
    expect(files.filter((file) => vague.test(file))).toEqual([]);
  });

  test('words that stand for nothing are not in identifiers either', () => {
    // The client of NATS calls something of its own so.
    const vague = /\b(?![jJ]et[sS]treamManager\b)\w*(?:Utils?|Helpers?|Manager)\b/;
    const found = sources.flatMap((path) =>
      read(path)
        .split('\n')
        .filter((line) => vague.test(line))
        .map((line) => `${path}: ${line.trim()}`),
    );
    expect(found).toEqual([]);
  });
});

describe('text', () => {
  const self = 'test/tidy.test.ts';
  const found = (pattern: RegExp, among = texts) =>
    among
      .filter((path) => path !== self)
      .flatMap((path) =>
        read(path)
          .split('\n')
          .flatMap((line, index) =>
            pattern.test(line) ? [`${path}:${index + 1}: ${line.trim().slice(0, 120)}`] : [],
          ),
      );

  test('nothing is left for later without being said elsewhere', () => {
    expect(found(/\b(?:TODO|FIXME|XXX|HACK)\b/)).toEqual([]);
  });

  test('no path of a machine is in it', () => {
    expect(found(/(?:^|[\s'"`(=])\/(?:work|home|root|Users|tmp)\/[\w.-]/)).toEqual([]);
  });

  test('names of the specification stay out of what users meet first', () => {
    const met = files.filter(
      (file) =>
        file === 'README.md' ||
        file.startsWith('src/cli/') ||
        file === 'src/errors/registry.ts' ||
        file === 'docs/start.md',
    );
    expect(found(/\b(?:DOT|MOT|Hermes|Codex|Kestra|Điều)\b|future_Kestra/, met)).toEqual([]);
  });

  test('only the advice for a terminal names commands and options, not the library or its gates', () => {
    const commands = [...read('src/cli/program.ts').matchAll(/^ {2}(\w+): async/gm)].map(
      ([, name]) => name,
    );
    expect(commands.length).toBeGreaterThan(20);
    const named = new RegExp(
      `npx |\\bwrit (?:${commands.join('|')})\\b|command line|[\\s\`(]--[a-z]{3}`,
    );
    const isComment = (line: string) => /^\s*(?:\/?\*|\/\/|--|comment on )/.test(line);
    const library = files.filter(
      (file) =>
        /^(?:src|sql)\/.*\.(?:ts|mjs|sql)$/.test(file) &&
        !/^src\/(?:cli|demo|errors\/advice)\/|^sql\/(?:migrations\/|snapshot)/.test(file),
    );
    // Names that sessions have in pg_stat_activity, not advice.
    const sessions = /application_name: 'writ worker'|#listen\('writ (?:relay|events)'\)/;
    const said = library.flatMap((file) =>
      read(file)
        .split('\n')
        .filter(
          (line) =>
            named.test(line.replace(/\s(?:\/\/|--) .*/, '')) &&
            !isComment(line) &&
            !sessions.test(line),
        )
        .map((line) => `${file}: ${line.trim()}`),
    );
    expect(said).toEqual([]);
  });

  test('a job is a job: not a task, not a message', () => {
    const docs = files.filter((file) =>
      /^(?:README|ARCHITECTURE)\.md$|^docs\/(?:start|concepts|operate)\.md$/.test(file),
    );
    expect(found(/\b(?:tasks?|stored procedures?)\b/i, docs)).toEqual([]);
  });

  test('lines have no blanks at their ends, and files end with one newline', () => {
    const ours = texts.filter((file) => !/\.(?:svg|json)$/.test(file));
    expect(found(/[ \t]+$/, ours)).toEqual([]);
    expect(ours.filter((path) => !/[^\n]\n$/.test(read(path)))).toEqual([]);
  });

  test('no test is left out or left alone', () => {
    const tests = files.filter((file) => /^(?:test|examples|packages)\/.*\.test\.ts$/.test(file));
    expect(found(/\b(?:test|describe|it)\.(?:only|skip|todo)\b/, tests)).toEqual([]);
  });
});

describe('ARCHITECTURE.md', () => {
  const page = read('ARCHITECTURE.md');

  test('names every table', () => {
    const made = files
      .filter((file) => file.startsWith('sql/migrations/'))
      .flatMap((file) => [...read(file).matchAll(/^create table writ_data\.(\w+)/gm)])
      .map(([, name]) => name as string);
    const diagram = page.slice(page.indexOf('## Tables by layer'), page.indexOf('**The status'));
    expect(made.length).toBeGreaterThan(50);
    expect(made.filter((name) => !new RegExp(`\\b${name}\\b`).test(diagram))).toEqual([]);
  });

  test('has the layers and folders that the checks above enforce', () => {
    const markers = [...page.matchAll(/^<!-- generated: (\w+) -->$/gm)].map(([, name]) => name);
    expect(markers.sort()).toEqual(Object.keys(generatedParts).sort());
    expect(withGeneratedParts(page), 'run `npm run generate`').toBe(page);
    expect(withGeneratedParts(page.replace('| `src/queue/` |', '| `src/other/` |'))).toBe(page);
    expect(page).toContain('governance ← authorization ← governor');
  });

  test('lists each folder once', () => {
    const folders = [...page.matchAll(/^\| `([^`]+\/)` \|/gm)].map(([, folder]) => folder);
    expect(folders.length).toBeGreaterThan(30);
    expect(folders.filter((folder, n) => folders.indexOf(folder) !== n)).toEqual([]);
  });

  test('has no line over 100 characters', () => {
    expect(page.split('\n').filter((line) => [...line].length > 100)).toEqual([]);
  });
});

describe('docs/internals/questions.md', () => {
  const page = read('docs/internals/questions.md');
  const rows = [...page.matchAll(/^\| (.+) \| (.+) \| (\d+) \|$/gm)].map(
    ([, question, answer, hops]) => ({ question, answer: answer as string, hops: Number(hops) }),
  );
  const architecture = read('ARCHITECTURE.md');
  /** The page, each file of the answer, and the folder of a file that the page does not name. */
  const hopsTo = (answer: string) =>
    [...answer.matchAll(/`((?:[\w-]+\/)+[\w.-]+\.\w+|\.ci\/run)`/g)].reduce(
      (hops, [, path]) => hops + (architecture.includes(`\`${path}\``) ? 1 : 2),
      1,
    );

  test.each(rows)('counts the hops to “$question”', ({ answer, hops }) => {
    expect(hopsTo(answer)).toBeGreaterThan(1);
    expect(hopsTo(answer)).toBe(hops);
  });

  test('has forty answers, at two hops in the median, and says so', () => {
    const hops = rows.map((row) => row.hops).sort((a, b) => a - b);
    expect(hops).toHaveLength(40);
    expect(Math.max(hops[19] as number, hops[20] as number)).toBe(2);
    expect(page.replaceAll('\n', ' ')).toContain(
      `The median is 2 hops, the maximum ${hops.at(-1)}.`,
    );
  });
});

describe('lines', () => {
  const isLong = (line: string) => [...line].length > 100;
  /** A page without code, tables, headings, and lines that are one link. */
  const prose = (text: string) =>
    text
      .replace(/^```[\s\S]*?^```/gm, '')
      .split('\n')
      .filter((line) => !/^\s*(?:\||#|<|\S*\]\(\S+\)\S*$)/.test(line));

  const pages = files.filter((path) => path.endsWith('.md') && !path.startsWith('docs/reference/'));

  test.each(pages)('of prose in %s end at 100 characters', (path) => {
    expect(prose(read(path)).filter(isLong)).toEqual([]);
  });
});

describe('documents', () => {
  const pages = files.filter((file) => file.endsWith('.md'));
  const slug = (heading: string) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-');

  test.each(pages)('%s has no dead link', (page) => {
    const prose = read(page).replace(/```[\s\S]*?```/g, '');
    const links = [
      ...prose.matchAll(/\]\(([^)\s]+)\)/g),
      ...prose.matchAll(/(?:src|href)="([^"]+)"/g),
    ].map((match) => match[1] as string);
    const dead = links
      .filter((link) => !/^[a-z]+:/.test(link))
      .filter((link) => {
        const [path, anchor] = link.split('#');
        // A reader follows the link from where the page is, so no path is completed here.
        const target = path ? join(dirname(at(page)), path) : at(page);
        if (!existsSync(target)) return true;
        if (!anchor || !target.endsWith('.md')) return false;
        return ![...readFileSync(target, 'utf8').matchAll(/^#+ (.+)$/gm)].some(
          (match) => slug(match[1] as string) === anchor,
        );
      });
    expect(dead).toEqual([]);
  });

  test.each(pages)('%s names only files of ours that exist', (page) => {
    const named = [
      ...read(page).matchAll(
        /`((?:src|sql|test|docs|scripts|bench|examples)\/[\w./-]+\.(?:ts|mjs|sql|md))`/g,
      ),
    ].map((match) => match[1] as string);
    expect(named.filter((path) => !isThere(path))).toEqual([]);
  });

  test.each(Object.keys(databaseLayers))('docs/ has a page named %s, as the layer', (layer) => {
    expect(pages).toContain(`docs/${layer}.md`);
  });

  test.each(pages)('%s names only npm scripts that exist', (page) => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const named = [...read(page).matchAll(/\bnpm run ([\w:-]+)/g)].map(
      (match) => match[1] as string,
    );
    const here = page.startsWith('bench/')
      ? { ...scripts, ...(JSON.parse(read('bench/package.json')).scripts ?? {}) }
      : scripts;
    expect(named.filter((name) => !Object.hasOwn(here, name))).toEqual([]);
  });

  test.each(files.filter((file) => /^bench\/suites\/\w+\.mjs$/.test(file)))(
    'bench/README.md describes each case of %s',
    (path) => {
      const names = [...read(path).matchAll(/\bname: '([\w-]+)'/g)].map(
        ([, name]) => name as string,
      );
      expect(read('bench/README.md')).toContain(
        `## The cases of suite \`${basename(path, '.mjs')}\``,
      );
      const described = read('bench/README.md').replaceAll(/`(-[\w…-]+)`/g, '$1');
      expect(
        names.slice(1).filter((name) => !described.includes(name) && !/^held-snapshot-/.test(name)),
      ).toEqual([]);
    },
  );

  test('docs/operate.md has every alert that a gate raises', () => {
    const raised = files
      .filter((file) => /^sql\/\w+\/(gates|internal|hooks)\//.test(file))
      .flatMap((file) => [
        ...read(file).matchAll(
          /raise_alert\(\s*'([A-Z_]+)'|'([A-Z]+(?:_[A-Z]+)+)',\s*'P[123]'|'(GOVERNOR_[A-Z_]+)'/g,
        ),
      ])
      .map(([, ...codes]) => codes.find(Boolean) as string);
    const rows =
      read('docs/operate.md')
        .match(/^\| [A-Z_, P0-9()]+ \|/gm)
        ?.join() ?? '';
    expect(new Set(raised).size).toBeGreaterThan(25);
    expect([...new Set(raised)].filter((code) => !rows.includes(code)).sort()).toEqual([]);
  });

  test('scripts name files that exist', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const named = Object.values(scripts).flatMap((script) => script.match(/[\w./-]+\.mjs/g) ?? []);
    expect(named.filter((path) => !isThere(path))).toEqual([]);
  });

  test('every dependency is named in docs/dependencies.md with its reason, and nothing else is', () => {
    const manifests = files.filter((file) => /^(?:packages\/\w+\/)?package\.json$/.test(file));
    const installed = Object.keys(
      Object.assign(
        {},
        ...manifests.flatMap((file) => {
          const { dependencies, optionalDependencies, devDependencies } = JSON.parse(read(file));
          return [dependencies, optionalDependencies, devDependencies];
        }),
      ),
    );
    const rows = [
      ...read('docs/dependencies.md').matchAll(/^\| *([^|]+?) *\| *([^|]+?) *\|$/gm),
    ].filter(([, name]) => name !== 'package' && !/^-+$/.test(name as string));
    const named = rows.flatMap(([, name]) => (name as string).replaceAll('`', '').split(/, */));
    expect(named.sort()).toEqual(installed.sort());
    expect(rows.filter(([, , why]) => (why as string).length < 10)).toEqual([]);
  });
});
