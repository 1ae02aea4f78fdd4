import { describe, expect, it } from '@jest/globals';
import { toolNames } from '@sluice/run';
import type { Loaded } from '@sluice/run';

const loaded = (...tools: readonly { id: string; key: string; title: string }[]) =>
  ({ configuration: { tools } }) as unknown as Loaded;
const before = loaded({ id: 'core__pay', key: 'pay', title: 'Pay' });
const now = loaded(
  { id: 'core__pay', key: 'pay-money', title: 'Pay money' },
  { id: 'core__send', key: 'send', title: 'Send' },
);

describe('the names of the tools of waiting calls', () => {
  const asked: string[] = [];
  const configurations = {
    inForceOrNull: () => now,
    versionOrNull: (version: string) => {
      asked.push(version);
      return version === 'c-1' ? before : null;
    },
  };

  it('are those of the configuration that granted the call, else of the one in force, else the id', () => {
    const calls = [
      { tool: 'core__pay', configVersion: 'c-1' },
      { tool: 'core__pay', configVersion: 'c-gone' },
      { tool: 'core__send', configVersion: 'c-1' },
      { tool: 'core__none', configVersion: 'c-1' },
    ];
    expect(toolNames(calls, configurations)).toEqual([
      { key: 'pay', title: 'Pay' },
      { key: 'pay-money', title: 'Pay money' },
      { key: 'send', title: 'Send' },
      { key: 'core__none', title: null },
    ]);
    expect(asked).toEqual(['c-1', 'c-gone']);
  });

  it('need few configurations, however many the calls name', () => {
    asked.length = 0;
    toolNames(
      Array.from({ length: 1_000 }, (_, n) => ({ tool: 'core__pay', configVersion: `c-${n}` })),
      configurations,
    );
    expect(asked).toHaveLength(8);
  });
});
