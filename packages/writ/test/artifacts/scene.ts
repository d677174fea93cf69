/** A database, a connection to it, and a store of artifacts in a folder, for one test. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { type ArtifactStore, fileArtifacts, type Writ } from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';

export interface Scene {
  db: TestDatabase;
  writ: Writ;
  folder: string;
  store: ArtifactStore;
}

export function scene(): Scene {
  const made = {} as Scene;
  beforeEach(async () => {
    made.db = await testDatabase();
    made.folder = mkdtempSync(join(tmpdir(), 'writ-artifacts-'));
    made.store = fileArtifacts({ folder: made.folder, retention: { '*': '30d' } });
    made.writ = await made.db.connect({ artifacts: made.store });
  });
  afterEach(async () => {
    await made.db.drop();
    rmSync(made.folder, { recursive: true, force: true });
  });
  return made;
}
