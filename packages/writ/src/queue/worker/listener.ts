/**
 * Hears wake-ups. A notification only makes the worker look sooner than its next poll, so a lost
 * one costs a moment and nothing else: after every (re)connection the worker is told to look,
 * because nobody knows what was missed.
 */
import pg from 'pg';

export interface ListenerOptions {
  readonly connection: pg.ClientConfig;
  readonly channels: readonly string[];
  readonly onWake: (channel: string, payload: string) => void;
  readonly onConnected: () => void;
  readonly onError: (error: Error) => void;
}

export class Listener {
  readonly #options: ListenerOptions;
  #client: pg.Client | undefined;
  #retry: NodeJS.Timeout | undefined;
  #delay = 100;
  #stopped = false;

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { connection, channels, onWake, onConnected, onError } = this.#options;
    const client = new pg.Client(connection);
    const lost = (error?: Error) => {
      if (this.#client !== client) return;
      this.#client = undefined;
      if (error && !this.#stopped) onError(error);
      this.#reconnect();
    };
    client.on('error', lost);
    client.on('end', () => lost());
    client.on('notification', (message) => onWake(message.channel, message.payload ?? ''));
    try {
      this.#client = client;
      await client.connect();
      await client.query(
        channels.map((channel) => `listen ${pg.escapeIdentifier(channel)}`).join('; '),
      );
      this.#delay = 100;
      onConnected();
    } catch (error) {
      await client.end().catch(() => undefined);
      lost(error as Error);
    }
  }

  #reconnect(): void {
    if (this.#stopped) return;
    this.#retry = setTimeout(() => void this.start(), this.#delay);
    this.#delay = Math.min(this.#delay * 2, 5_000);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#retry);
    await this.#client?.end().catch(() => undefined);
  }
}
