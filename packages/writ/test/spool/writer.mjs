// @ts-check
// Appends numbers to a spool until it is killed, and tells its parent of each that is on the disk.
import { Spool } from '../../dist/spool/spool.js';

const { folder, name } = JSON.parse(String(process.env.WRIT_SPOOL));
process.on('disconnect', () => process.exit(3));
if (!process.connected) process.exit(3);

const spool = new Spool(folder);
for (let n = 1; ; n++) {
  await spool.append({ name, n });
  await new Promise((done) => process.send?.(n, undefined, undefined, done));
}
