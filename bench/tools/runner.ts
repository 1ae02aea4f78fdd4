import { createHash } from 'node:crypto';
import { z } from 'zod';
import { compileConfiguration } from '@sluice/configuration';
import { runTool } from '@sluice/core';
import type { Configuration, McpOffer } from '@sluice/core';
import { createToolSource } from '@sluice/sources';
import { defineTool, toolTypes } from '@sluice/tools';
import type { ToolContract } from '@sluice/tools';
import { median, quantile, report } from '../measure.js';
import { invocationOf, pipelineFor } from './pipeline.js';

const row = z.strictObject({ name: z.string(), size: z.number(), tags: z.array(z.string()) });
export const instant = defineTool({
  type: 'instant',
  description: 'Gives back its rows.',
  input: z.strictObject({ rows: z.array(row), limit: z.int().max(100).default(10) }),
  output: z.object({ rows: z.array(row), total: z.number() }),
  effect: 'read_only',
  redaction: { fields: ['rows', 'total'] },
  capabilities: [],
  repeatable: true,
  requiresConnection: false,
  execute: ({ rows }) => Promise.resolve({ rows, total: rows.length }),
});

/** About a kilobyte of JSON. */
export const args = {
  rows: Array.from({ length: 16 }, (_, at) => ({ name: `row number ${at}`, size: at, tags: ['a tag', 'another'] })),
};

/** The runner around a tool that returns at once, and that tool alone. */
export async function benchRunner(): Promise<void> {
  const configuration = configurationFor({ tool: { instant: { type: 'instant' } }, policy: { allowed_tools: ['*'] } }, [
    instant,
  ]);
  const hub = { discover: none, connect: none, call: none, status: () => [], close: none };
  const source = createToolSource(configuration, { contracts: [instant], mcp: hub });
  const pipeline = pipelineFor(configuration, source);
  const bound = source.getBoundTool('core__instant');
  if (bound === undefined) throw new Error('The tool is not bound.');
  const run = async (): Promise<void> => {
    const end = await runTool(invocationOf('core__instant', args), pipeline);
    if (end.kind === 'parked' || !end.result.ok) throw new Error('The call did not come to its result.');
  };
  const { context } = invocationOf('core__instant', args);
  const alone = async (): Promise<void> => void (await bound.exec(args, context, {}));

  for (let warm = 0; warm < 5_000; warm++) await run();
  const [times, bare]: [number[], number[]] = [[], []];
  for (let round = 0; round < 40; round++) {
    await timed(run, 250, times);
    await timed(alone, 250, bare);
  }
  report(`The tool pipeline around a tool that returns at once (${JSON.stringify(args).length} bytes in and out)`, [
    { name: 'the runner’s own cost, median', value: median(times) - median(bare), unit: 'µs', goal: { atMost: 50 } },
    { name: 'the runner’s own cost, p99', value: quantile(times, 0.99) - median(bare), unit: 'µs' },
  ]);
}

export function configurationFor(
  file: object,
  contracts: readonly ToolContract[],
  offers: readonly McpOffer[] = [],
): Configuration {
  const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
  const { configuration, problems } = compileConfiguration(file, {
    types: toolTypes(contracts),
    offers,
    digest,
    files: { read: () => ({ error: 'There are no files here.' }), cedarProblems: () => [] },
  });
  if (configuration === null) throw new Error(JSON.stringify(problems));
  return configuration;
}

/** Microseconds of each call, one after another. */
export async function timed(work: () => Promise<unknown>, calls: number, into: number[]): Promise<void> {
  for (let call = 0; call < calls; call++) {
    const start = performance.now();
    await work();
    into.push((performance.now() - start) * 1_000);
  }
}

function none(): never {
  throw new Error('There are no servers.');
}
