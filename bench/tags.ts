import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { compileRules } from '@sluice/core';
import type { RuleTool } from '@sluice/core';
import { builtInTools } from '@sluice/packs';
import { createToolSource } from '@sluice/sources';
import type { ToolContract } from '@sluice/tools';
import { median, perCall, report } from './measure.js';
import { configurationOf, manyTools } from './rules.js';

/**
 * What groups and states cost where they are not asked: in memory, at the start, and at a transition (tool-groups.md
 * 10.1, 10.2).
 */
export async function benchTags(): Promise<void> {
  const tagged = manyTools(1_000);
  const plain = tagged.map((tool) => ({ ...tool, groups: ['default'], states: ['*'], target: null }));

  // Each once in a round, so that what else the machine does falls on both.
  const rounds = Array.from({ length: 51 }, () => [
    timeOf(() => compileRules(tagged)),
    timeOf(() => compileRules(plain)),
  ]);
  const withTags = median(rounds.map(([first]) => first as number));
  const without = median(rounds.map(([, second]) => second as number));

  const target = tagged.find((tool) => tool.target !== null) as RuleTool & { target: string };
  const rules = compileRules(tagged);
  const transition = perCall(() => rules.decide(['group-3', 'team-2'], target.target));
  const noTransition = perCall(() => rules.decide(['group-3', 'team-2'], 'state-2'));

  const contract = builtInTools[0] as ToolContract;
  const configuration = configurationOf(tagged.map((tool) => ({ ...tool, type: contract.type })));
  const start = (): ReturnType<typeof createToolSource> =>
    createToolSource(configuration, { contracts: [contract], mcp: noServers });
  const starts = Array.from({ length: 21 }, () => [
    timeOf(start),
    timeOf(() => {
      const source = start();
      for (const tool of tagged) source.getBoundTool(tool.id);
    }),
  ]);

  report('What tags cost, 1,000 tools', [
    { name: 'memory of one tool’s groups, states and target', value: bytesPerTool(), unit: 'bytes' },
    { name: 'compiling tools with tags', value: withTags, unit: 'ms' },
    { name: 'the same tools without tags', value: without, unit: 'ms' },
    { name: 'the first decision of a run in the state that a call led to', value: transition / 1_000, unit: 'µs' },
    { name: 'a decision in the state as it was', value: noTransition / 1_000, unit: 'µs' },
    {
      name: 'start of the executor’s tools, each bound at its first use',
      value: median(starts.map(([lazy]) => lazy as number)),
      unit: 'ms',
    },
    { name: 'the same, all bound at the start', value: median(starts.map(([, eager]) => eager as number)), unit: 'ms' },
  ]);
}

const noServers = {
  discover: async () => [],
  connect: () => Promise.reject(new Error('There are no servers.')),
  status: () => [],
  close: async () => undefined,
  call: async () => ({}),
};

function timeOf(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

/** What 100,000 sets of tags take on the heap, for one of them. */
function bytesPerTool(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const kept: unknown[] = new Array<unknown>(100_000);
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let n = 0; n < kept.length; n++)
    kept[n] = {
      groups: [`group-${n % 50}`, `team-${n % 7}`],
      states: [`state-${n % 5}`, 'undefined'],
      target: `state-${n % 5}`,
    };
  collect();
  const after = process.memoryUsage().heapUsed;
  return kept.length > 0 ? (after - before) / kept.length : NaN;
}
