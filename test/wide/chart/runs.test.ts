/**
 * The main job from a rendered chart. The containers of its pods run as processes of the packed npm package, which is
 * all that the image has, with the words, variables, files and probes that Helm rendered: pods.ts. What Kubernetes
 * itself does is not shown here: its network policies, services and their names, security contexts and limits of
 * memory, the autoscaler, disruption budgets, and the order in which pods of a deployment are replaced.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { services } from '@sluice/contracts';
import { parseAllDocuments } from 'yaml';
import { projectRoot } from '../../harness/configurations.js';
import { infra, startTimeout } from '../../infra/client.ts';
import { freshDatabase, freshPrefix } from '../../infra/fresh.ts';
import type { FreshDatabase } from '../../infra/fresh.ts';
import { helm, layOutChart, runs } from './helm.js';
import { Pod } from './pods.js';
import type { Manifest, Node, PodSpec } from './pods.js';

const home = mkdtempSync(join(tmpdir(), 'sluice-pods-'));
const inHome = (...parts: string[]): string => join(home, ...parts);
const application = inHome('app');
const started: Pod[] = [];
afterAll(async () => {
  await Promise.all(started.map((pod) => pod.stop()));
  rmSync(home, { recursive: true, force: true });
});

/** The command line of the package. */
const program = [process.execPath, join(application, 'dist/main.js')];
function sluice(args: readonly string[], input = ''): string {
  const { code, output, errors } = runs(process.execPath, [...program.slice(1), ...args], application, input);
  if (code !== 0) throw new Error(`sluice ${args.join(' ')}: ${errors}`);
  return output;
}

beforeAll(() => {
  layOutChart(inHome('sluice'));
  const ran = (...[command, args, cwd]: Parameters<typeof runs>): void => {
    const { code, errors, output } = runs(command, args, cwd);
    if (code !== 0) throw new Error(`${command} ${args.join(' ')}: ${output}${errors}`);
  };
  ran(process.execPath, [join(projectRoot, 'bin/pack.mjs'), '--only', 'sluice', home]);
  mkdirSync(application);
  const [tarball = ''] = readdirSync(home).filter((name) => name.endsWith('.tgz'));
  // As ops/Dockerfile does it.
  ran('tar', ['-xzf', inHome(tarball), '--strip-components=1'], application);
  ran('npm', ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--omit=dev'], application);
}, startTimeout);

interface Release {
  readonly manifests: readonly Manifest[];
  /** Starts the container of a pod, or of what makes pods. */
  start(component: string): Pod;
}

/** What Helm renders of the values, with the secrets that an operator makes. */
function release(
  name: string,
  args: readonly string[],
  secretOf: (secret: string) => Readonly<Record<string, string>>,
): Release {
  const { code, output, errors } = helm('template', name, inHome('sluice'), ...args);
  if (code !== 0) throw new Error(errors);
  const manifests = parseAllDocuments(output).flatMap((document) => (document.toJS() as Manifest | null) ?? []);
  const specOf = ({ spec, kind }: Manifest): PodSpec =>
    kind === 'Pod' ? (spec as PodSpec) : (spec as { readonly template: { readonly spec: PodSpec } }).template.spec;
  const withPods = manifests.filter(({ kind }) => ['Deployment', 'StatefulSet', 'Job', 'Pod'].includes(kind));
  const wanted = withPods.flatMap((one) => specOf(one).volumes.flatMap(({ secret }) => secret?.secretName ?? []));
  const node: Node = {
    folder: inHome(name),
    workingFolder: application,
    entryPoint: program,
    path: `${dirname(process.execPath)}:/usr/bin:/bin`,
    configMaps: Object.fromEntries(
      manifests.filter(({ kind }) => kind === 'ConfigMap').map(({ metadata, data = {} }) => [metadata.name, data]),
    ),
    secrets: Object.fromEntries([...new Set(wanted)].map((secret) => [secret, secretOf(secret)])),
  };
  return {
    manifests,
    start: (component) => {
      const of = withPods.find(({ metadata }) => metadata.labels['app.kubernetes.io/component'] === component);
      if (of === undefined) throw new Error(`The release has no pod ${component}.`);
      const pod = new Pod(component, specOf(of), started.length, node);
      started.push(pod);
      return pod;
    },
  };
}

const question = 'Which countries border Switzerland?';
const countries = ['Austria', 'France', 'Germany', 'Italy', 'Liechtenstein'];

describe('a release on Kafka', () => {
  let database: FreshDatabase | null = null;
  afterAll(() => database?.drop());

  it(
    'applies its configuration, becomes ready, answers the question of helm test, and stops in order',
    async () => {
      const [{ brokers }, registry, { databaseUrl }] = await Promise.all([infra('kafka'), infra('registry'), infra('postgres')]); // prettier-ignore
      const { url } = (database = await freshDatabase(databaseUrl));
      const keys = inHome('keys.json');
      sluice(['keys', 'new', keys]);
      const addresses = Array.isArray(brokers) ? brokers.map(String) : String(brokers).split(',');
      const on = release(
        'sluice',
        [
          ...['--set', 'mode=kafka,image.repository=sluice,kafka.replication=1'],
          ...['--set', `kafka.prefix=${freshPrefix('chart')},registry.url=${registry.url}`],
          ...['--set-json', `kafka.brokers=${JSON.stringify(addresses)}`],
        ],
        (secret) => {
          if (secret === 'sluice-database') return { url };
          const [, role = ''] = /^sluice-keys-(\w+)$/.exec(secret) ?? [];
          return { 'keys.json': sluice(['keys', 'export', role, keys]) };
        },
      );
      // Pods come before what they wait for, as they do in a cluster.
      const pods = new Map(services.map((name) => [name, on.start(name)]));
      expect(await on.start('configuration').ended).toMatchObject({ code: 0 });
      for (const pod of pods.values()) await pod.ready(120);

      const asked = await on.start('test').ended;
      expect(asked).toMatchObject({ code: 0 });
      for (const country of countries) expect(asked.output).toContain(country);

      // Without an identity the gateway serves its own machine, as `kubectl port-forward` reaches it.
      const gateway = pods.get('gateway');
      const address = `http://${gateway?.address ?? ''}:${String(gateway?.port('gateway'))}`;
      expect((await fetch(`${address}/openapi.json`)).status).toBe(200);
      for (const [name, pod] of pods) expect([name, (await pod.stop()).code]).toEqual([name, 0]);
    },
    startTimeout,
  );
});

describe('a release in one pod', () => {
  it(
    'becomes ready, passes helm test, and answers a question over HTTP',
    async () => {
      const on = release('desk', ['--set', 'image.repository=sluice'], () => ({}));
      const pod = on.start('embedded');
      await pod.ready(120);

      // The name of the service is what Kubernetes resolves.
      const tested = on.manifests.find(({ kind }) => kind === 'Pod')?.spec as PodSpec;
      const [{ command = [], args }] = tested.containers;
      const words = args.map((word) => word.replace('//desk-sluice:', `//${pod.address}:`));
      const { code, output } = runs(process.execPath, [...command.slice(1), ...words]);
      expect([code, output]).toEqual([0, expect.stringContaining('"filter"')]);

      const answer = await fetch(`http://${pod.address}:${String(pod.port('gateway'))}/v1/runs`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', prefer: 'wait=60' },
        body: JSON.stringify({ question, group: ['*'] }),
      });
      const text = await answer.text();
      for (const country of countries) expect(text).toContain(country);
      expect((await pod.stop()).code).toBe(0);
    },
    startTimeout,
  );
});
