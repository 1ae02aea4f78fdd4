import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { access, services } from '@sluice/contracts';
import { parse } from 'yaml';
import { usages } from '../apps/sluice/src/commands/all.js';

// Services of Compose share parts by aliases, more of them than the reader takes of strangers.
const read = (file: string): unknown => parse(readFileSync(file, 'utf8'), { maxAliasCount: 1_000 });
const sorted = (names: readonly string[]): readonly string[] => names.toSorted();

describe('the table of services', () => {
  it('is what compose runs, under those names', () => {
    const { services: composed } = read('docker-compose.yml') as {
      services: Record<string, { command?: string | readonly string[] }>;
    };
    const serving = Object.entries(composed).filter(([, { command }]) => command?.[0] === 'serve');
    expect(sorted(serving.map(([name]) => name))).toEqual(sorted(services));
    for (const [name, { command }] of serving) expect(command).toEqual(['serve', '--role', name]);
  });

  it('is whose absence alerts', () => {
    const { groups } = read('ops/prometheus/rules/roles.yml') as {
      groups: readonly { rules: readonly { labels: { role: string } }[] }[];
    };
    expect(groups.flatMap(({ rules }) => rules.map(({ labels }) => labels.role))).toEqual([...services]);
  });

  it('has rights for each, and is what serve offers', async () => {
    for (const service of services) expect(Object.keys(access)).toContain(service);
    expect((await usages()).get('serve')).toContain(`--role ${services.join('|')}|all`);
  });
});
