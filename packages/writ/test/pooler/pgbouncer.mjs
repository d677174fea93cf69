// @ts-check
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

/**
 * Where pgbouncer is, if it is: Debian puts it where an ordinary user's PATH does not lead.
 * @returns {string | undefined}
 */
export function pgbouncerBinary() {
  return [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/usr/local/sbin']
    .map((folder) => join(folder, 'pgbouncer'))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}
