import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

export const root = join(import.meta.dirname, '../..');

export interface Target {
  readonly expr: string;
  readonly instant?: boolean;
}

export interface Panel {
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly datasource?: { readonly uid: string };
  readonly targets?: readonly Target[];
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string } };
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
}

export interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly query?: unknown }[] };
}

/** The dashboards as Grafana gets them, by the name of their file. */
export function dashboards(): ReadonlyMap<string, Dashboard> {
  const files = globSync('ops/grafana/dashboards/*.json', { cwd: root });
  return new Map(
    files.map((file) => [basename(file), JSON.parse(readFileSync(join(root, file), 'utf8')) as Dashboard]),
  );
}

/** What of it shows data. */
export function panelsOf({ panels }: Dashboard): readonly Panel[] {
  return panels.filter(({ type }) => type !== 'row');
}

/**
 * The names of metrics in an expression of PromQL: what stands before braces or brackets, or by itself and looks like
 * one of ours.
 */
export function metricsIn(expression: string): readonly string[] {
  const bare = expression.replaceAll(/"[^"]*"/g, '""').replaceAll(/\$\w+/g, '1m');
  const selected = [...bare.matchAll(/([a-zA-Z_:][\w:]*)\s*[{[]/g)].map((match) => match[1] ?? '');
  const ours = [...bare.matchAll(/\b(?:sluice|agent|gen_ai_client|group:agent|job:sluice)_[\w:]+/g)].map(
    ([name]) => name,
  );
  return [...new Set([...selected, ...ours])];
}

/** Metrics that Prometheus itself or the Node process has. */
export const notOurs = /^(up|ALERTS|process_\w+|nodejs_\w+)$/;

/** What Grafana puts in the place of its variables, with everything chosen, where a test's Prometheus scrapes often. */
const oftenScraped: Readonly<Record<string, string>> = { $__rate_interval: '10s', $__range: '1m' };

/** The query as Grafana sends it. */
export function inPlaceOfVariables(expr: string, variables = oftenScraped): string {
  return expr.replaceAll(/\$\w+/g, (name) => variables[name] ?? '.*');
}
