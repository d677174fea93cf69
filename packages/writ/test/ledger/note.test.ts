/**
 * Keys, signed notes and checkpoints: what Go's sumdb/note wrote is read, what we write is byte for
 * byte the same, and what is malformed is refused.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  checkpointText,
  keyOfSeed,
  openNote,
  originText,
  parseCheckpoint,
  parseNote,
  parseOrigin,
  parsePrivateKey,
  parsePublicKey,
  privateKeyText,
  publicKeyText,
  signNote,
} from '../../src/ledger/note.js';
import { fromBase64, fromHex, toBase64, toHex, utf8 } from '../../src/ledger/text.js';

const go = JSON.parse(readFileSync(new URL('vectors/notes.json', import.meta.url), 'utf8'));
const name = 'acme.example/prod';
const first = parsePrivateKey(go.first.private);
const second = parsePrivateKey(go.second.private);
const witness = parsePublicKey(go.witness.public);
const codeOf = (act: () => unknown) => {
  try {
    act();
  } catch (error) {
    return (error as { code: string }).code;
  }
  return 'accepted';
};

describe('keys', () => {
  test.each(['first', 'second'])('the %s of Go reads, and is written again as it was', (which) => {
    const { seed, private: secret, public: open } = go[which];
    const key = keyOfSeed(name, fromHex(seed)!);
    expect(privateKeyText(key)).toBe(secret);
    expect(publicKeyText(key)).toBe(open);
    expect(publicKeyText(parsePublicKey(open))).toBe(open);
    expect(parsePrivateKey(`${secret}\n`)).toEqual(key);
  });

  const [, id, encoded] = /^[^+]+\+([^+]+)\+(.+)$/.exec(go.first.public) as unknown as [
    string,
    string,
    string,
  ];
  test.each([
    '',
    name,
    `${name}+${id}`,
    `+${id}+${encoded}`,
    `a b+${id}+${encoded}`,
    `other+${id}+${encoded}`,
    `${name}+${id.toUpperCase()}+${encoded}`,
    `${name}+0${id}+${encoded}`,
    `${name}+00000000+${encoded}`,
    `${name}+${id}+${encoded.slice(0, -4)}`,
    `${name}+${id}+${encoded}\n`,
    `${name}+${id}+Ag${encoded.slice(2)}`,
    `${name}+${id}+${encoded}AAAA`,
    go.first.private,
  ])('%j is none', (text) => {
    expect(codeOf(() => parsePublicKey(text))).toBe('invalid_ledger_key');
  });

  test('a public key is no private key, and a private key with another id is none', () => {
    expect(codeOf(() => parsePrivateKey(go.first.public))).toBe('invalid_ledger_key');
    expect(codeOf(() => parsePrivateKey(go.first.private.replace(id, '00000000')))).toBe(
      'invalid_ledger_key',
    );
    expect(codeOf(() => keyOfSeed('a+b', new Uint8Array(32)))).toBe('invalid_ledger_key');
    expect(codeOf(() => keyOfSeed('a', new Uint8Array(31)))).toBe('invalid_ledger_key');
  });
});

describe('signed notes', () => {
  test('of Go open with the keys that signed them', () => {
    expect(openNote(go.both, [first, second]).signers).toEqual([first, second]);
    expect(openNote(go.both, [second]).text).toBe(
      'two keys\n\nan empty line is part of the text\n',
    );
    expect(openNote(utf8(go.both), [first]).signers).toEqual([first]);
  });

  test('are written byte for byte as Go writes them', () => {
    expect(signNote('two keys\n\nan empty line is part of the text\n', [first, second])).toBe(
      go.both,
    );
  });

  test('by unknown keys alone are not trusted; beside a known one they are passed over', () => {
    const note = go.checkpoints[0].note;
    expect(codeOf(() => openNote(note, []))).toBe('untrusted_note');
    expect(codeOf(() => openNote(note, [second]))).toBe('untrusted_note');
    expect(openNote(note, [first]).signers).toEqual([first]);
    expect(openNote(note, [witness]).signers).toEqual([witness]);
  });

  test('with a wrong signature of a known key are refused, even if another known key has signed', () => {
    const lines = go.both.split('\n');
    const bytes = fromBase64(lines.at(-2).split(' ')[2])!;
    bytes[67]! ^= 1;
    lines[lines.length - 2] = `— ${name} ${toBase64(bytes)}`;
    expect(codeOf(() => openNote(lines.join('\n'), [first, second]))).toBe('invalid_signature');
    expect(codeOf(() => openNote(lines.join('\n'), [first]))).toBe('accepted');
    expect(codeOf(() => openNote(go.both.replace('two', 'too'), [first]))).toBe(
      'invalid_signature',
    );
  });

  const line = `— ${name} ${toBase64(new Uint8Array(68))}\n`;
  test.each([
    ['nothing', ''],
    ['no signature', 'text\n\n'],
    ['no empty line', `text\n${line}`],
    ['no line end at the end', `text\n\n${line.trimEnd()}`],
    ['another dash', `text\n\n- ${line.slice(2)}`],
    ['no name', `text\n\n—  ${toBase64(new Uint8Array(68))}\n`],
    ['more after the signature', `text\n\n${line.trimEnd()} x\n`],
    ['base64 without padding', `text\n\n— ${name} AAAAAAA\n`],
    ['base64 with bits left over', `text\n\n— ${name} AAAAAAB=\n`],
    ['a signature that is too short', `text\n\n— ${name} AAAAAA==\n`],
    ['a control character', `te\txt\n\n${line}`],
    ['a carriage return', `text\r\n\r\n${line}`],
    ['more than 100 signatures', `text\n\n${line.repeat(101)}`],
    ['more than a million bytes', `${'x'.repeat(1_000_000)}\n\n${line}`],
    ['half of a surrogate pair', `\ud800\n\n${line}`],
  ])('with %s are none', (_, text) => {
    expect(codeOf(() => parseNote(text))).toBe('invalid_note');
  });

  test('that are not UTF-8 are none', () => {
    expect(codeOf(() => parseNote(Uint8Array.of(0xff, ...utf8(`\n\n${line}`))))).toBe(
      'invalid_note',
    );
    expect(codeOf(() => parseNote(`text\n\n${line.repeat(100)}`))).toBe('accepted');
  });
});

describe('checkpoints', () => {
  test.each<{ size: number; root: string; note: string }>(go.checkpoints)(
    'of Go at size $size read, and are written again as they were',
    ({ size, root, note }) => {
      const { text } = openNote(note, [first]);
      const checkpoint = parseCheckpoint(text);
      expect(checkpoint).toMatchObject({ origin: `${name}/_system/1`, size });
      expect(toHex(checkpoint.root)).toBe(root);
      expect(checkpointText(checkpoint)).toBe(text);
    },
  );

  const root = toBase64(new Uint8Array(32));
  test.each([
    `origin\n1\n`,
    `origin\n1\n${root}`,
    `\n1\n${root}\n`,
    `origin\n01\n${root}\n`,
    `origin\n-1\n${root}\n`,
    `origin\n+1\n${root}\n`,
    `origin\n1e3\n${root}\n`,
    `origin\n 1\n${root}\n`,
    `origin\n9007199254740992\n${root}\n`,
    `origin\n\n${root}\n`,
    `origin\n1\n${root.slice(4)}\n`,
    `origin\n1\n${root.replace('=', '')}\n`,
    `origin\n1\n${root.replace('A=', 'B=')}\n`,
    `origin\n1\n${root}\n\nextension\n`,
  ])('%j is none', (text) => {
    expect(codeOf(() => parseCheckpoint(text))).toBe('invalid_note');
  });
  test('may have extension lines, and sizes up to 2^53 - 1', () => {
    expect(parseCheckpoint(`origin\n9007199254740991\n${root}\nextension\nmore\n`).size).toBe(
      Number.MAX_SAFE_INTEGER,
    );
    expect(parseCheckpoint(`origin\n0\n${root}\n`).size).toBe(0);
  });

  test.each(['_system', 'acme', 'Zürich AG/1.2', 'a%2Fb', '..'])(
    'the origin of log %s says which it is',
    (log) => {
      const origin = { deployment: name, log, epoch: 12 };
      expect(parseOrigin(originText(origin))).toEqual(origin);
    },
  );
  test.each(['', 'a', 'a/b', 'a/b/0', 'a/b/01', 'a/b/c', 'a//1', '/b/1', 'a/%zz/1'])(
    '%j is no origin',
    (text) => {
      expect(codeOf(() => parseOrigin(text))).toBe('invalid_note');
    },
  );
});
