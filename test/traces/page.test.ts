import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { projectRoot } from '../harness/configurations.js';
import { page, rows } from './page.js';

it('docs/traces.md has exactly the variables that are read', () => {
  const source = readFileSync(join(projectRoot, 'libs/host/src/traces-environment.ts'), 'utf8');
  const read = [...source.matchAll(/'(OTEL_[A-Z_]+)'/g)].map((match) => match[1] ?? '');
  const written = new Set(page.match(/OTEL_[A-Z_]+[A-Z]/g));
  // The one that OpenTelemetry's own detector reads.
  expect([...written].sort()).toEqual([...new Set([...read, 'OTEL_RESOURCE_ATTRIBUTES'])].sort());
  expect(rows('variable').length).toBeGreaterThan(10);
});
