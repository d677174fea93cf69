// Prisma's client for the model `Order { id String @id @@map("orders") }`: what `prisma generate`
// writes, without the types. It is kept here because the generator comes with the package `prisma`,
// whose installation downloads an engine. Client, query compiler and adapter are Prisma's own;
// after an update of @prisma/client, generate again and copy `config`.
import { getPrismaClient } from '@prisma/client/runtime/client';

/** @type {any} */
const config = {
  previewFeatures: [],
  clientVersion: '7.10.0',
  engineVersion: '0edf323efd1d98336f3f0a68684b56f689b900d3',
  activeProvider: 'postgresql',
  inlineSchema: `generator client {
  provider = "prisma-client"
  output   = "../generated/prisma"
}

datasource db {
  provider = "postgresql"
}

model Order {
  id String @id

  @@map("orders")
}
`,
  runtimeDataModel: {
    models: {
      Order: {
        fields: [{ name: 'id', kind: 'scalar', type: 'String' }],
        dbName: 'orders',
        schema: null,
      },
    },
    enums: {},
    types: {},
  },
  parameterizationSchema: {
    strings: [
      'where',
      'Order.findUnique',
      'Order.findUniqueOrThrow',
      'orderBy',
      'cursor',
      'Order.findFirst',
      'Order.findFirstOrThrow',
      'Order.findMany',
      'data',
      'Order.createOne',
      'Order.createMany',
      'Order.createManyAndReturn',
      'Order.updateOne',
      'Order.updateMany',
      'Order.updateManyAndReturn',
      'create',
      'update',
      'Order.upsertOne',
      'Order.deleteOne',
      'Order.deleteMany',
      'having',
      '_count',
      '_min',
      '_max',
      'Order.groupBy',
      'Order.aggregate',
      'AND',
      'OR',
      'NOT',
      'id',
      'equals',
      'in',
      'notIn',
      'lt',
      'lte',
      'gt',
      'gte',
      'contains',
      'startsWith',
      'endsWith',
      'not',
      'set',
    ],
    graph:
      'JAkQBBoAAB8AMBsAAAQAEBwAAB8AMB0BAAAAAQEAAAABACABAAAAAQAgBBoAAB8AMBsAAAQAEBwAAB8AMB0BACAAIQADAAAABAAgAwAABQAwBAAAAQAgAwAAAAQAIAMAAAUAMAQAAAEAIAMAAAAEACADAAAFADAEAAABACABHQEAAAABAQgAAAkAIAEdAQAAAAEBCAAACwAwAQgAAAsAMAEdAQAkACECAAAAAQAgCAAADgAgAR0BACQAIQIAAAAEACAIAAAQACACAAAABAAgCAAAEAAgAwAAAAEAIA8AAAkAIBAAAA4AIAEAAAABACABAAAABAAgAxUAACEAIBYAACMAIBcAACIAIAQaAAAaADAbAAAXABAcAAAaADAdAQAbACEDAAAABAAgAwAAFgAwFAAAFwAgAwAAAAQAIAMAAAUAMAQAAAEAIAQaAAAaADAbAAAXABAcAAAaADAdAQAbACEOFQAAHQAgFgAAHgAgFwAAHgAgHgEAAAABHwEAAAAEIAEAAAAEIQEAAAABIgEAAAABIwEAAAABJAEAAAABJQEAAAABJgEAAAABJwEAAAABKAEAHAAhDhUAAB0AIBYAAB4AIBcAAB4AIB4BAAAAAR8BAAAABCABAAAABCEBAAAAASIBAAAAASMBAAAAASQBAAAAASUBAAAAASYBAAAAAScBAAAAASgBABwAIQgeAgAAAAEfAgAAAAQgAgAAAAQhAgAAAAEiAgAAAAEjAgAAAAEkAgAAAAEoAgAdACELHgEAAAABHwEAAAAEIAEAAAAEIQEAAAABIgEAAAABIwEAAAABJAEAAAABJQEAAAABJgEAAAABJwEAAAABKAEAHgAhBBoAAB8AMBsAAAQAEBwAAB8AMB0BACAAIQseAQAAAAEfAQAAAAQgAQAAAAQhAQAAAAEiAQAAAAEjAQAAAAEkAQAAAAElAQAAAAEmAQAAAAEnAQAAAAEoAQAeACEAAAABKQEAAAABAAAAAAMVAAYWAAcXAAgAAAADFQAGFgAHFwAIAQIBAgMBBQYBBgcBBwgBCQoBCgwCCw0DDA8BDRECDhIEERMBEhQBExUCGBgFGRkJ',
  },
  compilerWasm: {
    getRuntime: () => import('@prisma/client/runtime/query_compiler_fast_bg.postgresql.mjs'),
    getQueryCompilerWasmModule: async () => {
      const { wasm } = await import(
        '@prisma/client/runtime/query_compiler_fast_bg.postgresql.wasm-base64.mjs'
      );
      return new WebAssembly.Module(Buffer.from(wasm, 'base64'));
    },
    importName: './query_compiler_fast_bg.js',
  },
};

/** @type {new (options: object) => any} */
export const PrismaClient = /** @type {any} */ (getPrismaClient(config));
