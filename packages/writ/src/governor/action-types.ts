/**
 * Types of action that have a permission and an inverse by their name. Others say both in the
 * policy.
 */
export interface KnownActionType {
  readonly permission: string;
  /** The type that undoes it. Left out: the policy has to name it. */
  readonly inverse?: string;
}

const both = (permission: string, one: string, other: string): [string, KnownActionType][] => [
  [one, { permission, inverse: other }],
  [other, { permission, inverse: one }],
];

export const actionTypes: ReadonlyMap<string, KnownActionType> = new Map<string, KnownActionType>([
  ...both('run.services.update', 'scale_up_cloud_run', 'scale_down_cloud_run'),
  ...both('run.services.update', 'pause_cloud_run', 'resume_cloud_run'),
  ...both('billing.budgets.update', 'suspend_billing', 'resume_billing'),
  ...both('iam.roles.update', 'revoke_permission', 'grant_permission'),
  // To another size and back: the same type, with parameters of its own.
  ['scale_gke_cluster', { permission: 'container.nodePools.update', inverse: 'scale_gke_cluster' }],
  ['enforce_cost_cap', { permission: 'monitoring.alertPolicies.create' }],
]);
