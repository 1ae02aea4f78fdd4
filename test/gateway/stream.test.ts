import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AssistantStreamChunk } from 'assistant-stream';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { calls, ids, workflowConfiguration } from '../harness/configurations.js';
import { eventually } from '../harness/eventually.js';
import { ScriptedModel, startSystem } from '../harness/system.js';
import type { Said, TestSystem } from '../harness/system.js';
import { chunksOf, decoded, messageOf, post, streamed } from './over-http.js';

/** What the model says to each question, turn by turn. */
const scripts: Readonly<Record<string, readonly Said[]>> = {
  one: [{ calls: [calls.query], thought: 'I look it up.' }, { answer: 'Tokyo.' }],
  refused: [
    {
      calls: [
        [ids.analysis, '{"rows":[]}'],
        [ids.query, '{"entity":'],
      ],
    },
    { answer: 'I could not.' },
  ],
  again: [{ calls: [calls.query] }, { calls: [[ids.text, '{"prompt":"Say so"}']] }, { answer: 'Twice.' }],
};

describe('a run over HTTP', () => {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  let model: ScriptedModel;
  let system: TestSystem;
  let gateway: Gateway;
  beforeAll(async () => {
    model = new ScriptedModel(async ({ question, history }) => {
      if (question === 'held') await held;
      const turn = new Set(history.map((step) => step.iteration)).size;
      return scripts[question]?.[turn] ?? { answer: 'done' };
    });
    system = await startSystem(workflowConfiguration(), model);
    gateway = await startGateway(system.embedded.runtime);
  });
  afterAll(async () => {
    release();
    await gateway.close();
    await system.close();
  });

  const ask = (question: string, more: object = {}): Promise<Response> =>
    post(`${gateway.url}/v1/runs`, { question, group: ['*'], ...more }, streamed);

  it('has each call as a part with its id and name, then its result (T-00b), in the published protocol, as its own client reads it (T-07a)', async () => {
    const response = await ask('one');
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    const chunks = await chunksOf(response);
    const message = await messageOf(chunks);
    expect(message.status).toEqual({ type: 'complete', reason: 'stop' });
    const shown = message.parts.filter(({ type }) => type === 'text' || type === 'tool-call');
    expect(shown).toMatchObject([
      { type: 'text', text: 'I look it up.' },
      {
        type: 'tool-call',
        toolCallId: 'call-0',
        toolName: ids.query,
        argsText: calls.query[1],
        state: 'result',
        isError: false,
      },
      { type: 'text', text: 'Tokyo.' },
    ]);
    const [call] = chunks.filter(isFinalResult);
    expect(call).toMatchObject({ artifact: { outcome: 'ok', state_before: 'undefined', state: 'analysis' } });
    expect(message.metadata.steps).toMatchObject([
      { finishReason: 'tool-calls', usage: { inputTokens: 1, outputTokens: 1 } },
      { finishReason: 'stop', usage: { inputTokens: 1, outputTokens: 1 } },
    ]);
  });

  it('says first what it takes to find the run again, and with each iteration its state and tools', async () => {
    const chunks = await chunksOf(await ask('one', { request_id: 'named', session_id: 'a session' }));
    expect(dataOf(chunks, 'run')).toEqual([
      { request_id: 'named', session_id: 'a session', since: expect.any(Number), token: expect.any(String) },
    ]);
    expect(dataOf(chunks, 'iteration')).toMatchObject([
      { iteration: 1, state: 'undefined', tools: expect.arrayContaining([ids.query]) },
      { iteration: 2, state: 'analysis' },
    ]);
  });

  it('closes each call’s part behind its result (S-01), and ends behind the last of them (S-22), refused ones included', async () => {
    for (const question of ['one', 'refused', 'again']) {
      const chunks = await chunksOf(await ask(question));
      const types = chunks.map(({ type }) => type);
      const parts = chunks.flatMap(({ path }, at) => (types[at] === 'result' ? [path[0]] : []));
      expect(parts.length).toBeGreaterThan(0);
      for (const part of parts) {
        const own = chunks.filter(({ path }) => path[0] === part).map(({ type }) => type);
        expect(own.slice(-2)).toEqual(['result', 'part-finish']);
      }
      expect(types.filter((type) => type === 'message-finish')).toHaveLength(1);
      expect(types.at(-1)).toBe('message-finish');
    }
  });

  it('says of a refused call that it is an error, and why', async () => {
    const results = (await chunksOf(await ask('refused'))).filter(isFinalResult);
    expect(results).toMatchObject([
      { isError: true, artifact: { outcome: 'policy_denied', reason: 'not_eligible_state' } },
      { isError: true, artifact: { outcome: 'invalid_json' } },
    ]);
  });

  it('ends with the code and the sentence where there is no answer', async () => {
    const chunks = await chunksOf(await ask('again', { max_iterations: 1 }));
    expect(chunks.find(({ type }) => type === 'error')).toMatchObject({ code: 'max_iterations' });
    expect(chunks.at(-1)).toMatchObject({ type: 'message-finish', finishReason: 'error' });
  });

  it('is streamed again from its beginning to a client that comes back, at any instance', async () => {
    const first = await ask('again');
    const told = await chunksOf(first);
    const other = await startGateway(system.embedded.runtime);
    try {
      const again = await fetch(`${other.url}${first.headers.get('location') ?? ''}`, { headers: streamed });
      expect(lasting(await chunksOf(again))).toEqual(lasting(told));
    } finally {
      await other.close();
    }
  });

  it('is asked for by no page of elsewhere in a browser where everybody is one: it says where it is from', async () => {
    const response = await post(`${gateway.url}/v1/runs`, { question: 'one' }, { origin: 'http://127.0.0.1:1' });
    expect([response.status, await response.json()]).toMatchObject([403, { error: { code: 'authz_denied' } }]);
  });

  it('goes on without the one who asked', async () => {
    const gone = new AbortController();
    const request = { question: 'again', group: ['*'], request_id: 'left-alone' };
    const response = await post(`${gateway.url}/v1/runs`, request, streamed, gone.signal);
    for await (const chunk of decoded(response)) {
      if (chunk.type === 'step-start') break;
    }
    gone.abort();
    expect(await system.responseOf('left-alone')).toMatchObject({ answer: 'Twice.' });
    expect(await system.metric('sluice_followed_runs')).toBe(0);
  });

  it('is cut with a word on where it goes on when the gateway is stopped', async () => {
    const other = await startGateway(system.embedded.runtime);
    const response = await post(`${other.url}/v1/runs`, { question: 'held', request_id: 'held' }, streamed);
    const reading = chunksOf(response);
    await eventually(
      () => model.asked.map(({ question }) => question),
      (asked) => asked.includes('held'),
    );
    expect(await system.metric('sluice_followed_runs')).toBe(1);
    await other.close();
    expect((await reading).slice(-2)).toMatchObject([
      { type: 'error', code: 'stopping', error: expect.stringContaining('GET /v1/runs/held') },
      { type: 'message-finish', finishReason: 'error' },
    ]);
    release();
    expect(await system.responseOf('held')).toMatchObject({ answer: 'done' });
  });
});

function dataOf(chunks: readonly AssistantStreamChunk[], name: string): readonly unknown[] {
  return chunks.flatMap((chunk) =>
    chunk.type === 'part-start' && chunk.part.type === 'data' && chunk.part.name === name ? [chunk.part.data] : [],
  );
}

/**
 * Without what differs by nature: how text came in pieces, what came while calls went on, and when the run was looked
 * for.
 */
function lasting(chunks: readonly AssistantStreamChunk[]): readonly unknown[] {
  return chunks.flatMap((chunk): readonly unknown[] => {
    if (isFinalResult(chunk)) return [{ ...chunk, path: [] }];
    return chunk.type === 'step-finish' || chunk.type === 'message-finish' ? [chunk] : [];
  });
}

function isFinalResult(chunk: AssistantStreamChunk): boolean {
  return chunk.type === 'result' && chunk.isPreliminary !== true;
}
