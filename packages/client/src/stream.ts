/**
 * Server-sent events over fetch: EventSource cannot send an Authorization header. A stream that
 * breaks off goes on after the last event that was read, so none is missing and none comes twice.
 */
import {
  type ClientOptions,
  type Event,
  mayHelp,
  pause,
  type Request,
  respond,
  waitOf,
} from './call.js';
import type { Known } from './operations.js';

export async function* follow(
  client: ClientOptions,
  known: Known,
  request: Request,
): AsyncGenerator<Event<unknown>, void, void> {
  const { signal } = request.options;
  let after = (request.given as { readonly after?: string } | undefined)?.after;
  for (let failed = 0; !signal?.aborted; ) {
    try {
      const given = { ...(request.given as object | undefined), after: undefined };
      const answer = await respond(client, known, { ...request, given }, '', after);
      for await (const event of eventsOf(answer)) {
        failed = 0;
        after = event.id;
        yield event;
      }
      return; // The server has said all there is.
    } catch (error) {
      if (signal?.aborted) return;
      if (!mayHelp(error)) throw error;
      await pause(waitOf(error, ++failed), signal).catch(() => undefined);
    }
  }
}

/** The events in the body of an answer. A body that breaks off throws. */
async function* eventsOf({ body }: Response): AsyncGenerator<Event<unknown>, void, void> {
  if (!body) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += value;
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const event = eventOf(block);
        if (event) yield event;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** A block of lines as an event; a comment, which keeps proxies from ending the stream, is none. */
function eventOf(block: string): Event<unknown> | undefined {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    const [, name, value = ''] = /^(\w+):(?: ?)(.*)$/.exec(line) ?? [];
    if (name) fields.set(name, fields.has(name) ? `${fields.get(name)}\n${value}` : value);
  }
  const data = fields.get('data');
  const id = fields.get('id');
  return data === undefined || id === undefined
    ? undefined
    : { id, event: fields.get('event'), data: JSON.parse(data) as unknown };
}
