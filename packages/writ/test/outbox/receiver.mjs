// @ts-check
// A receiver of webhooks, as a process of its own: node test/outbox/receiver.mjs LOG [PORT] [SECRET...]. Prints its port. Each delivery is a line in LOG before it is
// answered: {at, id, type, partitionkey, sequence, verified, rule}. Signatures are checked here by the words of the specification, not by our code.
// PUT /control takes a list of rules, the first that fits is followed: {mode, status?, retryAfter?, ms?, times?, partitionkey?, id?}.
//   status  answer it (with Retry-After, if given)     hang   never answer            reset  close without an answer
//   break   close in the middle of the answer          slow   answer after ms         huge   answer with a megabyte     redirect  to itself
import { createHmac } from 'node:crypto';
import { openSync, writeSync } from 'node:fs';
import { createServer } from 'node:http';

const [, , file, port = '0', ...secrets] = process.argv;
if (!file) throw new Error('usage: receiver.mjs LOG [PORT] [SECRET...]');
const log = openSync(file, 'a');
const keys = secrets.map((secret) => Buffer.from(secret.replace('whsec_', ''), 'base64'));

/**
 * @typedef {{ mode: string, status?: number, retryAfter?: string, ms?: number, times?: number,
 * partitionkey?: string, id?: string }} Rule
 */
/** @type {Rule[]} */
let rules = [];
let underWay = 0;
let most = 0;

/** @param {import('node:http').IncomingMessage} request @param {Buffer} body */
function verified({ headers }, body) {
  const signed = Buffer.concat([
    Buffer.from(`${headers['webhook-id']}.${headers['webhook-timestamp']}.`),
    body,
  ]);
  const given = String(headers['webhook-signature']).split(' ');
  const fresh = Math.abs(Date.now() / 1_000 - Number(headers['webhook-timestamp'])) < 300;
  return (
    fresh &&
    keys.some((key) =>
      given.includes(`v1,${createHmac('sha256', key).update(signed).digest('base64')}`),
    )
  );
}

/** @param {{ id?: string, partitionkey?: string }} event */
function ruleFor(event) {
  const rule = rules.find(
    (one) =>
      one.times !== 0 &&
      (!one.id || one.id === event.id) &&
      (!one.partitionkey || one.partitionkey === event.partitionkey),
  );
  if (rule?.times) rule.times -= 1;
  return rule ?? { mode: 'status', status: 204 };
}

/** @param {Rule} rule @param {import('node:http').ServerResponse} response */
function answer(rule, response) {
  const { mode, status = 200, retryAfter, ms = 0 } = rule;
  if (mode === 'hang') return;
  if (mode === 'reset') return void response.destroy();
  if (mode === 'break') {
    response.writeHead(200, { 'content-length': '1000' });
    response.write('only this', () => response.destroy());
    return;
  }
  if (mode === 'huge') return void response.end(Buffer.alloc(1_000_000, 'x'));
  if (mode === 'redirect') return void response.writeHead(302, { location: '/elsewhere' }).end();
  if (mode === 'slow') return void setTimeout(() => response.writeHead(status).end(), ms);
  response.writeHead(status, retryAfter === undefined ? {} : { 'retry-after': retryAfter }).end();
}

const server = createServer((request, response) => {
  /** @type {Buffer[]} */
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks);
    if (request.url === '/control') {
      if (request.method === 'PUT') rules = JSON.parse(body.toString());
      const load = { most };
      most = 0;
      return void response.end(JSON.stringify(load));
    }
    underWay += 1;
    most = Math.max(most, underWay);
    response.on('close', () => {
      underWay -= 1;
    });
    const event = JSON.parse(body.toString());
    const rule = ruleFor(event);
    const { id, type, partitionkey, sequence } = event;
    const line = {
      at: Date.now(),
      url: request.url,
      contentType: request.headers['content-type'],
      id,
      type,
      partitionkey,
      sequence,
    };
    writeSync(
      log,
      `${JSON.stringify({ ...line, verified: verified(request, body), rule: rule.mode, status: rule.status })}\n`,
    );
    answer(rule, response);
  });
});
server.keepAliveTimeout = 2_000;
server.listen(Number(port), '127.0.0.1', () => {
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());
  console.log(String(address.port));
});
// It ends with whoever started it.
process.stdin.on('end', () => process.exit(0)).resume();
