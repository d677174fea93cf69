/** Alerts: conditions that want a person. The database raises them; a person clears them. */
import { type Acting, act, actorOf, type Host, tenantOf } from '../database/acting.js';
import { type Page, type PageOptions, readPage } from '../database/listing.js';
import { isUuid } from '../database/uuid.js';
import { WritRefusal } from '../errors/index.js';
import { refuseSecrets } from '../secrets/redaction.js';

export interface Alert {
  readonly alertId: string;
  readonly code: string;
  readonly severity: 'P1' | 'P2' | 'P3';
  /** Null: of the deployment. */
  readonly tenant: string | null;
  /** What it is about: `run/…`, `destination/…`, `job_kind/…`. */
  readonly subject: string;
  readonly detail: Readonly<Record<string, unknown>>;
  readonly raisedAt: string;
  readonly clearedAt: string | null;
  readonly clearedBy: string | null;
}

export interface AlertFilter extends PageOptions {
  readonly tenant?: string | undefined;
  readonly code?: string | undefined;
  /** Cleared ones, too. */
  readonly all?: boolean | undefined;
}

export interface ClearedAlert extends Pick<Alert, 'alertId' | 'code' | 'subject'> {
  /** It was cleared before. */
  readonly duplicate: boolean;
}

export class Alerts {
  readonly #host: Host;

  constructor(host: Host) {
    this.#host = host;
  }

  /** Alerts that stand, the newest first. */
  list({ code, all = false, ...options }: AlertFilter = {}): Promise<Page<Alert>> {
    return readPage<Alert>(
      this.#host.db,
      {
        columns: `alert_id as "alertId", code, severity, tenant_id as tenant, subject, detail,
          raised_at as "raisedAt", cleared_at as "clearedAt", cleared_by as "clearedBy"`,
        from: 'writ.alert',
        where: [
          ['tenant_id = ?', tenantOf(this.#host, options)],
          ['code = ?', code],
          ['cleared_at is null', all ? undefined : true],
        ],
        key: [['alert_id', 'uuid']],
      },
      options,
    );
  }

  /** Clears an alert after somebody has dealt with its cause. `reason` says how. */
  async clear(
    id: string,
    { reason, ...options }: Acting & { readonly reason: string },
  ): Promise<ClearedAlert> {
    if (!isUuid(id)) throw new WritRefusal('alert_not_found', id);
    refuseSecrets(reason, 'the reason');
    const { code, subject, duplicate } = await act<ClearedAlert>(
      this.#host,
      'fn_alert_clear($1, $2, $3)',
      [id, reason, actorOf(this.#host, options)],
      options,
    );
    return { alertId: id, code, subject, duplicate };
  }
}
