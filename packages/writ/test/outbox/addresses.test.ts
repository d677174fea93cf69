/** Where webhooks may go: the network of the relay is not for whoever can name an endpoint. */
import type { LookupAddress } from 'node:dns';
import { describe, expect, test } from 'vitest';
import { endpointUrl, isPublic, publicLookup } from '../../src/outbox/buses/addresses.js';

describe('an address', () => {
  test.each([
    '93.184.215.14',
    '1.1.1.1',
    '172.32.0.1',
    '100.128.0.1',
    '2606:4700:4700::1111',
    '::ffff:1.1.1.1',
    '::ffff:101:101',
  ])('%s is public', (address) => {
    expect(isPublic(address)).toBe(true);
  });

  test.each([
    ...[
      '127.0.0.1',
      '127.255.255.254',
      '0.0.0.0',
      '10.1.2.3',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.1.1',
      '169.254.169.254',
      '100.64.0.1',
    ],
    ...[
      '192.0.0.8',
      '198.18.0.1',
      '203.0.113.5',
      '224.0.0.1',
      '255.255.255.255',
      '::',
      '::1',
      'fe80::1',
      'fe80::1%eth0',
      'fd00::1',
      'fc00::1',
    ],
    ...[
      'ff02::1',
      '::ffff:127.0.0.1',
      '::ffff:7f00:1',
      '::ffff:10.0.0.1',
      '0:0:0:0:0:ffff:a9fe:a9fe',
      '::7f00:1',
      '64:ff9b::a00:1',
      '2002:7f00:1::',
    ],
    ...['2001:0:7f00:1::', '2001:db8::1', 'localhost', ''],
  ])('%s is not', (address) => {
    expect(isPublic(address)).toBe(false);
  });
});

describe('an endpoint', () => {
  test('is an https URL to a name or to a public address', () => {
    expect(endpointUrl('https://hooks.example/writ?a=1#part', {}).href).toBe(
      'https://hooks.example/writ?a=1',
    );
    expect(endpointUrl('https://1.1.1.1/', {}).href).toBe('https://1.1.1.1/');
  });

  test.each([
    ['http://hooks.example/', /without encryption/],
    ['ftp://hooks.example/', /not an https URL/],
    ['hooks.example', /not an https URL/],
    ['https://user:hunter2@hooks.example/', /credentials/],
    ['https://127.0.0.1/', /not a public address/],
    ['https://[::1]/', /not a public address/],
    ['https://[::ffff:10.0.0.1]/', /not a public address/],
    ['https://0x7f.1/', /not a public address/],
    ['https://2130706433/', /not a public address/],
    ['https://017700000001/', /not a public address/],
  ])('is not %s', (url, why) => {
    expect(() => endpointUrl(url, {})).toThrow(why);
    expect(() => endpointUrl(url, {})).not.toThrow(/hunter2/);
  });

  test('may be in a private network, or without encryption, where that is said', () => {
    expect(endpointUrl('http://10.0.0.1/', { allowHttp: true, allowPrivate: true }).host).toBe(
      '10.0.0.1',
    );
    expect(() => endpointUrl('http://10.0.0.1/', { allowHttp: true })).toThrow(
      /not a public address/,
    );
    expect(() => endpointUrl('http://10.0.0.1/', { allowPrivate: true })).toThrow(
      /without encryption/,
    );
  });
});

describe('a name', () => {
  const named = (...addresses: string[]) => {
    const answer = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    return publicLookup(((
      _: string,
      __: object,
      done: (error: null, found: LookupAddress[]) => void,
    ) => done(null, answer)) as never);
  };
  const look = (lookup: ReturnType<typeof publicLookup>, all: boolean) =>
    new Promise((found, failed) =>
      lookup('hooks.example', { all }, (error, address) =>
        error ? failed(error) : found(address),
      ),
    );

  test('leads to its public addresses and to no other', async () => {
    const mixed = named('10.0.0.1', '1.1.1.1', '::1', '2606:4700::1');
    expect(await look(mixed, true)).toEqual([
      { address: '1.1.1.1', family: 4 },
      { address: '2606:4700::1', family: 6 },
    ]);
    expect(await look(mixed, false)).toBe('1.1.1.1');
  });

  test('that has none leads nowhere', async () => {
    await expect(look(named('127.0.0.1', 'fe80::1'), true)).rejects.toThrow(/no public address/);
    await expect(look(named(), false)).rejects.toThrow(/no public address/);
  });
});
