import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runTool } from '@sluice/core';
import { createToolSource } from '@sluice/sources';
import { ToolProcesses } from '@sluice/isolation';
import type { ToolContract } from '@sluice/tools';
import { median, quantile, report } from '../measure.js';
import { invocationOf, pipelineFor } from './pipeline.js';
import { args, configurationFor, instant, timed } from './runner.js';

/** The tool of the other measurement, as a file. */
const file = `export default ({ defineTool, z }) => {
  const row = z.strictObject({ name: z.string(), size: z.number(), tags: z.array(z.string()) });
  return defineTool({
    type: 'instant', description: 'Gives back its rows.',
    input: z.strictObject({ rows: z.array(row), limit: z.int().max(100).default(10) }),
    output: z.object({ rows: z.array(row), total: z.number() }),
    effect: 'read_only', redaction: { fields: ['rows', 'total'] }, capabilities: [], repeatable: true, requiresConnection: false,
    execute: async ({ rows }) => ({ rows, total: rows.length }),
  });
};`;

/**
 * The same tool in the service’s own process and, as a file, in processes of its own: whole calls through the
 * pipeline, in turns.
 */
export async function benchIsolated(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  const path = join(folder, 'instant.mjs');
  await writeFile(path, file);
  const processes = new ToolProcesses();
  try {
    const began = performance.now();
    const { contract } = await processes.load(path);
    const startMs = performance.now() - began;
    const [inside, isolated] = [callsOf(instant), callsOf(contract)];
    for (let warm = 0; warm < 2_000; warm++) await inside();
    for (let warm = 0; warm < 2_000; warm++) await isolated();
    const [near, far]: [number[], number[]] = [[], []];
    for (let round = 0; round < 20; round++) {
      await timed(inside, 100, near);
      await timed(isolated, 100, far);
    }
    report('A call of a tool that returns at once, in the service’s process and in one of its own', [
      { name: 'in the service’s process, median', value: median(near), unit: 'µs' },
      { name: 'in a process of its own, median', value: median(far), unit: 'µs' },
      { name: 'the same, p99', value: quantile(far, 0.99), unit: 'µs' },
      { name: 'isolation adds, median', value: median(far) - median(near), unit: 'µs', goal: { atMost: 1_000 } },
      { name: 'isolated / in the service’s process', value: median(far) / median(near), unit: '' },
      { name: 'to start a process and load the file', value: startMs, unit: 'ms' },
    ]);
  } finally {
    await processes.close();
    await rm(folder, { recursive: true, force: true });
  }
}

function callsOf(contract: ToolContract): () => Promise<void> {
  const file = { tool: { instant: { type: 'instant' } }, policy: { allowed_tools: ['*'] } };
  const configuration = configurationFor(file, [contract]);
  const none = (): never => {
    throw new Error('There are no servers.');
  };
  const hub = { discover: none, connect: none, call: none, status: () => [], close: none };
  const source = createToolSource(configuration, { contracts: [contract], mcp: hub });
  const pipeline = pipelineFor(configuration, source);
  return async () => {
    const end = await runTool(invocationOf('core__instant', args), pipeline);
    if (end.kind === 'parked' || !end.result.ok) throw new Error('The call did not come to its result.');
  };
}
