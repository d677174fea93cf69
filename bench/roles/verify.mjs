// @ts-check
// After a measurement: the subject looks into the database for the trail it promises.
import pg from 'pg';

/**
 * @param {import('../subjects/subject.mjs').Subject} subject @param {{ url: string, jobs: number }}
 * options
 */
export async function verify(subject, { url, jobs }) {
  if (!subject.verify) return { missing: null };
  const client = new pg.Client(url);
  await client.connect();
  const missing = await subject.verify(async (text) => (await client.query(text)).rows, jobs);
  await client.end();
  return { missing };
}
