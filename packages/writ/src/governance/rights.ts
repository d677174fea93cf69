/** What a principal may do, and the rights that usually go together. */

export const rights = [
  'view',
  'propose',
  'approve',
  'activate',
  'operate',
  'report',
  'break_glass',
  'produce',
  'audit',
  'administer',
] as const;

export type Right = (typeof rights)[number];

/** Rights by the work that somebody does. */
export const presets = {
  viewer: ['view'],
  producer: ['view', 'produce'],
  operator: ['view', 'produce', 'operate', 'report', 'activate'],
  approver: ['view', 'propose', 'approve', 'activate'],
  auditor: ['view', 'audit'],
  administrator: ['view', 'administer'],
  agent: ['view', 'propose'],
} as const satisfies Record<string, readonly Right[]>;

export type Preset = keyof typeof presets;
