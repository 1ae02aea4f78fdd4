import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { compileConfiguration, formatProblems } from '@sluice/configuration';
import { connectionAdapters, toolErrorReasons } from '@sluice/core';
import { createMetrics } from '@sluice/host';

const page = readFileSync(join(import.meta.dirname, '../../docs/connections.md'), 'utf8');

describe('docs/connections.md', () => {
  it('has an example that compiles', () => {
    const example = /```yaml\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
    const type = {
      type: 'find_customer',
      description: 'Finds.',
      inputSchema: { type: 'object' },
      effect: 'read_only',
      redaction: { whole: true },
      repeatable: true,
      requiresConnection: true,
    } as const;
    const { configuration, problems } = compileConfiguration(parse(example), {
      types: [type],
      offers: [],
      digest: (text) => createHash('sha256').update(text).digest('hex'),
      files: { read: () => ({ error: 'There are no files here.' }), cedarProblems: () => [] },
    });
    expect(formatProblems(problems)).toBe('');
    expect(configuration?.connections).toHaveLength(3);
    expect(configuration?.mcpServers.map(({ connection }) => connection?.id)).toEqual(['calendar', 'mail']);
  });

  it('names every reason of a refused connection but the one that a compiled configuration cannot have, and a metric that there is', () => {
    const reasons = Object.keys(toolErrorReasons).filter((reason) => reason.startsWith('connection_'));
    for (const reason of reasons.filter((one) => one !== 'connection_missing')) expect(page).toContain(`\`${reason}\``);
    const metrics = createMetrics().registry.getMetricsAsArray();
    expect(metrics.map(({ name }) => name)).toContain(/`(sluice_credentials\w+)`/.exec(page)?.[1]);
  });

  it('has a row for each adapter', () => {
    for (const adapter of connectionAdapters) expect(page).toMatch(new RegExp(`^\\| \`${adapter}\` \\|`, 'm'));
  });
});
