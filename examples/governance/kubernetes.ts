/**
 * A deployment of Kubernetes gets another image and another number of replicas. If the new pods do
 * not become available, it gets back what it had.
 *
 *   DATABASE_URL=postgres://… KUBERNETES_URL=https://… WRIT_SECRET_KUBERNETES_TOKEN=… node
 *   examples/governance/kubernetes.ts
 */
import { defineStep, environmentSecrets, PermanentFailure, type StepType, Writ } from 'writ';
import { z } from 'zod';
import { carryOut, meet } from './people.ts';

const name = z.string().regex(/^[a-z0-9-]+$/);
const Deploy = z.object({
  namespace: name,
  deployment: name,
  container: name,
  image: z.string(),
  replicas: z.number().int().min(0),
});
export type Deploy = z.infer<typeof Deploy>;

/**
 * What matters of a deployment. Its resourceVersion, generation and status change by themselves.
 */
interface Wanted {
  readonly image: string;
  readonly replicas: number;
}

interface Deployment {
  readonly metadata: { readonly generation: number };
  readonly spec: {
    readonly replicas: number;
    readonly template: {
      readonly spec: {
        readonly containers: readonly { readonly name: string; readonly image: string }[];
      };
    };
  };
  readonly status: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly updatedReplicas?: number;
    readonly availableReplicas?: number;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason?: string;
      readonly message?: string;
    }[];
  };
}

interface Asking {
  readonly signal: AbortSignal;
  secret(name: string): Promise<string>;
}

/** `lookEveryMs`: how often it is asked whether the pods are there. */
export function kubernetes(url: string, lookEveryMs = 1_000): StepType<Deploy> {
  async function call(of: Deploy, { signal, secret }: Asking, patch?: object): Promise<Deployment> {
    const path = `/apis/apps/v1/namespaces/${of.namespace}/deployments/${of.deployment}`;
    const response = await fetch(`${url}${path}${patch ? '?fieldManager=writ' : ''}`, {
      method: patch ? 'PATCH' : 'GET',
      headers: {
        authorization: `Bearer ${await secret('kubernetes-token')}`,
        accept: 'application/json',
        ...(patch && { 'content-type': 'application/strategic-merge-patch+json' }),
      },
      ...(patch && { body: JSON.stringify(patch) }),
      signal,
    });
    if (response.ok) return (await response.json()) as Deployment;
    const why = `Kubernetes answered ${response.status}: ${(await response.text()).slice(0, 200)}`;
    const again = response.status === 409 || response.status === 429 || response.status >= 500;
    throw again ? new Error(why) : new PermanentFailure(why);
  }

  const wantedIn = ({ spec }: Deployment, container: string): Wanted => {
    const found = spec.template.spec.containers.find((one) => one.name === container);
    if (!found) throw new PermanentFailure(`there is no container ${container}`);
    return { image: found.image, replicas: spec.replicas };
  };

  /** Patched, and then looked at until the pods are there, or Kubernetes gives up. */
  async function put(of: Deploy, { image, replicas }: Wanted, asking: Asking): Promise<void> {
    const patch = {
      spec: { replicas, template: { spec: { containers: [{ name: of.container, image }] } } },
    };
    let now = await call(of, asking, patch);
    while (!arrived(now)) {
      await new Promise((resume) => setTimeout(resume, lookEveryMs));
      now = await call(of, asking); // ends with the step's time: the signal is aborted then
    }
  }

  return defineStep<Deploy>('kubernetes_deploy', {
    input: Deploy,
    target: ({ namespace, deployment }) => `deployment:${namespace}/${deployment}`,
    read: async (of, asking) => wantedIn(await call(of, asking), of.container),
    apply: (of, asking) => put(of, of, asking),
    revert: (found, of, asking) => put(of, found as Wanted, asking),
    retry: { attempts: 5, base: '50ms', cap: '10s' },
    timeout: '10m',
  });
}

function arrived({ metadata, spec, status }: Deployment): boolean {
  if ((status.observedGeneration ?? 0) < metadata.generation) return false;
  const progressing = status.conditions?.find(({ type }) => type === 'Progressing');
  if (progressing?.reason === 'ProgressDeadlineExceeded')
    throw new PermanentFailure(progressing.message ?? 'the pods did not come');
  return [status.replicas, status.updatedReplicas, status.availableReplicas].every(
    (count) => (count ?? 0) === spec.replicas,
  );
}

if (process.argv[1] === import.meta.filename) {
  const writ = await Writ.connect({
    connectionString: process.env.DATABASE_URL ?? '',
    secrets: environmentSecrets(),
  });
  await writ.migrate({ enable: true });
  const deploy = kubernetes(process.env.KUBERNETES_URL ?? '');
  await writ.work([], { governance: [deploy] });
  const web = {
    namespace: 'shop',
    deployment: 'web',
    container: 'web',
    image: 'registry.example/web:1.4.0',
    replicas: 3,
  };
  const end = await carryOut(writ, await meet(writ), {
    title: 'web 1.4.0',
    scope: ['deployment:shop/web'],
    steps: [deploy(web)],
  });
  console.log(end.status, end.status_reason ?? '');
  await writ.close();
}
