import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { services } from '@sluice/contracts';
import { parseAllDocuments } from 'yaml';
import { helm, kubeconform, layOutChart } from './helm.js';
import { schemaFolder } from './schemas.js';

const home = mkdtempSync(join(tmpdir(), 'sluice-chart-'));
const chart = join(home, 'sluice');
afterAll(() => rmSync(home, { recursive: true, force: true }));

const valuesOf = (name: string): string => join(import.meta.dirname, 'values', `${name}.yaml`);
const goldenOf = (name: string): string => join(import.meta.dirname, 'golden', `${name}.yaml`);
const named = readdirSync(join(import.meta.dirname, 'values')).map((file) => file.replace('.yaml', ''));

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: {
    readonly template?: { readonly spec: PodSpec };
    readonly podSelector?: { readonly matchLabels: Readonly<Record<string, string>> };
    readonly egress?: readonly object[];
  };
}
interface PodSpec {
  readonly volumes: readonly { readonly name: string; readonly secret?: { readonly secretName: string } }[];
  readonly containers: readonly { readonly volumeMounts: readonly { readonly name: string }[] }[];
}

/** What Helm makes of the chart; the notes stand in a config map of their own. */
function rendered(...args: readonly string[]): string {
  const { code, output, errors } = helm('template', 'sluice', chart, '--namespace', 'sluice', ...args);
  if (code !== 0) throw new Error(errors);
  return output;
}
const manifestsIn = (text: string): readonly Manifest[] =>
  parseAllDocuments(text).flatMap((document) => (document.toJS() as Manifest | null) ?? []);

beforeAll(() => {
  // In a version of its own, so that a release changes no golden file.
  layOutChart(chart, '1.2.3');
  // `helm template` leaves the notes out.
  const notes = join(chart, 'templates/NOTES.txt');
  writeFileSync(join(chart, 'files/notes.txt'), readFileSync(notes, 'utf8'));
  writeFileSync(
    join(chart, 'templates/notes.yaml'),
    'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: notes }\ndata:\n  notes: |\n    {{- tpl (.Files.Get "files/notes.txt") . | nindent 4 }}\n',
  );
});

describe('the Helm chart', () => {
  it('passes helm lint, strictly, with the values of each file', () => {
    for (const name of named) {
      const { code, output } = helm('lint', '--strict', chart, '--values', valuesOf(name));
      expect([name, code, output]).toEqual([name, 0, expect.stringContaining('0 chart(s) failed')]);
    }
  });

  it.each(named)('renders the values of %s as golden/ has it; SLUICE_WRITE_GOLDEN=1 writes it', (name) => {
    // Dashboards and alerts are other files’ text, word for word: test/static/chart.test.ts.
    const text = rendered('--values', valuesOf(name))
      .replaceAll(/^( {2}sluice-[\w-]+\.json): .*$/gm, '$1: …')
      .replace(/(kind: PrometheusRule[^]*?\n {8}- \{ record[^]*?\n)( {4}- name|- )[^]*?(?=\n---)/, '$1    # …');
    if (process.env['SLUICE_WRITE_GOLDEN'] === '1' || !existsSync(goldenOf(name))) {
      mkdirSync(join(import.meta.dirname, 'golden'), { recursive: true });
      writeFileSync(goldenOf(name), text);
    }
    expect(text).toBe(readFileSync(goldenOf(name), 'utf8'));
  });

  it.each(named)('renders the values of %s as Kubernetes, KEDA and the Prometheus operator know it', async (name) => {
    const location = `${await schemaFolder()}/{{ .ResourceKind }}{{ .KindSuffix }}.json`;
    const check = (text: string) => kubeconform(text, '-strict', '-summary', '-schema-location', location);
    const text = rendered('--values', valuesOf(name));
    const count = manifestsIn(text).length;
    expect(check(text)).toEqual({
      code: 0,
      output: `Summary: ${String(count)} resources found parsing stdin - Valid: ${String(count)}, Invalid: 0, Errors: 0, Skipped: 0\n`,
      errors: '',
    });
    // It does find what is wrong.
    for (const [right, wrong] of [
      ['\n      containers:\n', '\n      replica: 1\n      containers:\n'],
      ...(name === 'production' ? [['\n  pollingInterval: 15\n', '\n  pollingIntervall: 15\n'] as const] : []),
    ] as const) {
      expect(text).toContain(right);
      expect(check(text.replace(right, wrong)).code).toBe(1);
    }
  });

  it('mounts in each pod its own keys alone, and other secrets where they are read', () => {
    const secrets = new Map(
      manifestsIn(rendered('--values', valuesOf('everything'))).flatMap(({ metadata, spec }) => {
        const { volumes = [], containers = [] } = spec?.template?.spec ?? {};
        const mounted = new Set(containers.flatMap(({ volumeMounts }) => volumeMounts.map(({ name }) => name)));
        const own = volumes.flatMap(({ name, secret }) => (mounted.has(name) && secret ? [secret.secretName] : []));
        return own.length === 0 ? [] : [[metadata.labels['app.kubernetes.io/component'] ?? '', own.sort()] as const];
      }),
    );
    const common = ['kafka', 'postgres'];
    expect(Object.fromEntries(secrets)).toEqual({
      filter: ['identity', ...common, 'signing-filter'],
      agent: ['content', 'kafka', 'model', 'postgres', 'signing-agent'],
      executor: ['content', 'identity', 'kafka', 'model', 'postgres', 'signing-executor'],
      audit: [...common, 'signing-audit'],
      gateway: ['content', 'identity', 'kafka', 'local', 'postgres', 'signing-gateway'],
      proxy: ['kafka', 'postgres', 'sealing', 'signing-proxy'],
      mcp: ['content', 'identity', 'kafka', 'local', 'postgres', 'signing-mcp'],
      notifier: ['content', 'kafka', 'postgres', 'signing-notifier'],
      configuration: ['kafka', 'signing-config'],
    });
  });

  it('lets each pod reach what its role needs, and no pod without a policy', () => {
    const all = manifestsIn(rendered('--values', valuesOf('production')));
    const policies = all.filter(({ kind }) => kind === 'NetworkPolicy');
    const of = (component: string): string =>
      JSON.stringify(policies.find(({ metadata }) => metadata.name === `sluice-${component}`)?.spec?.egress);
    for (const name of [...services, 'configuration', 'test']) {
      expect(of(name)).toContain('{"port":9093}');
      expect(of(name).includes('0.0.0.0/0')).toBe(!['audit', 'test'].includes(name));
      expect(of(name).includes('sluice-executor-server')).toBe(['executor', 'configuration'].includes(name));
      expect(of(name).includes('10.1.2.3/32')).toBe(!['configuration', 'test'].includes(name));
    }
    expect(policies.find(({ metadata }) => metadata.name === 'sluice')?.spec).toEqual({
      podSelector: { matchLabels: { 'app.kubernetes.io/name': 'sluice', 'app.kubernetes.io/instance': 'sluice' } },
      policyTypes: ['Ingress', 'Egress'],
    });
  });

  it('makes a job of another name when the configuration, the image or a variable changes', () => {
    const jobOf = (...args: string[]): string | undefined =>
      manifestsIn(rendered('--values', valuesOf('production'), ...args)).find(({ kind }) => kind === 'Job')?.metadata.name; // prettier-ignore
    const names = [
      jobOf(),
      jobOf('--set', 'configuration.content=tool: {}', '--set', 'ingress.enabled=false'),
      jobOf('--set', 'image.tag=next'),
      jobOf('--set', 'logLevel=debug'),
    ];
    expect(new Set(names).size).toBe(4);
    expect(jobOf()).toBe(names[0]);
  });

  const kafka = ['--set', 'mode=kafka,image.repository=r,registry.url=http://r,kafka.brokers={k:1}'];
  it.each([
    [[], 'Set image.repository to where the image is: docs/install.md says how it is built.'],
    [
      ['--set', 'mode=kafka,image.repository=r'],
      "Set kafka.brokers to the brokers' addresses, such as [kafka-bootstrap:9092].",
    ],
    [['--set', 'mode=kafka,image.repository=r'], "Set registry.url to the schema registry's address"],
    [[...kafka, '--set', 'kafka.sasl.mechanism=plain'], 'Set kafka.sasl.username: the mechanism plain needs one.'],
    [
      [...kafka, '--set', 'kafka.sasl.mechanism=plain'],
      "Set kafka.existingSecret to the secret that has Kafka's password",
    ],
    [
      [...kafka, '--set', 'kafka.sasl.mechanism=oauthbearer'],
      'Set kafka.sasl.oauth.tokenUrl and kafka.sasl.oauth.clientId',
    ],
    [
      [...kafka, '--set', 'kafka.tls.ownAuthority=true'],
      'Set kafka.tls.enabled: an authority or a certificate is for TLS alone.',
    ],
    [[...kafka, '--set', 'registry.username=u'], 'Set registry.existingSecret to the secret that has the password'],
    [
      [...kafka, '--set', 'content.credentialsSecret=s'],
      'content.credentialsSecret is for a bucket: set content.bucket too.',
    ],
    [[...kafka, '--set', 'model.existingSecret=m'], "Set model.variable to the variable of the model's key"],
    [
      [...kafka, '--set', 'autoscaling.enabled=true'],
      'Set autoscaling.lag.prometheus to the address where KEDA asks Prometheus',
    ],
    [
      [...kafka, '--set', 'autoscaling.enabled=true,roles.audit.autoscaling.maxReplicas=9'],
      'roles.audit.autoscaling.maxReplicas is above kafka.partitions (6)',
    ],
    [
      ['--set', 'image.repository=r,autoscaling.enabled=true'],
      'autoscaling.enabled needs mode kafka: one pod has the embedded log.',
    ],
    [['--set', 'image.repository=r,kafka.brokers={k:1}'], 'kafka.brokers is set, but the mode is embedded.'],
    [
      [...kafka, '--set', 'ingress.enabled=true'],
      'The configuration has no identity, so anybody who reached the ingress would be one user.',
    ],
    [
      [...kafka, '--set', 'ingress.enabled=true'],
      'Set ingress.hosts: an ingress without one takes requests for every name.',
    ],
    [
      [...kafka, '--set-json', 'mounts=[{"name":"t","path":"/t","components":["executor"]}]'],
      'The mount t needs one of configMap, secret and claim.',
    ],
    [[...kafka, '--set', 'configuration.content=a: [b'], 'configuration.content is no YAML:'],
    // By the schema.
    [[...kafka, '--set', 'replicas=3'], "additional properties 'replicas' not allowed"],
    [[...kafka, '--set', 'roles.filter.replica=3'], "additional properties 'replica' not allowed"],
    [[...kafka, '--set', 'roles.filter.replicas=two'], 'got string, want integer'],
    [['--set', 'mode=swarm'], "value must be one of 'embedded', 'kafka'"],
    [[...kafka, '--set', 'kafka.brokers={kafka}'], "'kafka' does not match pattern"],
    [[...kafka, '--set', 'registry.url=http://user:secret@r'], 'does not match pattern'],
  ] as const)('refuses %j with a sentence', (args, sentence) => {
    const { code, errors } = helm('template', 'sluice', chart, ...args);
    expect([code, errors]).toEqual([1, expect.stringContaining(sentence)]);
  });
});
