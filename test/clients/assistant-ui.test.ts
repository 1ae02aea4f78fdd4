import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AssistantMessage } from 'assistant-stream';
import { decide, runMessages } from '../../examples/assistant-ui/src/gateway.js';
import type { Gateway } from '../../examples/assistant-ui/src/gateway.js';
import { finish } from '../cluster/outside-tools.js';
import { projectRoot } from '../harness/configurations.js';
import { eventually } from '../harness/eventually.js';
import { startFixture } from './fixture.js';
import type { Fixture } from './fixture.js';

const source = join(projectRoot, 'examples/assistant-ui');

describe('the example for assistant-ui', () => {
  let fixture: Fixture;
  let ann: Gateway;
  let boss: Gateway;
  beforeAll(async () => {
    fixture = await startFixture();
    const { url } = fixture.proxy;
    ann = { url, token: await fixture.token('ann') };
    boss = { url, token: await fixture.token('boss') };
  });
  afterAll(() => fixture.close());

  const ask = (question: string, session: string, signal: AbortSignal, more: object = {}) =>
    runMessages(ann, { question, session_id: session, group: ['*'], ...more }, signal);
  const patience = (): AbortSignal => AbortSignal.timeout(90_000);
  const partsOf = ({ parts }: AssistantMessage): readonly unknown[] =>
    parts.map((part) => (part.type === 'text' ? part.text : part.type === 'tool-call' ? part.toolName : part.type));

  it('reads a run as a message that grows, with calls and the answer', async () => {
    const states: AssistantMessage[] = [];
    for await (const message of ask('Look', 'ui-look', patience())) states.push(message);
    const last = states.at(-1) as AssistantMessage;
    expect(partsOf(last).filter((part) => part !== 'data')).toEqual(['core__knowledge-query', 'Found.']);
    expect(last.parts).toContainEqual(expect.objectContaining({ type: 'tool-call', state: 'result', isError: false }));
    expect(last.status).toMatchObject({ type: 'complete' });
    expect(states.length).toBeGreaterThan(3);
    expect(states[0]?.status).toEqual({ type: 'running' });
  });

  it('decides on a call that waits, by what its part holds', async () => {
    let decided = false;
    let last: AssistantMessage | undefined;
    for await (const message of ask('Reset', 'ui-reset', patience(), { state: 'analysis' })) {
      last = message;
      const part = message.parts.find((one) => one.type === 'data' && one.name === 'approval_requested');
      if (part?.type !== 'data' || decided) continue;
      decided = true;
      await decide(boss, part.data as object, 'approve');
    }
    expect(decided).toBe(true);
    expect(last?.parts.at(-1)).toMatchObject({ type: 'text', text: 'Found.' });
  });

  it('cancels the run where the reader stops it', async () => {
    const stop = new AbortController();
    for await (const { parts } of ask('Slow', 'ui-slow', stop.signal))
      if (parts.some((part) => part.type === 'data')) stop.abort();
    const headers = { authorization: `Bearer ${ann.token ?? ''}` };
    await eventually(
      async () => (await fetch(`${ann.url}/v1/runs?session_id=ui-slow`, { headers })).json(),
      (list) => (list as { readonly runs: readonly { readonly outcome: string }[] }).runs[0]?.outcome === 'cancelled',
    );
  });

  it('says what the gateway says of a request that it refuses', async () => {
    await expect(ask('', 'ui-empty', patience()).next()).rejects.toThrow('The question is empty.');
  });
});

const npm = ['ci', '--no-audit', '--no-fund', '--prefer-offline'];
const folder = mkdtempSync(join(tmpdir(), 'sluice-assistant-ui-'));
cpSync(source, folder, { recursive: true, filter: (path) => !/\/(node_modules|dist)$/.test(path) });
const inFolder = (...words: readonly string[]) =>
  finish('sh', ['-c', 'cd "$0" && exec npm "$@"', folder, ...words], process.env, 400_000);
const installed = await inFolder(...npm);

describe('the page of the example: a renderer by the name of a tool (S-20)', () => {
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const title = 'is built from what its README says';
  const build = async (): Promise<void> => {
    const { code, output, errors } = await inFolder('run', 'build');
    expect([code, code === 0 ? '' : output + errors]).toEqual([0, '']);
    const [script = ''] = readdirSync(join(folder, 'dist/assets')).filter((file) => file.endsWith('.js'));
    expect(readFileSync(join(folder, 'dist/index.html'), 'utf8')).toContain(script);
    expect(readFileSync(join(folder, 'dist/assets', script), 'utf8')).toContain('text/event-stream');
  };
  const shown = 'shows a run that is asked for in it, a tool’s call by the renderer of its name';
  const show = async (): Promise<void> => {
    const fixture = await startFixture();
    try {
      expect(await inFolder('install', '--no-save', '--no-audit', '--no-fund', 'happy-dom@21.0.4')).toMatchObject({ code: 0 }); // prettier-ignore
      const env = {
        PATH: process.env['PATH'],
        VITE_SLUICE_URL: fixture.proxy.url,
        VITE_SLUICE_TOKEN: await fixture.token('ann'),
        VITE_SLUICE_GROUP: '*',
      };
      const script = join(import.meta.dirname, 'show-page.mjs');
      const words = ['-c', 'cd "$0" && exec "$@"', folder, process.execPath, script, 'Look', 'Found.'];
      const { code, output, errors } = await finish('sh', words, env, 120_000);
      expect([code, code === 0 ? '' : errors]).toEqual([0, '']);
      expect(output).toMatch(
        /Look.*Iteration 1, state undefined.*Query: \d+ rows?.*Iteration 2, state analysis.*Found\./s,
      );
    } finally {
      await fixture.close();
    }
  };
  // Without a network its packages are not here.
  for (const [behaviour, body] of [
    [title, build],
    [shown, show],
  ] as const)
    if (installed.code === 0) it(behaviour, body, 480_000);
    else it.skip(`${behaviour} (skipped: its packages cannot be installed)`, body);
});
