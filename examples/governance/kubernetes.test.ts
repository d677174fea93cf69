import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Writ } from 'writ';
import { type TestDatabase, testDatabase } from 'writ/testing';
import { kubernetes } from './kubernetes.ts';
import { carryOut, meet, type People } from './people.ts';

const token = 'eyJhbGciOiJSUzI1NiJ9.c2hvcA.c2lnbmF0dXJl';
let db: TestDatabase;
let writ: Writ;
let people: People;
let url: string;
let deployments: Record<
  string,
  { image: string; replicas: number; generation: number; looks: number }
>;
let patches: string[];
let resourceVersion = 1000;

/**
 * As Kubernetes speaks: what is wanted is answered at once, and the pods come a moment later; of an
 * image that is broken, never.
 */
const server = createServer(async (request, response) => {
  const answer = (status: number, body: object) =>
    void response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify(body));
  const status = (code: number, reason: string) =>
    answer(code, { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason, code });
  if (request.headers.authorization !== `Bearer ${token}`) return status(401, 'Unauthorized');
  const [, name = ''] =
    /^\/apis\/apps\/v1\/namespaces\/shop\/deployments\/([a-z-]+)(?:\?fieldManager=writ)?$/.exec(
      request.url ?? '',
    ) ?? [];
  const deployment = deployments[name];
  if (!deployment) return status(404, 'NotFound');
  if (request.method === 'PATCH') {
    if (request.headers['content-type'] !== 'application/strategic-merge-patch+json')
      return status(415, 'UnsupportedMediaType');
    let text = '';
    for await (const chunk of request) text += chunk;
    const { replicas, template } = JSON.parse(text).spec;
    const [container] = template.spec.containers;
    Object.assign(deployment, {
      replicas,
      image: container.image,
      generation: deployment.generation + 1,
      looks: 0,
    });
    patches.push(`${name} ${container.image} ${replicas}`);
  }
  const there = deployment.looks++ > 1 && !deployment.image.endsWith('broken');
  const replicas = deployment.replicas;
  answer(200, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name,
      namespace: 'shop',
      resourceVersion: String(resourceVersion++),
      generation: deployment.generation,
    },
    spec: {
      replicas,
      template: {
        spec: {
          containers: [
            { name: 'web', image: deployment.image },
            { name: 'sidecar', image: 'proxy:1' },
          ],
        },
      },
    },
    status: {
      observedGeneration: deployment.generation,
      replicas: there ? replicas : replicas + 1,
      updatedReplicas: there ? replicas : 0,
      availableReplicas: there ? replicas : 1,
      conditions: [
        deployment.image.endsWith('broken') && deployment.looks > 3
          ? {
              type: 'Progressing',
              status: 'False',
              reason: 'ProgressDeadlineExceeded',
              message: `ReplicaSet "${name}" has timed out progressing.`,
            }
          : { type: 'Progressing', status: 'True', reason: 'ReplicaSetUpdated' },
      ],
    },
  });
});

beforeEach(async () => {
  deployments = {
    web: { image: 'web:1', replicas: 2, generation: 7, looks: 9 },
    api: { image: 'api:1', replicas: 1, generation: 3, looks: 9 },
  };
  patches = [];
  await new Promise<void>((up) => server.listen(0, '127.0.0.1', up));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  db = await testDatabase();
  writ = await db.connect({ secrets: { resolve: async () => ({ 'kubernetes-token': token }) } });
  people = await meet(writ);
});
afterEach(async () => {
  await db.drop();
  await new Promise((down) => server.close(down).closeAllConnections());
});

const of = (deployment: string, image: string, replicas: number) => ({
  namespace: 'shop',
  deployment,
  container: 'web',
  image,
  replicas,
});
const scope = ['deployment:shop/api', 'deployment:shop/web'];

test('an agent proposes another image and more replicas, a person approves, and the step ends when the pods are there', async () => {
  const deploy = kubernetes(url, 10);
  await writ.work([], { governance: [deploy] });
  const steps = [deploy(of('api', 'api:2', 1)), deploy(of('web', 'web:2', 5))];
  expect(await carryOut(writ, people, { title: 'Release 2', scope, steps })).toMatchObject({
    status: 'COMPLETED',
  });
  expect(deployments).toMatchObject({
    api: { image: 'api:2', replicas: 1 },
    web: { image: 'web:2', replicas: 5 },
  });
  expect(patches).toEqual(['api api:2 1', 'web web:2 5']);
  expect(JSON.stringify(await db.query('select * from writ_data.governance_step'))).not.toContain(
    token,
  );
});

test('the pods of one do not come: both have what they had before', async () => {
  const deploy = kubernetes(url, 10);
  await writ.work([], { governance: [deploy], onError: () => undefined });
  const steps = [deploy(of('api', 'api:2', 3)), deploy(of('web', 'web:broken', 2))];
  const end = await carryOut(writ, people, { title: 'Release 2', scope, steps });
  expect(end).toMatchObject({ status: 'ROLLED_BACK', state_after: end.state_before });
  expect(
    end.status_reason ?? (await writ.changes.handle(end.job_id).get()).rollback_reason,
  ).toContain('timed out progressing');
  expect(deployments).toMatchObject({
    api: { image: 'api:1', replicas: 1 },
    web: { image: 'web:1', replicas: 2 },
  });
  expect(patches).toEqual(['api api:2 3', 'web web:broken 2', 'web web:1 2', 'api api:1 1']);
});
