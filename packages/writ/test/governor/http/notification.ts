/** Notifications as Alertmanager's webhook sends them, version 4. */
export const firing = {
  status: 'firing',
  labels: { alertname: 'HighCPUUsage', instance: 'web-1:9100', job: 'node', severity: 'critical' },
  annotations: { summary: 'CPU of web-1 is high', value: '92.4' },
  startsAt: '2026-03-01T09:52:26.739266876+02:00',
  endsAt: '0001-01-01T00:00:00Z',
  generatorURL: 'http://prometheus.example:9090/graph?g0.expr=cpu+%3E+0.9&g0.tab=1',
  fingerprint: 'c6eadffa33fcdf37',
} as const;

export const resolved = {
  ...firing,
  status: 'resolved',
  endsAt: '2026-03-01T08:10:26.739Z',
} as const;

export const notification = (...alerts: readonly object[]) => ({
  version: '4',
  groupKey: '{}:{alertname="HighCPUUsage"}',
  truncatedAlerts: 0,
  status: 'firing',
  receiver: 'writ',
  groupLabels: { alertname: 'HighCPUUsage' },
  commonLabels: { alertname: 'HighCPUUsage', job: 'node' },
  commonAnnotations: {},
  externalURL: 'http://alertmanager.example:9093',
  alerts,
});
