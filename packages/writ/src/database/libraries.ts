/**
 * Libraries whose objects are easily taken for a transaction, recognised by their methods, and the
 * lines that make a transaction of each that Writ can use. docs/start.md shows the same lines.
 */

export interface Lines {
  readonly text: string;
  /** Whether this object cannot be used even inside a transaction. */
  readonly always: boolean;
}

interface Library extends Lines {
  readonly is: (db: Record<string, unknown>) => boolean;
}

const isFunction = (value: unknown): boolean => typeof value === 'function';

const libraries: readonly Library[] = [
  {
    is: (db) => isFunction(db.$queryRawUnsafe),
    always: true,
    text: `this object is Prisma's; wrap its transaction:
  await prisma.$transaction(async (tx) => {
    const db = { query: (sql, params = []) => tx.$queryRawUnsafe(sql, ...params) };
    await writ.enqueue(job, input, { db });
  });`,
  },
  {
    is: (db) => isFunction(db.getTransactionContext),
    always: true,
    text: `this object is MikroORM's; give its transaction context:
  await em.transactional(async (em) => {
    const db = em.getTransactionContext(); // MikroORM 6: await em.getTransactionContext().client.acquireConnection()
    await writ.enqueue(job, input, { db });
  });`,
  },
  {
    is: (db) => isFunction(db.getDialect) || isFunction(db.afterCommit),
    always: true,
    text: `this object is Sequelize's; wrap its transaction:
  await sequelize.transaction(async (transaction) => {
    const db = { query: (sql, bind = []) => sequelize.query(sql, { bind, transaction, type: 'SELECT' }) };
    await writ.enqueue(job, input, { db });
  });`,
  },
  {
    is: (db) => isFunction(db.createQueryBuilder) || typeof db.isTransactionActive === 'boolean',
    always: false,
    text: `this object is TypeORM's; give the manager of a transaction:
  await dataSource.transaction(async (manager) => {
    await writ.enqueue(job, input, { db: manager });
  });`,
  },
];

/** The lines for the library that this object belongs to, if any of it is recognised. */
export function linesFor(connection: object): Lines | undefined {
  return libraries.find(({ is }) => is(connection as Record<string, unknown>));
}
