// @ts-check
// Faults from outside, one after the other, each after a number of answered calls. What each of them does is the suite's.

/** @typedef {import('./plan.mjs').Fault} Fault */

/** @template {{ onFault: (fault: Fault) => void, onFinding: (what: string) => void }} Stage */
export class InTurn {
  /**
   * @param {readonly Fault[]} faults @param {Stage} stage @param {(fault: Fault) =>
   * Promise<unknown> | unknown} strike
   */
  constructor(faults, stage, strike) {
    this.faults = [...faults];
    this.stage = stage;
    this.strike = strike;
    this.under = 0;
    /** @type {Promise<unknown>} */
    this.last = Promise.resolve();
  }

  get left() {
    return this.faults.length + this.under;
  }

  /** @param {number} passages */
  passed(passages) {
    while (this.faults[0] && this.faults[0].nth <= passages) {
      const fault = /** @type {Fault} */ (this.faults.shift());
      this.under++;
      this.last = this.last
        .then(() => this.strike(fault))
        .then(
          () => this.stage.onFault(fault),
          (error) =>
            this.stage.onFinding(`${fault.action} from outside failed: ${error?.stack ?? error}`),
        )
        .finally(() => this.under--);
    }
  }
}
