import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { createMetrics } from '@sluice/host';
import { files } from '../../ops/grafana/src/dashboards.ts';
import { dashboards, metricsIn, notOurs, panelsOf, root } from './promql.js';

const all = [...dashboards()];
const metrics = await createMetrics().registry.getMetricsAsJSON();
const known = new Set(metrics.flatMap(({ name }) => [name, ...['_bucket', '_sum', '_count'].map((end) => name + end)]));

describe('the dashboards', () => {
  it('are those of the sources: `npm run generate` writes them', () => {
    const written = globSync('ops/grafana/dashboards/*', { cwd: root });
    expect(written.map((file) => basename(file)).sort()).toEqual([...files.keys()].sort());
    for (const [name, text] of files)
      expect(readFileSync(join(root, 'ops/grafana/dashboards', name), 'utf8')).toBe(text);
  });

  it('are the seven, each with an address of its own', () => {
    expect(all.map(([, { title }]) => title).sort()).toEqual(
      ['Groups and states', 'MCP clients and the proxy', 'Model', 'Overview', 'Runtime', 'Security', 'Tools'].map(
        (title) => `Sluice: ${title}`,
      ),
    );
    expect(new Set(all.map(([, { uid }]) => uid)).size).toBe(7);
  });

  it.each(all)(
    '%s: each panel says what it shows, in which unit, from the data source that is chosen',
    (_, dashboard) => {
      expect(dashboard.templating.list.slice(0, 3).map(({ name }) => name)).toEqual(['datasource', 'role', 'instance']);
      const panels = panelsOf(dashboard);
      expect(panels.length).toBeGreaterThan(5);
      expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
      for (const panel of panels) {
        expect([panel.title, panel.description]).toEqual([panel.title, expect.stringMatching(/^.{20,}\.$/s)]);
        expect(panel.fieldConfig?.defaults.unit).toBeTruthy();
        expect(panel.datasource?.uid).toBe('${datasource}');
        expect(panel.targets?.length).toBeGreaterThan(0);
      }
    },
  );

  it.each(all)('%s: no two panels lie on one another, and none leaves the page', (_, { panels }) => {
    const taken = new Set<string>();
    for (const { title, gridPos } of panels) {
      expect([title, gridPos.x + gridPos.w]).toEqual([title, expect.any(Number)]);
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          const cell = `${x}/${y}`;
          expect([title, cell, taken.has(cell)]).toEqual([title, cell, false]);
          taken.add(cell);
        }
    }
  });

  it.each(all)('%s: asks only for metrics that there are', (_, dashboard) => {
    const asked = panelsOf(dashboard).flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => metricsIn(expr)));
    expect(asked.length).toBeGreaterThan(5);
    expect(asked.filter((name) => !known.has(name) && !notOurs.test(name))).toEqual([]);
  });

  it('together show every metric of the system', () => {
    const shown = new Set(
      all.flatMap(([, dashboard]) =>
        panelsOf(dashboard).flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => metricsIn(expr))),
      ),
    );
    const base = new Set([...shown].map((name) => name.replace(/_(bucket|sum|count)$/, '')));
    expect(metrics.map(({ name }) => name).filter((name) => !base.has(name) && !shown.has(name))).toEqual([]);
  });
});
