/** An event on its way out, for people: one line. */
import type { CloudEvent } from '../../outbox/envelope.js';
import type { RunEvent } from '../../runs/events.js';
import { oneLine } from '../output.js';
import { clockTime, detailOf } from '../runs/words.js';

const ofRuns = 'dot.run.';
const longestDetail = 120;

/** 2026-03-01 10:00:00.123  dot.run.StepCompleted  run 0199… charge  … */
export function lineOf(event: CloudEvent): string {
  const [, kind = '', id = ''] = /^\/writ\/(\w+?)s\/(.+)$/.exec(event.source) ?? [];
  const about = [kind, id, event.subject].filter(Boolean).join(' ');
  const whose = ['default', '_system'].includes(event.tenantid) ? '' : `tenant ${event.tenantid}`;
  const parts = [
    `${event.time.slice(0, 10)} ${clockTime(event.time)}`,
    event.type,
    about,
    whose,
    detail(event),
  ];
  return oneLine(parts.filter((part) => part !== '').join('  '));
}

function detail({ type, data }: CloudEvent): string {
  if (type.startsWith(ofRuns))
    return detailOf({
      eventType: type.slice(ofRuns.length),
      eventData: data,
    } as unknown as RunEvent);
  const { actor: _, ...rest } = (data ?? {}) as Record<string, unknown>;
  const text = Object.entries(rest)
    .map(([key, value]) => `${key} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
  return text.length > longestDetail ? `${text.slice(0, longestDetail)}…` : text;
}
