import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { roles, services } from '@sluice/contracts';
import { readEnvironment } from '@sluice/host';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { usage as keysUsage } from '../../apps/sluice/src/commands/keys.js';
import { files } from '../../ops/chart/generate.js';

const root = join(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const { layOutChart } = (await import(join(root, 'bin/chart.mjs'))) as {
  readonly layOutChart: (folder: string) => string;
};
const folder = mkdtempSync(join(tmpdir(), 'sluice-chart-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
layOutChart(folder);
const chart = (file: string): string => readFileSync(join(folder, file), 'utf8');

/** What the chart knows of a role, in templates/_helpers.tpl. */
interface Facts {
  readonly lag?: boolean;
  readonly port?: number;
}
const [, list = ''] = /define "sluice\.roles" -}}\n([^]*?)\{\{- end/.exec(chart('templates/_helpers.tpl')) ?? [];
const facts = parse(list) as Readonly<Record<string, Facts>>;
const templates = readdirSync(join(folder, 'templates'), { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.(tpl|yaml|txt)$/.test(name))
  .map((name) => chart(join('templates', name)))
  .join('\n');

describe('the Helm chart', () => {
  it('has values, their schema and their page as ops/chart/values.ts says', async () => {
    for (const [path, text] of Object.entries(await files())) expect([path, read(path)]).toEqual([path, text]);
  });

  it('knows the roles of `sluice serve`, those with a consumer group, and where the others listen', () => {
    expect(Object.keys(facts)).toEqual([...services]);
    const byLag = services.filter((name) => facts[name]?.lag);
    expect(byLag).toEqual(services.filter((name) => roles[name].group !== null));
    // The lag is asked for by the name of the group.
    for (const name of byLag) expect(roles[name].group).toBe(name);
    const { port, httpPort, proxyPort, mcpPort } = readEnvironment({});
    expect(templates).toContain(`{ name: http, containerPort: ${String(port)} }`);
    expect(Object.fromEntries(services.map((name) => [name, facts[name]?.port]).filter(([, at]) => at))).toEqual({
      ...{ gateway: httpPort, proxy: proxyPort, mcp: mcpPort },
    });
  });

  it('has values for each role, and folders of an operator for each component', () => {
    const { roles: ofRoles } = parse(chart('values.yaml')) as { readonly roles: Readonly<Record<string, object>> };
    expect(Object.keys(ofRoles)).toEqual([...services]);
    for (const name of services) {
      const doorValues = ['clients', 'service'].filter((value) => Object.hasOwn(ofRoles[name] ?? {}, value));
      expect([name, doorValues]).toEqual([name, facts[name]?.port === undefined ? [] : ['clients', 'service']]);
    }
    const { properties } = JSON.parse(chart('values.schema.json')) as {
      readonly properties: {
        readonly mounts: {
          readonly items: { readonly properties: { readonly components: { items: { enum: string[] } } } };
        };
      };
    };
    const { enum: components } = properties.mounts.items.properties.components.items;
    expect(components).toEqual([...services, 'configuration', 'embedded']);
  });

  it('refuses values that it does not know, at every depth', () => {
    const open: string[] = [];
    const look = (schema: Readonly<Record<string, unknown>>, path: string): void => {
      const { properties } = schema as { readonly properties?: Readonly<Record<string, Record<string, unknown>>> };
      if (properties === undefined) return;
      if (schema['additionalProperties'] !== false) open.push(path);
      for (const [name, one] of Object.entries(properties)) look(one, `${path}.${name}`);
    };
    look(JSON.parse(chart('values.schema.json')) as Record<string, unknown>, 'values');
    expect(open).toEqual([]);
  });

  it('takes the values that the pages show', () => {
    const isValid = new Ajv({ strict: false }).compile(JSON.parse(chart('values.schema.json')) as object);
    const shown = [...read('docs/operations.md').matchAll(/```yaml\n(# values\.yaml\n[^]*?)```/g)];
    expect(shown.length).toBeGreaterThan(3);
    for (const [, text = ''] of shown) expect([text, isValid(parse(text)), isValid.errors]).toEqual([text, true, null]);
  });

  it('sets variables that Sluice reads', () => {
    const set = [
      ...templates.matchAll(/^([A-Z][A-Z0-9_]+): /gm),
      ...templates.matchAll(/name: ((?:SLUICE|KAFKA|DATABASE)_[A-Z0-9_]+)/g),
    ].map(([, name = '']) => name.replace(/_FILE$/, ''));
    expect(set.length).toBeGreaterThan(20);
    const pages = read('docs/operations.md') + read('docs/traces.md');
    for (const name of new Set(set)) expect(pages).toContain(`\`${name}\``);
  });

  it('mounts in each role the keys that `sluice keys export` prints for it', () => {
    const [, named = ''] = /ROLE is ([^]*?\bor \w+)/.exec(keysUsage) ?? [];
    for (const role of [...services, 'config']) expect(named).toMatch(new RegExp(`\\b${role}\\b`));
    expect(templates).toContain('dict "configuration" "config" "test" "gateway"');
  });

  it('runs containers that may do nothing but their work', () => {
    for (const line of [
      'runAsNonRoot: true',
      'seccompProfile: { type: RuntimeDefault }',
      'allowPrivilegeEscalation: false',
      'readOnlyRootFilesystem: true',
      'capabilities: { drop: [ALL] }',
      'automountServiceAccountToken: false',
      'enableServiceLinks: false',
    ])
      expect(chart('templates/_pod.tpl')).toContain(line);
    // One definition makes all pods.
    expect(templates.match(/^ *containers:/gm)).toHaveLength(1);
  });

  it('ships the package’s version, the dashboards, the alerts and the sample', () => {
    const { version } = JSON.parse(read('package.json')) as { readonly version: string };
    expect(parse(chart('Chart.yaml'))).toMatchObject({ name: 'sluice', version, appVersion: version });
    for (const [from, to] of [
      ['ops/grafana/dashboards', 'files/dashboards'],
      ['ops/prometheus/rules', 'files/rules'],
    ] as const) {
      // The roles of a release are its values’ affair.
      const names = readdirSync(join(root, from)).filter((name) => name !== 'roles.yml');
      expect(readdirSync(join(folder, to))).toEqual(names);
      for (const name of names) expect(chart(join(to, name))).toBe(read(join(from, name)));
    }
    expect(chart('files/sluice.yaml')).toBe(read('examples/countries/sluice.yaml'));
    expect(existsSync(join(folder, 'generate.ts'))).toBe(false);
  });
});
