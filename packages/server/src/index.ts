/** `@writ/server`: the API server. */
export { type MountOptions, mount } from './mount.js';
export { openApi } from './openapi.js';
export type { Operation } from './operation.js';
export { operations } from './operations.js';
export { type ServerOptions, writServer } from './server.js';
