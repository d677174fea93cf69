/**
 * What leaves a process carries none of its secrets: JSON stays JSON, and an error stays an error
 * of its class.
 */
import { inspect } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { PermanentFailure, WritRefusal } from '../../src/errors/index.js';
import {
  redactError,
  redactJson,
  redactSecrets,
  refuseSecrets,
} from '../../src/secrets/redaction.js';
import { knownSecrets } from '../../src/secrets/redactor.js';

const value = 'correct-horse-battery';
beforeAll(() => {
  knownSecrets.add('horse', value);
  knownSecrets.add('digits', '4929123456781234');
  // Its beginning looks like the end of an escape in JSON.
  knownSecrets.add('escape', 'nothing-to-see-here');
});

describe('JSON', () => {
  test('keeps its form, without the values, in texts, names and numbers', () => {
    const json = JSON.stringify({
      a: `x ${value} y`,
      [value]: 1,
      list: [value, 4929123456781234, 7, null, true],
      line: '\nothing-to-see-here',
    });
    const safe = redactJson(json);
    expect(JSON.parse(safe.json)).toEqual({
      a: 'x «secret horse» y',
      '«secret horse»': 1,
      list: ['«secret horse»', '«secret digits»', 7, null, true],
      line: '«secret escape»',
    });
    expect(safe.names.sort()).toEqual(['digits', 'escape', 'horse']);
  });

  test('in which a value lies across several texts is not kept at all', () => {
    knownSecrets.add('across', 'first","second');
    expect(JSON.parse(redactJson(JSON.stringify(['first', 'second'])).json)).toBe(
      '«secret across»',
    );
  });

  test('without a value is left as it is', () => {
    expect(redactJson('{"a": 1}')).toEqual({ json: '{"a": 1}', names: [] });
  });
});

describe('an error', () => {
  test('without a value is the very same', () => {
    const error = Object.assign(new Error('no'), { response: { headers: { a: 1 } } });
    expect(redactError(error)).toBe(error);
    expect(redactError('text')).toBe('text');
  });

  test('loses its values in words, stack, code, fields, causes and the errors that it gathers', () => {
    const cause = new Error(`inner ${value}`, { cause: { password: value } });
    const error = new PermanentFailure(`401 for ${value}`, { cause, code: `bad_${value}` });
    Object.assign(error, {
      url: `https://h/?key=${value}`,
      status: 401,
      request: { headers: { authorization: value } },
    });
    const safe = redactError(new AggregateError([error, value], `two ${value}`)) as AggregateError;
    expect(safe).toBeInstanceOf(AggregateError);
    expect(safe.message).toBe('two «secret horse»');
    expect(safe.errors[0]).toBeInstanceOf(PermanentFailure);
    expect(safe.errors[0]).toMatchObject({
      message: '401 for «secret horse»',
      code: 'bad_«secret horse»',
      status: 401,
    });
    expect(inspect(safe, { depth: 20, showHidden: true })).not.toContain(value);
    // The one that was thrown is somebody else's, and stays what it was.
    expect(
      (error as unknown as { request: { headers: { authorization: string } } }).request.headers
        .authorization,
    ).toBe(value);
  });

  test.each([
    ['in bytes', { body: Buffer.from(`key=${value}`) }],
    ['in a map', { headers: new Map([['authorization', value]]) }],
    ['in a set', { seen: new Set([value]) }],
    ['deep down', { a: { b: { c: { d: { e: { f: [[[value]]] } } } } } }],
    ['in base64', { header: `Basic ${Buffer.from(`ada:${value}`).toString('base64')}` }],
  ])('that holds a value %s is copied without it', (_, more) => {
    const safe = redactError(Object.assign(new Error('it failed'), more)) as Error;
    const text = inspect(safe, { depth: 30, showHidden: true });
    expect(safe.message).toBe('it failed');
    expect(text).not.toContain(value);
    for (const name of Object.keys(more))
      expect((safe as unknown as Record<string, unknown>)[name]).not.toEqual((more as never)[name]);
  });

  test('that is its own cause, and one too large to be looked through, are copied too', () => {
    const circular = new Error(value);
    circular.cause = circular;
    const safe = redactError(circular) as Error;
    expect(safe.cause).toBe(safe);
    const large = Object.assign(new Error('large'), {
      rows: Array.from({ length: 20_000 }, (_, n) => ({ n })),
    });
    expect(redactError(large)).not.toHaveProperty('rows');
  });

  test('that is no error is redacted as what it is', () => {
    expect(redactError(`thrown ${value}`)).toBe('thrown «secret horse»');
    expect(inspect(redactError({ key: value }))).not.toContain(value);
  });
});

test('what is about to be stored is refused, by the name of the secret', () => {
  const refusal = (() => {
    try {
      refuseSecrets(JSON.stringify({ to: value }), 'a job of kind mail');
    } catch (error) {
      return error as WritRefusal;
    }
  })();
  expect(refusal).toBeInstanceOf(WritRefusal);
  expect(refusal).toMatchObject({
    code: 'secret_inside',
    detail: 'a job of kind mail: the value of horse',
  });
  expect(refusal?.message).not.toContain(value);
  refuseSecrets(undefined, 'nothing');
  refuseSecrets('{"to":"ada"}', 'a job');
});

test('a text for a log of your own', () => {
  expect(redactSecrets(`GET /?key=${encodeURIComponent(value)}`)).toBe('GET /?key=«secret horse»');
});
