/**
 * Incidents: what is wrong and somebody is at work on. A capability with an open one is degraded.
 */
import { readJson } from '../database/gate.js';
import { type Page, type PageOptions, readPage } from '../database/listing.js';
import { isUuid } from '../database/uuid.js';
import { WritRefusal } from '../errors/index.js';
import { refuseSecrets } from '../secrets/redaction.js';
import { type ActingHost, type In, put, type Reading, tenantRead } from './actor.js';

export type Severity = 'P1' | 'P2' | 'P3';

export interface NewIncident {
  /** What is wrong. */
  readonly summary: string;
  /** What is affected: it is degraded until the incident is resolved. */
  readonly capability?: string | undefined;
  /** P2 unless given. */
  readonly severity?: Severity | undefined;
}

/** An incident, as the view `incident` has it. */
export interface Incident {
  readonly incidentId: string;
  readonly tenant: string;
  readonly capability: string | null;
  readonly severity: Severity;
  /**
   * What it is about: `capability/…`, `tenant/…`, or the job whose rollback has failed,
   * `governance_job/…`.
   */
  readonly subject: string;
  readonly summary: string;
  readonly openedBy: string;
  readonly openedAt: string;
  readonly resolvedBy: string | null;
  readonly resolvedAt: string | null;
  readonly resolution: string | null;
}

export class Incidents {
  readonly #host: ActingHost;

  constructor(host: ActingHost) {
    this.#host = host;
  }

  /** Opens an incident and answers its id. */
  async open(incident: NewIncident, options: In = {}): Promise<string> {
    refuseSecrets(incident.summary, 'the summary');
    const { summary, capability, severity } = incident;
    return (
      await put<{ incident_id: string }>(
        this.#host,
        'fn_incident_put',
        { summary, capability, severity },
        options,
      )
    ).incident_id;
  }

  /**
   * Says that it is in order again, and how, in more than ten characters. What a failed rollback
   * holds is free then.
   */
  async resolve(
    id: string,
    { resolution, ...options }: In & { readonly resolution: string },
  ): Promise<void> {
    if (!isUuid(id)) throw new WritRefusal('incident_not_found', id);
    refuseSecrets(resolution, 'the resolution');
    await put(this.#host, 'fn_incident_put', { incident_id: id, resolution }, options);
  }

  /** Open ones, the worst first and then the oldest; with `all`, every one, the newest first. */
  list(
    filter: Reading & PageOptions & { readonly all?: boolean | undefined } = {},
  ): Promise<Page<Incident>> {
    const { all } = filter;
    return readPage<Incident>(
      this.#host.db,
      {
        columns,
        from: 'writ.incident i',
        where: [
          ...(all ? [] : [['i.resolved_at is null', null] as const]),
          ['i.tenant_id = ?', tenantRead(this.#host, filter)],
        ],
        key: all
          ? [['i.incident_id', 'uuid']]
          : [
              ['i.severity', 'text'],
              ['i.incident_id', 'uuid'],
            ],
        order: all ? 'desc' : 'asc',
      },
      filter,
    );
  }

  async get(id: string, options: Reading = {}): Promise<Incident> {
    const [found] = isUuid(id)
      ? await readJson<Incident>(
          this.#host.db,
          `select ${columns} from writ.incident i
           where i.incident_id = $1 and i.tenant_id = coalesce($2, i.tenant_id)`,
          [id, tenantRead(this.#host, options) ?? null],
        )
      : [];
    if (!found) throw new WritRefusal('incident_not_found', id);
    return found;
  }
}

const columns = `i.incident_id as "incidentId", i.tenant_id as tenant, i.capability, i.severity,
  i.subject, i.summary, i.opened_by as "openedBy", i.opened_at as "openedAt",
  i.resolved_by as "resolvedBy", i.resolved_at as "resolvedAt", i.resolution`;
