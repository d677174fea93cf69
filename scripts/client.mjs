// @ts-check
// Prints what @writ/client knows of the operations: their types, and the table that its calls read.

/** @typedef {import('../packages/server/dist/operation.js').Operation} Operation */
/** @typedef {Record<string, any>} Schema */

/**
 * A schema as a TypeScript type. Titled parts become interfaces of their own. @param {Schema |
 * undefined} schema @param {Map<string, string>} named @param {string} indent @returns {string}
 */
function typeOf(schema, named, indent = '') {
  if (!schema) return 'undefined';
  const { title, type, anyOf, properties, items, patternProperties, additionalProperties } = schema;
  if (title) {
    if (!named.has(title)) {
      named.set(title, '');
      const { title: _, ...rest } = schema;
      named.set(title, typeOf(rest, named));
    }
    return title;
  }
  if ('const' in schema) return quoted(schema.const);
  if (anyOf)
    return union(
      anyOf.map((/** @type {Schema} */ one) => typeOf(one, named, indent)),
      indent,
    );
  if (type === 'array') {
    const of = typeOf(items, named, indent);
    const plain = of.startsWith('{') || !/[ |]/.test(of);
    return `readonly ${plain ? of : `(${of}${of.startsWith('\n') ? `\n${indent}` : ''})`}[]`;
  }
  if (type === 'integer') return 'number';
  if (type === 'string' || type === 'number' || type === 'boolean' || type === 'null') return type;
  if (type !== 'object') return 'unknown';
  const [pattern] = Object.values(patternProperties ?? {});
  const of = pattern ?? (typeof additionalProperties === 'object' ? additionalProperties : null);
  if (of) return `Readonly<Record<string, ${typeOf(of, named, indent)}>>`;
  const required = new Set(schema.required ?? []);
  const lines = Object.entries(properties ?? {}).map(([name, property]) => {
    const optional = required.has(name) ? '' : '?';
    const written = typeOf(property, named, `${indent}  `);
    return `${indent}  readonly ${keyOf(name)}${optional}:${written.startsWith('\n') ? '' : ' '}${written};\n`;
  });
  return lines.length === 0 ? 'Readonly<Record<string, never>>' : `{\n${lines.join('')}${indent}}`;
}

/**
 * Different types, on lines of their own where one is too short. @param {string[]} types @param
 * {string} indent
 */
function union(types, indent) {
  const different = [...new Set(types)];
  const line = different.join(' | ');
  return line.length <= 60 || line.includes('\n')
    ? line
    : different.map((type) => `\n${indent}  | ${type}`).join('');
}
/** @param {unknown} value */
const quoted = (value) => (typeof value === 'string' ? `'${value}'` : String(value));
/** @param {string} name */
const keyOf = (name) => (/^[a-zA-Z_]\w*$/.test(name) ? name : `'${name}'`);

/** @param {Operation} operation @param {Map<string, string>} named */
function methodOf({ id, path, kind, summary, input = {}, output }, named) {
  const params = [...path.matchAll(/:(\w+)/g)].map(([, name]) => `${name}: string`);
  const given = kind === 'act' ? input.body : input.query;
  if (given) {
    const name = kind === 'act' ? 'body' : 'query';
    const { required = [] } = /** @type {Schema} */ (given);
    const optional = required.length > 0 || !isObject(given) ? '' : '?';
    params.push(`${name}${optional}: ${typeOf(given, named, '    ')}`);
  }
  params.push(`options?: ${kind === 'act' ? 'ActOptions' : 'CallOptions'}`);
  const answer = typeOf(output, named, '    ');
  const returns = kind === 'stream' ? `AsyncIterable<Event<${answer}>>` : `Promise<${answer}>`;
  const name = id.slice(id.indexOf('.') + 1);
  const lines = params.map((param) => `      ${param.replaceAll('\n', '\n  ')},\n`).join('');
  const line = `    ${name}(${params.join(', ')}): ${returns};`;
  const written = line.split('\n').some((part) => part.length > 96) || params.join().includes('\n');
  return `    /** ${summary} */\n${written ? `    ${name}(\n${lines}    ): ${returns};` : line}\n`;
}

/** @param {Schema} schema */
const isObject = (schema) => schema.type === 'object' && schema.properties;

/** The source of packages/client/src/operations.ts. @param {readonly Operation[]} operations */
export function clientSource(operations) {
  /** @type {Map<string, string>} */
  const named = new Map();
  /** @type {Map<string, string[]>} */
  const layers = new Map();
  for (const operation of operations) {
    const layer = operation.id.slice(0, operation.id.indexOf('.'));
    layers.set(layer, [...(layers.get(layer) ?? []), methodOf(operation, named)]);
  }
  const methods = [...layers].map(
    ([layer, list]) => `  readonly ${layer}: {\n${list.join('')}  };\n`,
  );
  const types = [...named]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, type]) =>
      type.startsWith('{')
        ? `export interface ${name} ${type}\n`
        : `export type ${name} = ${type};\n`,
    );
  const table = operations.map(({ id, kind, method, path, input }) => {
    const takes = (kind === 'act' ? input?.body && 'body' : input?.query && 'query') ?? 'nothing';
    return `  '${id}': ['${kind}', '${method}', '${path}', '${takes}'],\n`;
  });
  return `// Generated by \`npm run generate\` from packages/server/src/operations/. Do not edit.
import type { ActOptions, CallOptions, Event } from './call.js';

/** Every operation of the API server, by layer. */
export interface Operations {
${methods.join('')}}

${types.join('\n')}
/** What a call has to know of an operation. */
export type Known = readonly [
  kind: 'read' | 'act' | 'stream',
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  takes: 'query' | 'body' | 'nothing',
];

export const known: Readonly<Record<string, Known>> = {
${table.join('')}};
`;
}
