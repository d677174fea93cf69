import type { Machine } from './machine.js';

/** A Mermaid state diagram of a machine. */
export function diagram(machine: Machine<string, string>): string {
  const lines = machine.transitions.map((t) => {
    const label = t.when ? `${t.event}: ${t.when}` : t.event;
    return `  ${t.from || '[*]'} --> ${t.to}: ${label.replaceAll(':', ' –')}`;
  });
  const ends = machine.terminal.map((state) => `  ${state} --> [*]`);
  return ['stateDiagram-v2', ...lines, ...ends].join('\n');
}
