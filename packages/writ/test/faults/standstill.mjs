// @ts-check
// Tells a run that stands still from one on a slow machine: an absolute limit cannot.

/**
 * Answers whether for `patienceMs` nothing has become less than it ever was. A loop asks it with
 * what is left; a livelock, in which the number goes up and down, counts as standing still, too.
 * @param {number} patienceMs
 */
export function standstill(patienceMs) {
  let least = Number.POSITIVE_INFINITY;
  let since = Date.now();
  return (/** @type {number} */ left) => {
    if (left < least) {
      least = left;
      since = Date.now();
    }
    return Date.now() - since > patienceMs;
  };
}
