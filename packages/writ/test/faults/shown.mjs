// @ts-check
// The preview of a contract once appliers have read everything outside the database: in a fault run
// they may be dead for a while.
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * @param {import('../../dist/index.js').Contract} contract
 * @param {import('../../dist/index.js').PreviewOptions} options
 */
export async function shown(contract, options) {
  for (let tries = 1; ; tries++) {
    const preview = await contract.preview({ timeoutMs: 60_000, ...options });
    const unread = preview.outside.filter(({ read_at, code }) => !read_at || code);
    if (unread.length === 0) return preview;
    if (tries === 600) throw new Error(`not read: ${JSON.stringify(unread)}`);
    // Nobody has answered, or the read has failed: ask again.
    if (unread.every(({ open }) => !open)) await contract.read(options);
    await sleep(200);
  }
}
