/** Settings: values in the database that hold for all processes and tenants. */
import { type Acting, act, actorOf, type Host } from '../database/acting.js';
import { type Page, type PageOptions, readPage } from '../database/listing.js';
import { WritRefusal } from '../errors/index.js';

export interface Setting {
  readonly key: string;
  readonly value: unknown;
  readonly description: string;
  readonly updatedAt: string;
  readonly updatedBy: string;
}

export interface ChangedSetting extends Pick<Setting, 'key' | 'value'> {
  readonly was: unknown;
}

export class Settings {
  readonly #host: Host;

  constructor(host: Host) {
    this.#host = host;
  }

  /** By key. */
  list(options: PageOptions = {}): Promise<Page<Setting>> {
    return this.#read(undefined, options);
  }

  async get(key: string): Promise<Setting> {
    const [setting] = (await this.#read(key, { limit: 1 })).items;
    if (!setting) throw new WritRefusal('unknown_setting', key);
    return setting;
  }

  #read(key: string | undefined, page: PageOptions): Promise<Page<Setting>> {
    return readPage<Setting>(
      this.#host.db,
      {
        columns: `key, value, description, updated_at as "updatedAt", updated_by as "updatedBy"`,
        from: 'writ.dot_config',
        where: [['key = ?', key]],
        key: [['key', 'text']],
        order: 'asc',
      },
      page,
    );
  }

  /** Changes a setting from now on, for everybody. The new value has the type of the old one. */
  set(key: string, value: unknown, options: Acting = {}): Promise<ChangedSetting> {
    return act<ChangedSetting>(
      this.#host,
      'fn_setting_set($1, $2::text::jsonb, $3)',
      // A value that JSON does not have is refused for its type.
      [key, JSON.stringify(value) ?? 'null', actorOf(this.#host, options)],
      options,
    );
  }
}
