// @ts-check
// The process in which a subject plays a role: it loads the subject and the role named on its
// command line, runs the role and sends its figures to the harness. A role may report before it
// ends ("I am ready"). A process per role keeps one subject's memory, pool and compiled code away
// from the next measurement.
import { pathToFileURL } from 'node:url';

const [subjectFile, roleFile, roleName, options] = process.argv.slice(2);
if (!subjectFile || !roleFile || !roleName || !options)
  throw new Error('started without its arguments');

/** @param {object} message */
const send = (message) =>
  new Promise((resolve) => process.send?.(message, undefined, undefined, resolve));

try {
  const { subject } = await import(pathToFileURL(subjectFile).href);
  const role = (await import(pathToFileURL(roleFile).href))[roleName];
  if (!role) throw new Error(`${roleFile} has no role ${roleName}`);
  /** @param {unknown} value */
  const report = (value) => send({ report: value });
  const result = await role(subject, JSON.parse(options), report);
  const rssMb = Math.round(process.resourceUsage().maxRSS / 1024);
  const { user, system } = process.cpuUsage();
  await send({ result: { ...result, rssMb, version: subject.version() }, cpuUs: user + system });
  process.exit(0);
} catch (error) {
  await send({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  process.exit(1);
}
