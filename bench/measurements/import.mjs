// @ts-check
// Imports one module in a fresh process, and prints the processor time of the whole process, or the
// number of files that were loaded. Counting slows the import down, so it is a run of its own.
import { registerHooks } from 'node:module';

const [, , module = '', flag] = process.argv;
let files = 0;
if (flag === '--count-files') {
  registerHooks({
    load(url, context, next) {
      if (url.startsWith('file:')) files += 1;
      return next(url, context);
    },
  });
}
await import(module);
const { userCPUTime, systemCPUTime } = process.resourceUsage();
console.log(JSON.stringify({ cpuMs: (userCPUTime + systemCPUTime) / 1000, files }));
