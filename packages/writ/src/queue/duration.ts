import { WritRefusal } from '../errors/index.js';

/** Milliseconds, or a number with a unit: '500ms', '30s', '5m', '2h', '7d'. */
export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`;

const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

export function milliseconds(duration: Duration): number {
  if (typeof duration === 'number' && Number.isFinite(duration) && duration >= 0)
    return Math.round(duration);
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(String(duration));
  const ms = match
    ? Math.round(Number(match[1]) * units[match[2] as keyof typeof units])
    : Number.NaN;
  if (!Number.isFinite(ms))
    throw new WritRefusal('invalid_duration', String(duration).slice(0, 200));
  return ms;
}

export const seconds = (duration: Duration): number => milliseconds(duration) / 1000;
