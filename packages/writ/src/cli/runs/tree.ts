/**
 * A plan as lines of text. What comes after one step stands below it; where a plan forks, its branches are drawn as such; a step that waits for
 * several stands behind the branches that lead to it, on the level where they parted. A chain stays on one level, however long it is.
 */
import type { PlanStep } from '../../runs/plans/document.js';

export interface Row {
  /** What is drawn before the step: the branches that it stands in. */
  readonly prefix: string;
  readonly step: PlanStep;
}

interface Node {
  readonly step: PlanStep | undefined;
  readonly parent: Node | undefined;
  readonly depth: number;
  readonly branches: Node[];
  /** Steps at which branches of this one come together again. */
  readonly joins: Node[];
}

export function rowsOf(steps: readonly PlanStep[]): Row[] {
  const root: Node = { step: undefined, parent: undefined, depth: 0, branches: [], joins: [] };
  const nodes = new Map<string, Node>();
  // Every step comes behind those that it waits for.
  for (const step of steps) {
    const after = (step.after ?? []).flatMap((id) => nodes.get(id) ?? []);
    const parent = after.length === 0 ? root : after.reduce(fork);
    const node = { step, parent, depth: parent.depth + 1, branches: [], joins: [] };
    (after.length > 1 ? parent.joins : parent.branches).push(node);
    nodes.set(step.id, node);
  }
  const rows: Row[] = [];
  // What is still to be drawn, the next last: a plan may be a chain of a thousand.
  const open: { node: Node; prefix: string; below: string }[] = [
    { node: root, prefix: '', below: '' },
  ];
  for (let next = open.pop(); next; next = open.pop()) {
    const { node, prefix, below } = next;
    if (node.step) rows.push({ prefix, step: node.step });
    for (const join of node.joins.toReversed()) open.push({ node: join, prefix: below, below });
    const last = node.branches.length - 1;
    for (const [at, branch] of [...node.branches.entries()].reverse()) {
      const alone = last === 0;
      const line = {
        prefix: `${below}${at === last ? '└ ' : '├ '}`,
        below: `${below}${at === last ? '  ' : '│ '}`,
      };
      open.push({ node: branch, ...(alone ? { prefix: below, below } : line) });
    }
  }
  return rows;
}

/** Where the ways to two steps part. */
function fork(one: Node, other: Node): Node {
  let [a, b] = [one, other];
  while (a !== b) {
    if (a.depth >= b.depth) a = a.parent as Node;
    else b = b.parent as Node;
  }
  return a;
}
