/**
 * A client of Writ's API server. Its methods are the server's operations, by layer:
 * `client.contracts.get(id)`. Parameters of the path come first, then the query or the body.
 */
import { type ActOptions, type CallOptions, type ClientOptions, type Event, send } from './call.js';
import { known, type Operations } from './operations.js';
import { follow } from './stream.js';

export type * from './operations.js';
export { Problem } from './problem.js';
export type { ActOptions, CallOptions, ClientOptions, Event, Operations };

export function writClient(options: ClientOptions): Operations {
  const layers: Record<string, Record<string, unknown>> = {};
  for (const [id, operation] of Object.entries(known)) {
    const [layer, verb] = id.split('.') as [string, string];
    const [kind, , path, takes] = operation;
    const params = path.match(/:\w+/g)?.length ?? 0;
    const last = takes === 'nothing' ? params : params + 1;
    const call = (...given: unknown[]) => {
      const request = {
        params: given.slice(0, params).map(String),
        given: takes === 'nothing' ? undefined : given[params],
        options: (given[last] ?? {}) as ActOptions,
      };
      return kind === 'stream'
        ? follow(options, operation, request)
        : send(options, operation, request);
    };
    layers[layer] = { ...layers[layer], [verb]: call };
  }
  return layers as unknown as Operations;
}
