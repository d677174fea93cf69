/** Incidents: what is wrong and somebody is at work on. A capability with an open one is degraded. */
import { readJson } from '../database/gate.js';
import { isUuid } from '../database/uuid.js';
import { WritRefusal } from '../errors/index.js';
import { refuseSecrets } from '../secrets/redaction.js';
import { type ActingHost, type In, put } from './actor.js';

export type Severity = 'P1' | 'P2' | 'P3';

export interface NewIncident {
  /** What is wrong. */
  readonly summary: string;
  /** What is affected: it is degraded until the incident is resolved. */
  readonly capability?: string;
  /** P2 unless given. */
  readonly severity?: Severity;
}

/** An incident, as the view `incident` has it. */
export interface Incident {
  readonly incident_id: string;
  readonly tenant_id: string;
  readonly capability: string | null;
  readonly severity: Severity;
  /** What it is about: `capability/…`, `tenant/…`, or the job whose rollback has failed, `governance_job/…`. */
  readonly subject: string;
  readonly summary: string;
  readonly opened_by: string;
  readonly opened_at: string;
  readonly resolved_by: string | null;
  readonly resolved_at: string | null;
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

  /** Says that it is in order again, and how, in more than ten characters. What a failed rollback holds is free then. */
  async resolve(
    id: string,
    { resolution, ...options }: In & { readonly resolution: string },
  ): Promise<void> {
    if (!isUuid(id)) throw new WritRefusal('incident_not_found', id);
    refuseSecrets(resolution, 'the resolution');
    await put(this.#host, 'fn_incident_put', { incident_id: id, resolution }, options);
  }

  /** Open ones, the worst first; with `all`, resolved ones after them. 50 at most unless `limit` says otherwise. */
  list({
    tenant,
    all = false,
    limit = 50,
  }: {
    readonly tenant?: string;
    readonly all?: boolean;
    readonly limit?: number;
  } = {}): Promise<Incident[]> {
    return readJson<Incident>(
      this.#host.db,
      `select * from writ.incident where ($1::text::boolean or resolved_at is null) and tenant_id = coalesce($2, tenant_id)
       order by resolved_at is not null, case when resolved_at is null then severity end, opened_at desc limit $3::text::integer`,
      [String(all), tenant ?? null, String(limit)],
    );
  }
}
