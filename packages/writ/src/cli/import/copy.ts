/**
 * The copying. A cursor on a connection of its own walks the waiting jobs in the source's order; each page of at most 1,000 is then read again as
 * it stands by now, and enqueued in one call. With `remove`, the source's rows are locked (a worker of the source passes over them), enqueued and
 * deleted in one transaction: a job is on one side or on the other, at every moment and after every crash. Without it a crash can leave a page
 * copied that nobody heard of; it is met again by its key.
 *
 * A copy is known by its key and by its source_ref, which says which job of the source it was and in which version. A key that is there with
 * another source_ref stands for another job: nothing is copied then, and nothing deleted.
 */
import { createHash } from 'node:crypto';
import { uuidv7 } from '../../database/uuid.js';
import { asRefusal, WritRefusal } from '../../errors/index.js';
import type { Session } from '../connection.js';
import type { Source } from './source.js';

export interface CopyOptions {
  readonly source: Source;
  /** Where the source's schema is: the session of the cursor, and one for reading pages, which with `remove` is the target. */
  readonly walker: Session;
  readonly reader: Session;
  readonly target: Session;
  /** Names in the source, and the kinds they become. */
  readonly kinds: ReadonlyMap<string, string>;
  readonly tenant: string | undefined;
  readonly limit: number | undefined;
  readonly remove: boolean;
  readonly actor: string;
  readonly onPage: (seen: number) => void;
}

export interface Trouble {
  readonly name: string;
  readonly id: string;
  /** A code of the registry, or key_taken. */
  readonly reason: string;
  readonly message: string;
}

export interface CopyResult {
  copied: number;
  /** An earlier import had copied it. */
  already: number;
  /** Begun, ended or changed by the source since the walk began. */
  gone: number;
  deleted: number;
  readonly troubles: Trouble[];
}

interface Place {
  readonly name: string;
  readonly id: string;
}

interface Waiting extends Place {
  /** As text: JSON has no infinity, and a parked job may be due then. */
  readonly due_at: string;
  readonly priority: number;
  readonly attempts: number;
  readonly key: string | null;
  readonly input: string | null;
  readonly identity: string;
  readonly version: string;
}

/** The gate's, about a page. */
interface Answer {
  readonly duplicates: readonly {
    readonly index: number;
    readonly job_id: string;
    readonly same_payload: boolean;
  }[];
  readonly refused: readonly {
    readonly index: number;
    readonly reason: string;
    readonly detail?: string;
  }[];
}

const page = { jobs: 1000, bytes: 4_000_000 };

export async function copyJobs(options: CopyOptions): Promise<CopyResult> {
  const result: CopyResult = { copied: 0, already: 0, gone: 0, deleted: 0, troubles: [] };
  let seen = 0;
  for await (const places of walk(options)) {
    await (options.remove
      ? inTransaction(options.target, () => copyPage(options, places, result))
      : copyPage(options, places, result));
    seen += places.length;
    options.onPage(seen);
  }
  return result;
}

/** Pages of places, in the source's order, from one look at it. */
async function* walk({ source, walker, kinds, limit }: CopyOptions): AsyncGenerator<Place[]> {
  await walker.rows('begin read only');
  try {
    // It stands still while a page is on its way.
    await walker.rows('set local idle_in_transaction_session_timeout = 0');
    await walker.rows(
      `declare waiting no scroll cursor for select ${source.name} as name, ${source.id} as id, ${source.size} as size
       from ${source.from} where ${source.unfinished} and (${source.left}) is null and ${source.name} = any ($1)
       order by ${source.order} limit $2`,
      [[...kinds.keys()], limit ?? null],
    );
    for (;;) {
      const rows = await walker.rows<Place & { size: number | null }>(
        `fetch ${page.jobs} from waiting`,
      );
      if (rows.length === 0) return;
      let start = 0;
      let bytes = 0;
      for (const [index, row] of rows.entries()) {
        bytes += row.size ?? 0;
        if (index > start && bytes > page.bytes) {
          yield rows.slice(start, index);
          start = index;
          bytes = row.size ?? 0;
        }
      }
      yield rows.slice(start);
    }
  } finally {
    await walker.rows('rollback');
  }
}

async function inTransaction(db: Session, use: () => Promise<void>): Promise<void> {
  await db.rows('begin');
  try {
    await use();
    await db.rows('commit');
  } catch (error) {
    await db.rows('rollback').catch(() => undefined); // the first error says what happened
    throw error;
  }
}

async function copyPage(
  options: CopyOptions,
  places: readonly Place[],
  result: CopyResult,
): Promise<void> {
  const { source, reader, target, remove, actor } = options;
  const found = await reader.rows<Waiting>(
    `select ${source.name} as name, ${source.id} as id, to_json(${source.dueAt}) #>> '{}' as due_at, (${source.priority})::integer as priority,
       (${source.attemptsLeft})::integer as attempts, ${source.key} as key, ${source.input} as input, ${source.identity} as identity,
       concat_ws('|', extract(epoch from ${source.dueAt}), ${source.priority}, ${source.attemptsLeft}, ${source.revision}) as version
     from ${source.from} where ${source.among} and ${source.unfinished} and (${source.left}) is null
     ${remove ? 'for update of j skip locked' : ''}`,
    columns(places),
  );
  result.gone += places.length - found.length;
  // In the walk's order again: that is the order in which they will run.
  const rank = new Map(places.map(({ name, id }, index) => [`${id} ${name}`, index]));
  const waiting = found.sort(
    (a, b) => (rank.get(`${a.id} ${a.name}`) ?? 0) - (rank.get(`${b.id} ${b.name}`) ?? 0),
  );
  const storable = waiting.filter((job) => {
    if (job.input === null || !hasUnstorableText(job.input)) return true;
    result.troubles.push(trouble(job, new WritRefusal('invalid_text', `the input of ${job.name}`)));
    return false;
  });
  if (storable.length === 0) return;
  // Refused as a whole, as when the queue is switched off, it throws.
  const answer = await target.gate<Answer>('fn_job_enqueue_many($1::text::jsonb, $2)', [
    `[${storable.map((job) => toItem(job, options)).join(',')}]`,
    actor,
  ]);
  const done = await sortOut(options, storable, answer, result);
  if (!remove || done.length === 0) return;
  await reader.rows(`delete from ${source.table} where ${source.among}`, columns(done));
  result.deleted += done.length;
}

const columns = (places: readonly Place[]): [string[], string[]] => [
  places.map(({ name }) => name),
  places.map(({ id }) => id),
];

/** Counts each outcome, and answers the jobs that stand in Writ: copied now, or by an earlier import. */
async function sortOut(
  options: CopyOptions,
  jobs: readonly Waiting[],
  answer: Answer,
  result: CopyResult,
): Promise<Waiting[]> {
  const refused = new Map(
    answer.refused.map((each) => [each.index, asRefusal(each.reason, each.detail)]),
  );
  const duplicates = new Map(answer.duplicates.map((each) => [each.index, each]));
  const refs = await sourceRefs(
    options.target,
    answer.duplicates.map((each) => each.job_id),
  );
  return jobs.filter((job, index) => {
    const refusal = refused.get(index);
    const duplicate = duplicates.get(index);
    if (refusal) result.troubles.push(trouble(job, refusal));
    else if (!duplicate) result.copied++;
    else if (duplicate.same_payload && refs.get(duplicate.job_id) === sourceRef(job, options))
      result.already++;
    else {
      const message = `Its key stands for job ${duplicate.job_id}, which is another, or this one as it was before it changed.`;
      result.troubles.push({ name: job.name, id: job.id, reason: 'key_taken', message });
      return false;
    }
    return !refusal;
  });
}

/** Where the jobs that were there already come from. */
async function sourceRefs(
  db: Session,
  ids: readonly string[],
): Promise<Map<string, string | null>> {
  if (ids.length === 0) return new Map();
  const rows = await db.rows<{ job_id: string; source_ref: string | null }>(
    'select job_id, source_ref from writ.job_queue where job_id = any ($1::uuid[])',
    [ids],
  );
  return new Map(rows.map(({ job_id, source_ref }) => [job_id, source_ref]));
}

const trouble = ({ name, id }: Place, { code, message }: WritRefusal): Trouble => ({
  name,
  id,
  reason: code,
  message,
});

const sourceRef = (job: Waiting, { source }: CopyOptions): string =>
  `${source.system}:${job.identity}#${createHash('sha256').update(job.version).digest('hex').slice(0, 16)}`;

/** The job as the gate takes it. The input goes in as the text it is: numbers larger than JavaScript's stay what they are. */
function toItem(job: Waiting, options: CopyOptions): string {
  const rest = JSON.stringify({
    id: uuidv7(),
    kind: options.kinds.get(job.name),
    key: job.key ?? `import:${options.source.system}:${job.identity}`,
    tenant: options.tenant,
    priority: job.priority,
    process_after: job.due_at,
    max_attempts: job.attempts,
    source_ref: sourceRef(job, options),
  });
  return job.input === null ? rest : `${rest.slice(0, -1)},"input":${job.input}}`;
}

/** Whether a JSON text has an escape for NUL or for half of a surrogate pair: the type json takes them, jsonb does not. */
function hasUnstorableText(json: string): boolean {
  if (!json.includes('\\u')) return false;
  const escapes = json
    .replaceAll('\\\\', '')
    .replace(/\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}/gi, '');
  return /\\u(?:0000|d[89a-f])/i.test(escapes);
}
