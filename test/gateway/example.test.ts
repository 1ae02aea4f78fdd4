import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { calls, projectRoot, workflowConfiguration } from '../harness/configurations.js';
import { inOrder, ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';

const example = join(projectRoot, 'examples/upstream/ask-http.ts');

describe('the example that asks over HTTP', () => {
  let system: TestSystem;
  let gateway: Gateway;
  beforeAll(async () => {
    const model = new ScriptedModel(inOrder({ calls: [calls.query], thought: 'I look.' }, { answer: 'It is so.' }));
    system = await startSystem(workflowConfiguration(), model);
    gateway = await startGateway(system.embedded.runtime);
  });
  afterAll(async () => {
    await gateway.close();
    await system.close();
  });

  async function run(...words: string[]): Promise<readonly [number | null, string]> {
    const env = { PATH: process.env['PATH'] ?? '', SLUICE_URL: gateway.url };
    const child = spawn(process.execPath, [example, ...words], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    const [said, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
    return [await ended, said + errors];
  }

  it('shows what the model says, its calls and their results, and ends with 0 for an answer', async () => {
    const [code, said] = await run('Is it so?', '*');
    expect(said).toMatch(/I look\.\ncalls core__knowledge-query .*\n {3}-> .*\nIt is so\.\n$/s);
    expect(code).toBe(0);
  });

  it('says why there is no answer', async () => {
    const [code, said] = await run(' ');
    expect([code, said]).toEqual([1, expect.stringContaining('The question is empty. Put the user’s question there.')]);
    expect(await run()).toEqual([2, expect.stringContaining('Give a question')]);
  });
});
