// @ts-check
// What a suite works with: sizes, templates, fresh copies with their WAL and commit counts, and
// processes. Also the types of a suite, so that a new one is a file in suites/ and nothing else.
import { fileURLToPath } from 'node:url';
import { startRole } from './child.mjs';

/** @typedef {{ label: string, subject: string, variant?: string }} Participant */
/** @typedef {Record<string, any> & { jobs: number, void?: string }} Figures */
/**
 * `rounds` is the most rounds that a measurement is worth: one that takes minutes is not repeated
 * as often as the others.
 * @typedef {{ participants: Participant[], measure: (bench: Bench, who: Participant) =>
 * Promise<any>, rounds?: number }} Measurement
 */
/**
 * What a case has to reach: a ratio to another participant, named by its label (`best`: the best
 * product among the peers), or a figure of its own (`bound`). At least that where more is better,
 * at most where less is.
 * @typedef {{ peer: string, ratio: number } | { bound: number }} Target
 */
/**
 * `label` is the participant that the row is about, the suite's own unless given. `against` is whom
 * to compare with where no target says so. `details` are further figures to print, by name, with
 * what they are.
 * @typedef {{ name: string, unit: string, better: string, figure: string, measurement: Measurement,
 * targets: Target[],
 *   label?: string, against?: string, details?: Record<string, string> }} Case
 */
/** @typedef {{ name: string, ours: string, cases: Case[] }} Suite */

const verifyRole = fileURLToPath(new URL('../roles/verify.mjs', import.meta.url));

export class Bench {
  /** @param {{ databases: import('./databases.mjs').Databases, quick: boolean }} parts */
  constructor({ databases, quick }) {
    this.databases = databases;
    this.quick = quick;
    this.start = startRole;
  }

  /** @param {{ full: number, quick: number }} sizes */
  size(sizes) {
    return this.quick ? sizes.quick : sizes.full;
  }

  /**
   * @param {string} key
   * @param {string | null} from
   * @param {(url: string) => Promise<any>} make
   */
  template(key, from, make) {
    return this.databases.template(key, from, make);
  }

  /**
   * Runs `body` on a fresh copy of a template and adds what it cost the server, per job.
   * @param {string} template
   * @param {(database: { url: string }) => Promise<any>} body
   * @param {(url: string) => Promise<string | null>} [check] looks at the copy after the costs were
   * read
   * @param {{ large?: boolean }} [options] a large template is copied as files, not through the log
   */
  async onCopy(template, body, check, { large = false } = {}) {
    const { databases } = this;
    const name = await databases.copy(template, large);
    const url = databases.server.url(name);
    try {
      const before = await databases.counters(name);
      const figures = await body({ url });
      await databases.quiet(name);
      const after = await databases.counters(name);
      // The harness's own questions are commits too; the subject does not pay for them.
      const commits = after.commits - before.commits - (figures.polls ?? 0);
      const missing = check ? await check(url) : null;
      return {
        ...figures,
        ...(missing ? { void: missing } : {}),
        walPerJob: (after.wal - before.wal) / figures.jobs,
        commitsPerJob: commits / figures.jobs,
        cpuPerJob: (after.cpuUs - before.cpuUs) / figures.jobs,
      };
    } finally {
      await databases.quiet(name);
      await databases.drop(name);
    }
  }

  /**
   * Asks the subject whether the database holds the complete trail of these jobs.
   * @param {string} subject
   * @param {string} url
   * @param {number} jobs
   * @returns {Promise<string | null>} what is missing
   */
  async verify(subject, url, jobs) {
    const role = { subject, roleFile: verifyRole, role: 'verify', options: { url, jobs } };
    return (await this.start(role).finished).missing;
  }
}
