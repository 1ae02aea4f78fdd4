import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { topics } from '@sluice/contracts';
import type { AgentResponse, Topic } from '@sluice/contracts';
import type { OpenRuntime } from '@sluice/host';
import { startEmbedded } from '../apps/sluice/src/system/embedded.js';
import { newRequest } from '../apps/sluice/src/run-request.js';
import { ScriptedModel } from './harness/system.js';
import { environmentIn } from './harness/with-tools.js';

const home = mkdtempSync(join(realpathSync(tmpdir()), 'sluice-in-service-'));
const tools = join(home, 'tools');

const file = (type: string, effect: string, execute: string, more = ''): void =>
  writeFileSync(
    join(tools, `${type}.mjs`),
    `export default ({ defineTool, z }) => defineTool({
  type: '${type}', description: 'Does as the test says.', input: z.object({}), output: z.object({ done: z.string() }),
  effect: '${effect}', redaction: { fields: ['done'] }, capabilities: ['progress'], repeatable: false, requiresConnection: false, ${more}
  execute: async (args, context, { progress }) => { ${execute} } });`,
  );

const waits = "progress.report('pid ' + process.pid); await new Promise(() => setInterval(() => 0, 1000));";
const loops = 'const end = Date.now() + 9000; while (Date.now() < end);';

let system: OpenRuntime;
beforeAll(async () => {
  mkdirSync(tools);
  file('loop', 'read_only', loops);
  file('hold', 'external_side_effect', waits);
  file(
    'known',
    'external_side_effect',
    waits,
    "reconcile: async (args, { key }) => ({ outcome: 'happened', result: { done: key === '' ? 'no key' : 'once' } }),",
  );
  file('quick', 'read_only', "return { done: 'quick' };");
  const configFile = join(home, 'sluice.yaml');
  writeFileSync(
    configFile,
    `tool_folders: [${tools}]
tool: { loop: { type: loop }, hold: { type: hold }, known: { type: known }, quick: { type: quick } }
policy: { allowed_tools: ['*'], approval: { none: 'this is a test' } }
limits: { tool_seconds: 3 }
`,
  );
  const model = new ScriptedModel(({ history, question }) =>
    history.length > 0 ? { answer: 'done' } : { calls: [[`core__${question}`, '{}']] },
  );
  system = await startEmbedded({
    environment: environmentIn(join(home, 'data')),
    configFile,
    models: { get: () => Promise.resolve(model) },
    fileOnly: true,
  });
});
afterAll(async () => {
  await system.close();
  rmSync(home, { recursive: true, force: true });
});

async function ask(id: string, tool: string): Promise<AgentResponse> {
  const record = newRequest(tool, { requestId: id, sessionId: id });
  await system.runtime.bus.publish([{ topic: topics.requests, key: id, record }]);
  const signal = AbortSignal.timeout(120_000);
  for await (const message of system.runtime.bus.read([topics.responses], { from: 'start', follow: true, signal }))
    if (message.record.requestId === id) return message.record;
  throw new Error('It did not end.');
}

async function steps(id: string) {
  const wanted: Topic[] = [topics.steps];
  for await (const message of system.runtime.bus.read(wanted, { from: 'start' }))
    if (message.topic === topics.steps && message.record.requestId === id) return message.record.steps;
  return [];
}

/** The process of the tool that the run calls, once it says which it is. */
async function processOf(id: string): Promise<number> {
  const signal = AbortSignal.timeout(120_000);
  for await (const { record } of system.runtime.bus.read([topics.progress], { from: 'start', follow: true, signal }))
    if (record.requestId === id && record.text.startsWith('pid ')) return Number(record.text.slice(4));
  throw new Error('It said nothing.');
}

const value = async (metric: { get(): Promise<{ values: { labels: object; value: number }[] }> }, labels: object) =>
  (await metric.get()).values.find((one) => JSON.stringify(one.labels) === JSON.stringify(labels))?.value;

describe('a tool of a file, in a service', () => {
  it('counts what may happen to it from 0', async () => {
    const page = await (await fetch(`${system.url}/metrics`)).text();
    const series = [
      ...['crash', 'memory', 'time', 'flood'].map(
        (reason) => `sluice_tool_process_ends_total{type="loop",reason="${reason}"} 0`,
      ),
      ...['happened', 'did_not_happen', 'unknown'].map(
        (answer) => `sluice_reconciled_calls_total{tool="known",answer="${answer}"} 0`,
      ),
      'sluice_unhandled_errors_total{kind="rejection"} 0',
    ];
    for (const one of series) expect(page).toContain(`${one}\n`);
    expect(page).not.toMatch(/process_ends_total\{.*"closed"|reconciled_calls_total\{tool="hold"/);
  });

  it('that loops for 9 s under tool_seconds: 3 is cut, while health and other calls are answered', async () => {
    const began = performance.now();
    const looping = ask('loops', 'loop');
    let slowest = 0;
    let answered = 0;
    const looking = (async () => {
      for (let over = false; !over; void looping.then(() => (over = true))) {
        const asked = performance.now();
        const { status } = await fetch(`${system.url}/health/live`);
        if (status === 200) answered++;
        slowest = Math.max(slowest, performance.now() - asked);
        await sleep(100);
      }
    })();
    expect((await ask('beside', 'quick')).answer).toBe('done');
    expect((await looping).answer).toBe('done');
    await looking;
    expect(await steps('loops')).toMatchObject([{ outcome: 'execution', reason: 'timeout' }]);
    expect(await steps('beside')).toMatchObject([{ outcome: 'ok' }]);
    expect(performance.now() - began).toBeLessThan(30_000);
    expect(answered).toBeGreaterThan(10);
    expect(slowest).toBeLessThan(2_500);
  });

  it('whose process is killed (kill -9) in the midst of a call with an effect ends as outcome_unknown, once', async () => {
    const asked = ask('killed', 'hold');
    process.kill(await processOf('killed'), 'SIGKILL');
    expect((await asked).answer).toBe('done');
    expect(await steps('killed')).toMatchObject([{ outcome: 'execution', reason: 'outcome_unknown' }]);
    expect(await value(system.runtime.metrics.toolProcessEnds, { type: 'hold', reason: 'crash' })).toBe(1);
    expect((await ask('after', 'quick')).answer).toBe('done');
  });

  it('that can tell the result of a lost call is asked, and its answer is the step', async () => {
    const asked = ask('reconciled', 'known');
    process.kill(await processOf('reconciled'), 'SIGKILL');
    expect((await asked).answer).toBe('done');
    expect(await steps('reconciled')).toMatchObject([{ outcome: 'ok', observation: '{"done":"once"}' }]);
    expect(await value(system.runtime.metrics.reconciledCalls, { tool: 'known', answer: 'happened' })).toBe(1);
  });

  it('leaves no process when the service stops', async () => {
    void ask('stops', 'hold').catch(() => undefined);
    const pid = await processOf('stops');
    await system.close();
    const left = execFileSync('ps', ['-eo', 'pid,ppid,args'], { encoding: 'utf8' }).split('\n');
    expect(left.filter((line) => line.includes(tools))).toEqual([]);
    expect(left.some((line) => Number(line.trim().split(' ')[0]) === pid)).toBe(false);
  });
});
