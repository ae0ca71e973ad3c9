import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ScaledObject } from '@kubernetes-models/keda/keda.sh/v1alpha1';
import { PodMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';
import { Deployment, StatefulSet } from 'kubernetes-models/apps/v1';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { ConfigMap, Namespace, Secret, Service } from 'kubernetes-models/v1';
import { parseAllDocuments } from 'yaml';
import {
  CONFIG_READERS,
  parseEnv,
  read,
  readYaml,
  readYamls,
  ROOT,
  unknownSettings,
} from './deployment-files.js';

interface Manifest {
  kind: string;
  metadata: { name: string };
}
interface Workload extends Manifest {
  spec: {
    template: {
      spec: {
        securityContext: Record<string, unknown>;
        automountServiceAccountToken: boolean;
        containers: {
          envFrom: { configMapRef?: { name: string }; secretRef?: { name: string } }[];
          readinessProbe: { exec?: { command: string[] } };
          [key: string]: unknown;
        }[];
      };
    };
  };
}
interface Kustomization {
  resources: string[];
  secretGenerator?: { name: string; envs: string[] }[];
}

const MODELS: Record<string, new (manifest: never) => { validate(): void }> = {
  ...{ ConfigMap, Deployment, HorizontalPodAutoscaler, Namespace, NetworkPolicy, PodDisruptionBudget },
  ...{ PodMonitor, ScaledObject, Secret, Service, StatefulSet },
};
const OVERLAY = 'deploy/kubernetes/overlays/example';
const FOLDERS = ['base', 'components/autoscaling', 'components/monitoring', 'overlays/example', '../nats'];
const files = FOLDERS.flatMap((folder) => {
  const { resources } = readYaml<Kustomization>('deploy/kubernetes', folder, 'kustomization.yaml');
  return resources
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => join('deploy/kubernetes', folder, name));
});
const SERVICES = Object.keys(CONFIG_READERS);

/** Returns the values of a Secret of the overlay, with valid values instead of placeholders. */
function secretEnv(name: string): Record<string, string> {
  const generator = readYaml<Kustomization>(OVERLAY, 'kustomization.yaml').secretGenerator ?? [];
  const made = generator.find((secret) => secret.name === name);
  if (!made) throw new Error(`the overlay makes no Secret ${name}`);
  const text = made.envs.map((file) => read(OVERLAY, file)).join('\n');
  return parseEnv(
    text
      .replace(/(MASTER_KEY)=change-me/g, `$1=${'5e'.repeat(32)}`)
      .replace(/(TOKEN)=change-me/g, '$1=0123456789abcdef'),
  );
}

function environmentOf(name: string): Record<string, string> {
  const [deployment] = readYamls<Workload>('deploy/kubernetes/base', `${name}.yaml`);
  const sources = deployment?.spec.template.spec.containers[0]?.envFrom ?? [];
  return Object.assign(
    {},
    ...sources.map(({ configMapRef, secretRef }) =>
      secretRef
        ? secretEnv(secretRef.name)
        : configMapRef
          ? parseEnv(read('deploy/kubernetes/base/settings.env'))
          : {},
    ),
  ) as Record<string, string>;
}

const kubectl = spawnSync('kubectl', ['kustomize', join(ROOT, OVERLAY)], { encoding: 'utf8' });
const hasKubectl = kubectl.error === undefined;
const rendered = hasKubectl
  ? parseAllDocuments(kubectl.stdout).map((document) => document.toJS() as Manifest)
  : [];

describe('the Kubernetes manifests', () => {
  it('are valid against the schemas of Kubernetes, KEDA and the Prometheus operator', () => {
    const manifests = files.flatMap((file) => readYamls<Manifest>(file));
    expect(manifests.length).toBeGreaterThan(30);
    for (const manifest of manifests) validate(manifest);
  });

  it('include every manifest of their folders', () => {
    for (const folder of FOLDERS) {
      const manifests = readdirSync(join(ROOT, 'deploy/kubernetes', folder)).filter((name) =>
        name.endsWith('.yaml'),
      );
      const text = read('deploy/kubernetes', folder, 'kustomization.yaml');
      for (const name of manifests) if (name !== 'kustomization.yaml') expect(text).toContain(name);
    }
  });

  it('give each service only existing settings, with values that the service accepts', () => {
    for (const name of SERVICES) {
      const env = environmentOf(name);
      expect([name, unknownSettings(Object.keys(env))]).toEqual([name, []]);
      expect(CONFIG_READERS[name]?.(env)).toMatchObject({ HOST: '0.0.0.0', STREAM_REPLICAS: 3 });
      expect(env.NATS_URL).toMatch(new RegExp(`^nats://${name}:`));
    }
    expect(unknownSettings(Object.keys(environmentOf('cli')))).toEqual([]);
  });

  it('contain no secrets except placeholders', () => {
    for (const file of readdirSync(join(ROOT, OVERLAY, 'secrets')))
      for (const [name, value] of Object.entries(parseEnv(read(OVERLAY, 'secrets', file))))
        expect([file, name, value]).toEqual([file, name, expect.stringMatching(/change-me|^false$/)]);
  });

  it('have a disruption budget and a scaler for each service', () => {
    const named = (...path: string[]) => readYamls<Manifest>(...path).map(({ metadata }) => metadata.name);
    expect(named('deploy/kubernetes/base/disruption-budgets.yaml')).toEqual(SERVICES);
    const scaled = ['gateway.yaml', 'consumers.yaml'].flatMap((file) =>
      named('deploy/kubernetes/components/autoscaling', file),
    );
    expect(scaled).toEqual(SERVICES);
  });

  it('name programs and scripts that exist', () => {
    for (const name of SERVICES) {
      expect(read('deploy/kubernetes/base', `${name}.yaml`)).toContain(`dist/apps/${name}/main.js`);
      expect(existsSync(join(ROOT, 'apps', name, 'main.ts'))).toBe(true);
    }
    expect(read('deploy/kubernetes/base/services.patch.yaml')).toContain('/app/healthcheck.mjs');
    expect(read('deploy/Dockerfile')).toContain('COPY deploy/healthcheck.mjs ./');
  });

  it.each(['docs', 'examples'])(
    'use an image with the folder %s, which the gateway needs for /docs',
    (folder) => {
      expect(read('deploy/Dockerfile')).toContain(`\nCOPY ${folder} ${folder}\n`);
      expect(read('.dockerignore').split('\n')).toContain(`!${folder}`);
    },
  );
});

(hasKubectl ? describe : describe.skip)(
  'the example overlay, rendered by kubectl kustomize (skipped without kubectl)',
  () => {
    it('is valid, and kubectl renders the overlay without an error', () => {
      expect({ status: kubectl.status, stderr: kubectl.stderr }).toEqual({ status: 0, stderr: '' });
      for (const manifest of rendered) validate(manifest);
    });

    it('runs every container unprivileged on a read-only root file system', () => {
      const workloads = rendered.filter(({ kind }) =>
        ['Deployment', 'StatefulSet'].includes(kind),
      ) as Workload[];
      expect(workloads.map(({ metadata }) => metadata.name).sort()).toEqual(
        [...SERVICES, 'cli', 'nats'].sort(),
      );
      for (const { spec } of workloads) {
        const pod = spec.template.spec;
        expect(pod).toMatchObject({
          automountServiceAccountToken: false,
          securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
        });
        for (const container of pod.containers)
          expect(container).toMatchObject({
            securityContext: {
              allowPrivilegeEscalation: false,
              readOnlyRootFilesystem: true,
              capabilities: { drop: ['ALL'] },
            },
            resources: { limits: { memory: expect.any(String) } },
          });
      }
    });

    it('probes the health of each service without `httpHeaders`, which would contain the token', () => {
      const services = rendered.filter(
        ({ metadata, kind }) => kind === 'Deployment' && metadata.name !== 'cli',
      );
      for (const { spec } of services as Workload[])
        expect(spec.template.spec.containers[0]).toMatchObject({
          startupProbe: { httpGet: { path: '/healthz' } },
          livenessProbe: { httpGet: { path: '/healthz' } },
          readinessProbe: { exec: { command: ['node', '/app/healthcheck.mjs', '/readyz'] } },
        });
      expect(kubectl.stdout).not.toContain('httpHeaders');
    });
  },
);

function validate(manifest: Manifest): void {
  const Model = MODELS[manifest.kind];
  if (!Model) throw new Error(`no schema for ${manifest.kind}`);
  expect(() => new Model(manifest as never).validate()).not.toThrow();
}
