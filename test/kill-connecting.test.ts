import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { topics } from '@sluice/contracts';
import { openSqliteBus } from '@sluice/bus';
import type { SqliteBus } from '@sluice/bus';
import { eventually } from './harness/eventually.js';
import { sluice } from './harness/program.js';
import type { Program } from './harness/program.js';
import { scriptedEndpoint } from './harness/scripted-endpoint.js';
import type { ScriptedEndpoint } from './harness/scripted-endpoint.js';

/** A server that writes down its processes and its effects, and says nothing while the file `slow` is there. */
const server = `
import { appendFileSync, existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
const [, , folder] = process.argv;
appendFileSync(folder + '/processes', process.pid + '\\n');
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'pay', version: '1' } }),
  'tools/list': () => ({ tools: [{ name: 'pay', description: 'Pays.', inputSchema: { type: 'object' } }] }),
  'tools/call': () => {
    appendFileSync(folder + '/paid', 'paid\\n');
    return { content: [{ type: 'text', text: '"paid"' }] };
  },
};
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined || existsSync(folder + '/slow')) return;
  const answer = answers[method];
  const outcome = answer === undefined ? { error: { code: -32601, message: 'Unknown' } } : { result: answer(params) };
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...outcome }) + '\\n');
});
`;

describe('kill -9 of the process while it connects to the server of a call with an effect', () => {
  let folder: string;
  let endpoint: ScriptedEndpoint;
  let running: Program | undefined;
  let bus: SqliteBus | undefined;
  beforeEach(async () => {
    folder = mkdtempSync(join(realpathSync(tmpdir()), 'sluice-connecting-'));
    endpoint = await scriptedEndpoint([['mcp__bank__pay', '{}']], 20);
    writeFileSync(join(folder, 'server.mjs'), server);
    writeFileSync(
      join(folder, 'sluice.yaml'),
      `
tool: { pay: { type: mcp-tool } }
mcp:
  servers: { bank: { command: "${process.execPath}", args: [${join(folder, 'server.mjs')}, ${folder}], timeout_seconds: 60 } }
  tools: { pay: { server: bank, tool: pay, effect: external_side_effect, redaction: whole } }
policy: { allowed_tools: [pay], approval: { none: 'this is a test' } }
limits: { tool_seconds: 30 }
model: { provider: openai-compatible, name: scripted, base_url: "${endpoint.baseUrl}" }
`,
    );
  });
  afterEach(async () => {
    running?.process.kill('SIGKILL');
    await running?.ended;
    await bus?.close();
    await endpoint.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const start = async (): Promise<void> => {
    running = sluice(['start'], { SLUICE_DATA: join(folder, 'data'), SLUICE_CONFIG: join(folder, 'sluice.yaml') });
    await running.says('It keeps serving');
  };
  const killed = async (): Promise<void> => {
    running?.process.kill('SIGKILL');
    await running?.ended;
  };
  const lines = (name: string): readonly string[] => {
    const path = join(folder, name);
    return existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : [];
  };

  it.each([
    ['in one hop', topics.calls, { call: { tool: 'mcp__bank__pay', arguments: '{}' } }],
    ['of a model', topics.requests, {}],
  ])(
    'which is %s: the next attempt makes the call, once',
    async (_, topic, more) => {
      await start();
      const file = join(folder, 'data', 'log.sqlite');
      const own = { clock: { now: () => Date.now() }, instance: 'the test', processId: process.pid };
      const log = (bus = await openSqliteBus({ ...own, file, isAlive: () => true }));
      const all = async <T extends 'agent.progress' | 'agent.responses'>(wanted: T) => {
        const found = [];
        for await (const { record } of log.read([wanted], { from: 'start' })) found.push(record);
        return found;
      };
      writeFileSync(join(folder, 'slow'), '');
      const before = lines('processes');
      for (const processId of before) {
        try {
          process.kill(Number(processId), 'SIGKILL');
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
        }
      }
      // Sluice has noticed, and connects.
      await eventually(
        () => lines('processes'),
        (now) => now.length > before.length,
      );
      const request = { question: 'Pay', request_id: 'r', session_id: 'r', ...more };
      await log.appendRaw(topic, 'r', Buffer.from(JSON.stringify(request)), {});
      await eventually(
        async () => [...(await all('agent.progress')), ...(await all('agent.responses'))],
        (said) => said.some(({ kind }) => kind === 'tool_call_start'),
      );
      await killed();
      expect(lines('paid')).toEqual([]);

      rmSync(join(folder, 'slow'));
      await start();
      const [end] = await eventually(
        () => all('agent.responses'),
        (ends) => ends.length > 0,
      );
      expect(end).toMatchObject({ kind: 'answer', history: [{ action: 'pay', outcome: 'ok' }] });
      expect(lines('paid')).toEqual(['paid']);
    },
    240_000,
  );
});
