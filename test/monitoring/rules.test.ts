import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { createMetrics } from '@sluice/host';
import { securityFaults } from '@sluice/core';
import { parse } from 'yaml';
import { startTimeout } from '../infra/client.ts';
import { findPrometheus } from '../infra/local/prometheus-binaries.ts';
import { metricsIn, notOurs, root } from './promql.js';

interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

const files = (pattern: string): readonly string[] => globSync(pattern, { cwd: root }).sort();
const yaml = (file: string): unknown => parse(readFileSync(join(root, file), 'utf8'));
const rules = files('ops/prometheus/rules/*.yml').flatMap((file) =>
  (yaml(file) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules),
);
const alerts = rules.filter((rule): rule is Rule & { alert: string } => rule.alert !== undefined);

describe('the rules for Prometheus', () => {
  let promtool: string;
  beforeAll(async () => {
    ({ promtool } = await findPrometheus(console.error, AbortSignal.timeout(startTimeout)));
  }, startTimeout);

  const run = async (...args: string[]): Promise<string> => {
    const { stdout, stderr } = await promisify(execFile)(promtool, args, { cwd: root }).catch(
      (error: { stdout: string; stderr: string }) => error,
    );
    return stdout + stderr;
  };

  it('are well formed', async () => {
    const said = await run('check', 'rules', ...files('ops/prometheus/rules/*.yml'));
    expect(said.match(/SUCCESS/g)).toHaveLength(files('ops/prometheus/rules/*.yml').length);
    expect(said).not.toMatch(/FAILED|lint/);
  });

  it('fire and stay quiet as their cases say (G-100, G-101)', async () => {
    const said = await run('test', 'rules', ...files('ops/prometheus/tests/*.yml'));
    expect(said).not.toContain('FAILED');
    expect(said.match(/SUCCESS/g)).toHaveLength(files('ops/prometheus/tests/*.yml').length);
  });

  it('each have a case in which they fire', () => {
    const cases = files('ops/prometheus/tests/*.yml')
      .map((file) => readFileSync(join(root, file), 'utf8'))
      .join('');
    const firing = new Set([...cases.matchAll(/alertname="(\w+)"\}', value/g)].map((match) => match[1]));
    expect([...firing].sort()).toEqual(alerts.map(({ alert }) => alert).sort());
  });

  it('ask only for metrics that there are', async () => {
    const metrics = await createMetrics().registry.getMetricsAsJSON();
    const known = new Set(metrics.flatMap(({ name }) => [name, `${name}_count`, `${name}_bucket`, `${name}_sum`]));
    for (const { record } of rules) if (record !== undefined) known.add(record);
    for (const { expr } of rules)
      expect(metricsIn(expr).filter((name) => !known.has(name) && !notOurs.test(name))).toEqual([]);
  });

  it('know every kind of record that is not its run’s own', () => {
    const named = alerts.filter(({ expr }) => expr.includes('sluice_dead_letters_total'));
    expect(named.map(({ alert }) => alert)).toEqual(['SluiceForgedRecords', 'SluiceDeadLetters']);
    for (const { expr } of named)
      expect(/code[!=]~"([\w|]+)"/.exec(expr)?.[1]?.split('|').sort()).toEqual([...securityFaults].sort());
  });
});

describe('docs/runbooks.md', () => {
  const page = readFileSync(join(root, 'docs/runbooks.md'), 'utf8');
  const sections = new Map(page.split(/^## /m).map((part) => [part.split('\n')[0] ?? '', part]));
  sections.delete('# Runbooks');

  it('has exactly one section an alert, with its severity', () => {
    expect([...sections.keys()].sort()).toEqual(alerts.map(({ alert }) => alert).sort());
    for (const { alert, labels } of alerts)
      expect([alert, sections.get(alert)]).toEqual([alert, expect.stringContaining(`\n\`${labels?.['severity']}\`. `)]);
  });

  it('is where each alert leads', () => {
    for (const { alert, annotations } of alerts) {
      expect(annotations).toEqual({
        summary: expect.stringMatching(/\.$/),
        description: expect.stringMatching(/\.$/),
        runbook_url: `docs/runbooks.md#${alert.toLowerCase()}`,
      });
    }
  });
});
