/**
 * Freezes: times in which no contract of a tenant is activated, unless somebody breaks the glass.
 */
import { type Page, type PageOptions, readPage } from '../database/listing.js';
import { isUuid } from '../database/uuid.js';
import { WritRefusal } from '../errors/index.js';
import { refuseSecrets } from '../secrets/redaction.js';
import { type ActingHost, type In, put, type Reading, tenantRead } from './actor.js';

export interface NewFreeze {
  /** Why, for those who are refused. */
  readonly reason: string;
  /** When it begins; at once unless given. */
  readonly from?: Date | undefined;
  /** When it ends by itself; when it is lifted unless given. */
  readonly until?: Date | undefined;
}

/** A freeze, as the view `change_freeze` has it. */
export interface Freeze {
  readonly freeze_id: string;
  readonly tenant_id: string;
  readonly reason: string;
  readonly begins_at: string;
  readonly ends_at: string | null;
  readonly put_by: string;
  readonly lifted_at: string | null;
  readonly lifted_by: string | null;
  /** Whether it keeps contracts from being activated now. */
  readonly lasts: boolean;
}

export class Freezes {
  readonly #host: ActingHost;

  constructor(host: ActingHost) {
    this.#host = host;
  }

  /** Freezes a tenant, at once or by calendar; what runs goes on. Answers the freeze's id. */
  async put({ reason, from, until }: NewFreeze, options: In = {}): Promise<string> {
    refuseSecrets(reason, 'the reason');
    const { freeze_id } = await put<{ freeze_id: string }>(
      this.#host,
      'fn_freeze_put',
      { reason, begins_at: from?.toISOString(), ends_at: until?.toISOString() },
      options,
    );
    return freeze_id;
  }

  /** Ends a freeze before its time. */
  async lift(id: string, options: In = {}): Promise<void> {
    if (!isUuid(id)) throw new WritRefusal('freeze_not_found', id);
    await put(this.#host, 'fn_freeze_put', { freeze_id: id }, options);
  }

  /** Those that last and those to come, by their beginning. */
  list(filter: Reading & PageOptions = {}): Promise<Page<Freeze>> {
    return readPage<Freeze>(
      this.#host.db,
      {
        columns: 'f.*',
        from: 'writ.change_freeze f',
        where: [
          ['f.lifted_at is null', null],
          ['(f.ends_at is null or f.ends_at > writ.now())', null],
          ['f.tenant_id = ?', tenantRead(this.#host, filter)],
        ],
        key: [
          ['f.begins_at', 'timestamptz'],
          ['f.freeze_id', 'uuid'],
        ],
        order: 'asc',
      },
      filter,
    );
  }
}
