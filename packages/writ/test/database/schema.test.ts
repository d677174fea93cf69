/** The order in which the files of a release are loaded follows from the names in them. */
import { expect, test } from 'vitest';
import { inOrder, readSchemaObjects, type SchemaObject } from '../../src/database/schema.js';

const object = (name: string, sql: string, type: SchemaObject['type'] = 'internal') =>
  ({ type, layer: 'ground', name, roles: [], sql, sha256: '' }) satisfies SchemaObject;
const names = (objects: readonly SchemaObject[]) => inOrder(objects).map(({ name }) => name);

const a = object('writ_data.a', 'create function writ_data.a() returns int return writ_data.b();');
const b = object('writ_data.b', 'create function writ_data.b() returns int return 1;');

test('a function with an SQL-standard body stands behind what its body calls', () => {
  expect(names([a, b])).toEqual(['writ_data.b', 'writ_data.a']);
});

test('a function whose body is a string stands behind what its signature names, and no more', () => {
  const signature = 'create function writ_data.c(p_n int default writ_data.a()) returns int';
  const c = object('writ_data.c', `${signature} as $$ select writ_data.d() $$;`);
  const d = object('writ_data.d', 'create function writ_data.d() returns int return 1;');
  expect(names([c, d, a, b])).toEqual(['writ_data.b', 'writ_data.a', 'writ_data.c', 'writ_data.d']);
});

test('a comment needs nothing', () => {
  const said = object(
    'writ_data.a',
    '-- Not like writ_data.b.\ncreate view writ_data.a as select 1;',
  );
  expect(names([said, b])).toEqual(['writ_data.a', 'writ_data.b']);
});

test('data comes last', () => {
  const data = object('writ_data.rows', 'insert into writ_data.rows values (1);', 'data');
  expect(names([data, a, b])).toEqual(['writ_data.b', 'writ_data.a', 'writ_data.rows']);
});

test('objects that need each other are refused by name', () => {
  const back = object('writ_data.b', a.sql.replace('writ_data.b()', 'writ_data.a()'));
  expect(() => names([a, back])).toThrow('writ_data.a, writ_data.b, writ_data.a');
});

test('the files of this release have an order from wherever the reading begins', () => {
  const objects = readSchemaObjects();
  const reversed = inOrder([...objects].reverse());
  expect(reversed.map(({ name }) => name).sort()).toEqual(objects.map(({ name }) => name).sort());
});
