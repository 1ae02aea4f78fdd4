import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import * as apps from 'kubernetes-models/apps/v1';
import * as autoscaling from 'kubernetes-models/autoscaling/v2';
import * as batch from 'kubernetes-models/batch/v1';
import * as core from 'kubernetes-models/v1';
import * as networking from 'kubernetes-models/networking.k8s.io/v1';
import * as policy from 'kubernetes-models/policy/v1';
import ts from 'typescript';
import { parse, parseAllDocuments } from 'yaml';
import { services } from '@sluice/contracts';
import { projectRoot } from '../harness/configurations.js';
import { read } from './files.js';

/** The kinds that are used, and where their types are. */
const models: Readonly<Record<string, readonly [string, new (data: never) => { validate(): void }]>> = {
  Deployment: ['apps/v1', apps.Deployment],
  PodDisruptionBudget: ['policy/v1', policy.PodDisruptionBudget],
  HorizontalPodAutoscaler: ['autoscaling/v2', autoscaling.HorizontalPodAutoscaler],
  Job: ['batch/v1', batch.Job],
  Service: ['v1', core.Service],
  NetworkPolicy: ['networking.k8s.io/v1', networking.NetworkPolicy],
};

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: Readonly<Record<string, unknown>>;
}

interface Kustomization {
  readonly resources: readonly string[];
  readonly configMapGenerator: readonly {
    readonly name: string;
    readonly literals?: readonly string[];
    readonly files?: readonly string[];
  }[];
}

/** Of what a policy lets out. */
interface Rule {
  readonly ports?: readonly { readonly port: number }[];
  readonly to: readonly {
    readonly ipBlock?: { readonly cidr: string; readonly except: readonly string[] };
    readonly podSelector?: object;
  }[];
}

/** Of an overlay on the page. */
interface Patch {
  readonly target: { readonly kind: string; readonly name?: string };
  readonly patch: string;
}

interface PodPatch {
  readonly containers: readonly {
    readonly name: string;
    readonly volumeMounts?: readonly { readonly name: string }[];
  }[];
  readonly volumes?: readonly { readonly name: string }[];
}

const folder = 'ops/kubernetes';
const kustomization = parse(read(`${folder}/kustomization.yaml`)) as Kustomization;
const documents = kustomization.resources.flatMap((file) =>
  parseAllDocuments(read(`${folder}/${file}`)).map((document) => [file, document.toJS() as Manifest] as const),
);
const named = documents.map(([file, manifest]) => [`${file}: ${manifest.kind}`, manifest] as const);
const roles: readonly string[] = services;
/** Those that take a share of partitions. */
const workers = roles.filter((role) => !['gateway', 'proxy', 'mcp'].includes(role));
const page = read('docs/operations.md');

/**
 * The manifests as literals of Kubernetes' own types: what TypeScript says of a key that there is not, or of a wrong
 * value.
 */
function typeErrors(manifests: readonly Manifest[]): readonly string[] {
  const source = manifests
    .map((manifest, index) => {
      const [from] = models[manifest.kind] ?? [''];
      return `import type { I${manifest.kind} as T${index} } from 'kubernetes-models/${from}';\nexport const m${index}: T${index} = ${JSON.stringify(manifest)};`;
    })
    .join('\n');
  const file = join(projectRoot, 'test/stack/manifests.ts');
  const options = {
    strict: true,
    skipLibCheck: true,
    noEmit: true,
    types: [],
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
  };
  const host = ts.createCompilerHost(options);
  const { readFile, fileExists, getSourceFile } = host;
  host.readFile = (name) => (name === file ? source : readFile(name));
  host.fileExists = (name) => name === file || fileExists(name);
  host.getSourceFile = (name, version, ...rest) =>
    name === file ? ts.createSourceFile(name, source, version) : getSourceFile(name, version, ...rest);
  const program = ts.createProgram([file], options, host);
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

describe('the manifests for Kubernetes', () => {
  it.each(named)('%s is valid', (_, manifest) => {
    const [apiVersion, Model] = models[manifest.kind] ?? [];
    expect(manifest.apiVersion).toBe(apiVersion);
    if (Model !== undefined) new Model(manifest as never).validate();
  });

  it('have no key that Kubernetes does not know', () => {
    const manifests = named.map(([, manifest]) => manifest);
    expect(typeErrors(manifests)).toEqual([]);
    const [first] = manifests;
    expect(typeErrors([{ ...first, spec: { ...first?.spec, replica: 1 } } as unknown as Manifest]).join()).toContain(
      '"replica"',
    );
  });

  it.each(workers)('%s: deployment, disruption budget and autoscaler name each other', (role) => {
    const own = documents.filter(([file]) => file === `${role}.yaml`).map(([, manifest]) => manifest);
    expect(own.map(({ kind, metadata }) => [kind, metadata.name])).toEqual([
      ['Deployment', `sluice-${role}`],
      ['PodDisruptionBudget', `sluice-${role}`],
      ['HorizontalPodAutoscaler', `sluice-${role}`],
      ...(role === 'executor' ? [['NetworkPolicy', 'sluice-executor']] : []),
    ]);
    const labels = { 'app.kubernetes.io/name': 'sluice', 'app.kubernetes.io/component': role };
    expect(own[0]?.spec).toMatchObject({
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          containers: [
            {
              args: ['serve', '--role', role],
              livenessProbe: { httpGet: { path: '/health/live' } },
              readinessProbe: { httpGet: { path: '/health/ready' } },
              securityContext: { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false },
            },
          ],
        },
      },
    });
    expect(own[1]?.spec).toMatchObject({ selector: { matchLabels: labels } });
    expect(own[2]?.spec).toMatchObject({
      scaleTargetRef: { kind: 'Deployment', name: `sluice-${role}` },
      metrics: [{ external: { metric: { selector: { matchLabels: { consumer_group: role } } } } }],
    });
    // The roles differ in their name and their memory, and in nothing else but what the executor may reach.
    const plain = (text: string, name: string) =>
      text
        .replaceAll(name, 'ROLE')
        .replaceAll(/memory: \d+Mi/g, 'memory: N')
        .replace(/---\n# Tools run here[^]*$/, '');
    expect(plain(read(`${folder}/${role}.yaml`), role)).toBe(plain(read(`${folder}/filter.yaml`), 'filter'));
  });

  it('lets the executor, which runs tools, reach what it needs and the web, and no other pod and no private network', () => {
    const policy = documents.find(([file, { kind }]) => file === 'executor.yaml' && kind === 'NetworkPolicy')?.[1];
    const { egress, ...spec } = policy?.spec as { readonly egress: readonly Rule[] };
    const labels = { 'app.kubernetes.io/name': 'sluice', 'app.kubernetes.io/component': 'executor' };
    expect(spec).toEqual({ podSelector: { matchLabels: labels }, policyTypes: ['Egress'] });
    // Whatever needs no label: these ports, none of which is one of Sluice’s own doors.
    const ofPods = egress.filter(({ to }) => to.some(({ ipBlock, podSelector }) => !ipBlock && !podSelector));
    expect(ofPods.flatMap(({ ports = [] }) => ports.map(({ port }) => port)).sort()).toEqual([
      53, 53, 5432, 8081, 9092,
    ]);
    const blocks = egress.flatMap(({ to }) => to.flatMap(({ ipBlock }) => ipBlock ?? []));
    const v4 = blocks.find(({ cidr }) => cidr === '0.0.0.0/0');
    for (const range of ['10.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16'])
      expect(v4?.except).toContain(range);
    const v6 = blocks.find(({ cidr }) => cidr === '::/0');
    for (const range of ['::1/128', 'fc00::/7', 'fe80::/10']) expect(v6?.except).toContain(range);
    const wide = egress.filter(({ ports }) => ports === undefined).flatMap(({ to }) => to);
    expect(wide).toEqual([
      { namespaceSelector: {}, podSelector: { matchLabels: { 'sluice-executor-server': 'true' } } },
    ]);
  });

  it.each([
    ['gateway', 8091],
    ['proxy', 8092],
    ['mcp', 8093],
  ])('let the %s be reached, where it listens', (name, port) => {
    const own = documents.filter(([file]) => file === `${name}.yaml`).map(([, manifest]) => manifest);
    expect(own.map(({ kind }) => kind)).toEqual([
      'Deployment',
      'Service',
      'NetworkPolicy',
      'PodDisruptionBudget',
      'HorizontalPodAutoscaler',
    ]);
    const labels = { 'app.kubernetes.io/name': 'sluice', 'app.kubernetes.io/component': name };
    const ports = expect.arrayContaining([{ name: 'requests', containerPort: port }]);
    expect(own[0]?.spec).toMatchObject({
      selector: { matchLabels: labels },
      template: { spec: { containers: [{ args: ['serve', '--role', name], ports }] } },
    });
    expect(own[1]?.spec).toMatchObject({ selector: labels, ports: [{ targetPort: 'requests' }] });
    // The sample has no identity, so whoever reached it might ask for everything.
    const from = [{ namespaceSelector: {}, podSelector: { matchLabels: { [`sluice-${name}-client`]: 'true' } } }];
    expect(own[2]?.spec).toEqual({
      podSelector: { matchLabels: labels },
      policyTypes: ['Ingress'],
      ingress: [{ ports: [{ port: 'http' }] }, { ports: [{ port: 'requests' }], from }],
    });
    // Its pod differs from that of another role in the second port, the wait for traffic to end, and the volume of
    // the gateway's lists.
    const lifecycle = /.*\n +lifecycle: \{ preStop: .*\n/;
    expect(read(`${folder}/${name}.yaml`)).toMatch(lifecycle);
    const pod = (role: string): string =>
      read(`${folder}/${role}.yaml`)
        .split('---')[0]
        ?.replaceAll(role, 'ROLE')
        .replaceAll(/memory: \d+Mi/g, 'memory: N')
        .replace(/^#.*\n/, '') ?? '';
    expect(
      pod(name)
        .replace(new RegExp(`.*containerPort: ${String(port)}.*\n`), '')
        .replace(lifecycle, '')
        .replace('name: lists, mountPath', 'name: scratch, mountPath')
        .replace(/\n *# About .*\n *- name: lists\n.*/, ''),
    ).toBe(pod('agent'));
  });

  it('name secrets whose making is on the page, and variables that are', () => {
    const text = kustomization.resources.map((file) => read(`${folder}/${file}`)).join('\n');
    const secrets = new Set([...text.matchAll(/secretName: ([\w-]+)/g)].map(([, name]) => name));
    // The database's, and the key of the job that applies the configuration.
    expect(secrets.size).toBe(roles.length + 2);
    for (const secret of secrets) expect(page).toContain(secret?.replace(/-keys-\w+$/, '-keys-'));
    const literals = kustomization.configMapGenerator.flatMap(({ literals: all = [] }) => all);
    for (const literal of literals) expect(page).toContain(`| \`${literal.split('=')[0]}\` |`);
    const maps = new Set([...text.matchAll(/configMap(?:Ref)?: \{ name: ([\w-]+)/g)].map(([, name]) => name));
    expect(maps).toEqual(new Set(kustomization.configMapGenerator.map(({ name }) => name)));
  });

  it('are changed on the page where they are: each patch finds something, and mounts what it brings', () => {
    const patches = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].flatMap(
      ([, block = '']) => (parse(block) as { patches?: readonly Patch[] }).patches ?? [],
    );
    expect(patches.length).toBeGreaterThan(4);
    for (const { target, patch } of patches) {
      const found = documents.filter(
        ([, { kind, metadata }]) =>
          new RegExp(`^(${target.kind})$`).test(kind) && new RegExp(`^(${target.name ?? '.*'})$`).test(metadata.name),
      );
      expect([target, found.length > 0]).toEqual([target, true]);
      const { spec } = parse(patch) as { spec?: { template: { spec: PodPatch } } };
      if (spec === undefined) continue;
      const { containers, volumes = [] } = spec.template.spec;
      expect(containers.map(({ name }) => name)).toEqual(['sluice']);
      expect(containers.flatMap(({ volumeMounts = [] }) => volumeMounts).map(({ name }) => name)).toEqual(
        volumes.map(({ name }) => name),
      );
      for (const [, secret] of patch.matchAll(/(?:secretName|secretKeyRef: \{ name): ([\w-]+)/g))
        expect(page).toContain(`create secret generic ${secret} `);
    }
  });

  it('begin with the same configuration as the stack', () => {
    expect(read(`${folder}/sluice.yaml`)).toBe(read('examples/countries/sluice.yaml'));
  });
});
