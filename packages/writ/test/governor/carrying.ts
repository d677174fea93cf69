/**
 * Workers that carry actions out, a table in which what they report is written down with the commit
 * of the job, and a service that answers as a test wants.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach } from 'vitest';
import { uuidv7 } from '../../src/database/uuid.js';
import type { ActionKind } from '../../src/governor/actuators/handler.js';
import type { ActionJob, Report, Reporter } from '../../src/governor/actuators/job.js';
import { type ActuatorsHost, actuators } from '../../src/governor/actuators.js';
import type { Result } from '../../src/governor/events.js';
import type { Doing } from '../../src/governor/policy-document.js';
import type { HandledJob, Worker, Writ } from '../../src/index.js';
import type { Scene } from '../governance/scene.js';
import { until } from '../races/sessions.js';

export interface Told {
  readonly jobId: string;
  readonly report: { readonly result?: Result; readonly acknowledged?: string };
}

export interface Carrying {
  /** Starts a worker; `governance` also executes contracts. */
  work(options?: {
    actions?: readonly ActionKind[];
    host?: Partial<ActuatorsHost>;
    governance?: true;
    writ?: Writ;
  }): Promise<Worker>;
  /** Enqueues an attempt and answers its job. */
  send(doing: Partial<Doing>, input?: Partial<ActionJob>): Promise<string>;
  /** What was reported about an attempt. */
  told(jobId: string): Promise<Told['report']>;
  /** Sends, and waits for the report. */
  done(doing: Partial<Doing>, input?: Partial<ActionJob>): Promise<Told['report']>;
  reports(): Promise<Told[]>;
}

/** What is reported is written in the transaction of the commit, as a governor's mailbox is. */
const reporter: Reporter = {
  // There is no governor.
  begin: async () => {},
  late: async () => {},
  result: async (context, result) => {
    await context.commitBy('fn_governor_commit', (tx) =>
      tx.query('insert into told values ($1, $2)', [context.job.id, { result }]),
    );
  },
  effect: async (context, effect) => {
    await context.commitBy('fn_governor_commit', async (tx) => {
      const report: Report = await effect(tx);
      await tx.query('insert into told values ($1, $2)', [context.job.id, report]);
    });
  },
};

export function carrying(s: Scene): Carrying {
  const table = () => s.sql('create table if not exists told (job_id uuid, report jsonb)');
  const reports = async (): Promise<Told[]> => {
    await table();
    return s.sql<Told>('select job_id as "jobId", report from told');
  };
  const told: Carrying['told'] = async (jobId) => {
    let found: Told | undefined;
    await until(async () => {
      found = (await reports()).find((one) => one.jobId === jobId);
      return found !== undefined;
    });
    return (found as Told).report;
  };
  const jobsOf = (
    actions: readonly ActionKind[] = [],
    host: Partial<ActuatorsHost> = {},
  ): HandledJob[] =>
    actuators(
      {
        contracts: s.writ.contracts,
        as: s.keys.service,
        reporter,
        reach: { allowHttp: true, allowPrivate: true },
        ...host,
      },
      actions,
    );
  const send: Carrying['send'] = async (doing, input = {}) => {
    await table();
    const full: Doing = {
      action_type: 'scale_up_cloud_run',
      actuator: { kind: 'handler' },
      service: 'service',
      target: 'catalog',
      permission: 'run.services.update',
      parameters: {},
      ...doing,
    };
    const { kind } = full.actuator;
    const job = kind === 'handler' ? `governor.handler.${full.action_type}` : `governor.${kind}`;
    const now = Date.now();
    const action_id = input.action_id ?? randomUUID();
    const job_ = {
      governor_id: randomUUID(),
      tenant: 'default',
      attempt: 1,
      kind: 'action',
      due_at: now + 20_000,
      now,
      idempotency_key: `key-${action_id}`,
    } as const;
    const made = { ...job_, ...input, action_id, doing: full };
    // Nobody but a governor enqueues these: here its part is played by the owner of the database.
    await s.sql(
      'insert into writ_data.job_kind (job_kind, max_attempts, timeout_s, registered_by) values ($1, 1, 60, $2) on conflict do nothing',
      [job, 'test'],
    );
    const id = uuidv7();
    await s.sql('select writ_data.enqueue_alike($1, array[$2::uuid], $3, $4, $5)', [
      job,
      id,
      JSON.stringify([made]),
      'test',
      made.tenant,
    ]);
    return id;
  };
  return {
    async work({ actions, host, governance, writ = s.writ } = {}) {
      await table();
      return writ.work(jobsOf(actions, host), {
        ...(governance && { governance }),
        poll: '20ms',
        concurrency: 10,
      });
    },
    send,
    told,
    done: async (doing, input) => told(await send(doing, input)),
    reports,
  };
}

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface Service {
  readonly url: string;
  readonly asked: Asked[];
  /** Requests that ended without an answer, because whoever asked had gone. */
  readonly abandoned: string[];
  close(): Promise<void>;
}

/** A service on this machine; it ends with the test. */
export function services(): (
  answer: (asked: Asked, response: ServerResponse) => void,
) => Promise<Service> {
  const open: Service[] = [];
  afterEach(async () => {
    for (const service of open.splice(0)) await service.close();
  });
  return async (answer) => {
    const asked: Asked[] = [];
    const abandoned: string[] = [];
    const server = createServer(async (request, response) => {
      response.once('close', () => {
        if (!response.writableFinished) abandoned.push(String(request.url));
      });
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const one = {
        method: String(request.method),
        path: String(request.url),
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      };
      asked.push(one);
      answer(one, response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const close = async () => {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    };
    const service = {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      asked,
      abandoned,
      close,
    };
    open.push(service);
    return service;
  };
}
