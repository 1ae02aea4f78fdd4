import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AssistantStreamChunk } from 'assistant-stream';
import { Fault } from '@sluice/core';
import type { Model, ModelOptions, ModelRequest, ModelTurn } from '@sluice/core';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { calls, ids, workflowConfiguration } from '../harness/configurations.js';
import { startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { chunksOf, decoded, messageOf, post, streamed } from './over-http.js';

const twoCalls = [calls.query, [ids.text, '{"prompt":"Say so"}']] as const;
const usage = { inputTokens: 7, outputTokens: 3, cachedInputTokens: 4 };

/**
 * Writes its answer in pieces; the first reply to a question `cut` breaks off in the middle, as a provider’s stream
 * may.
 */
class WritingModel implements Model {
  readonly name = 'writing';
  private replies = 0;
  /** Resolves when the answer may go on. */
  goOn: Promise<void> = Promise.resolve();

  async turn({ question, history }: ModelRequest, { onText }: ModelOptions): Promise<ModelTurn> {
    if (question === 'calls' && history.length === 0) {
      const made = twoCalls.map(([tool, args], index) => ({
        toolCallId: `call-${index}`,
        tool,
        arguments: args,
      }));
      return { thought: '', calls: made, answer: null, ...usage };
    }
    onText?.('To');
    await this.goOn;
    if (question === 'cut' && this.replies++ === 0) throw new Fault('model_unreachable', 'It was cut.', true);
    onText?.('kyo');
    onText?.('.');
    return { thought: '', calls: [], answer: 'Tokyo.', ...usage };
  }
}

describe('what happens in a run', () => {
  const model = new WritingModel();
  let system: TestSystem;
  let gateway: Gateway;
  beforeAll(async () => {
    system = await startSystem(workflowConfiguration(), model);
    gateway = await startGateway(system.embedded.runtime);
  });
  afterAll(async () => {
    await gateway.close();
    await system.close();
  });

  const ask = (question: string, headers: Readonly<Record<string, string>> = streamed): Promise<Response> =>
    post(`${gateway.url}/v1/runs`, { question, group: ['*'] }, headers);

  it('is streamed as the model writes it: the first piece while it writes the rest', async () => {
    let release: () => void = () => undefined;
    model.goOn = new Promise((resolve) => (release = resolve));
    const said: string[] = [];
    for await (const chunk of decoded(await ask('Which capital?'))) {
      if (chunk.type !== 'text-delta') continue;
      said.push(chunk.textDelta);
      release();
    }
    expect(said[0]).toBe('To');
    expect(said.join('')).toBe('Tokyo.');
  });

  it('is neither repeated nor garbled where the model is asked again in mid-answer', async () => {
    const message = await messageOf(await chunksOf(await ask('cut')));
    expect(message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))).toEqual(['Tokyo.']);
    const text = (await system.all('agent.progress')).map(({ record }) => record).filter(({ kind }) => kind === 'text');
    const ofCut = text.slice(-4);
    expect(new Set(ofCut.map(({ attempt }) => attempt)).size).toBeGreaterThan(1);
  });

  it('is streamed call by call: one has its result before the next one of its turn begins', async () => {
    const chunks = await chunksOf(await ask('calls'));
    const what = chunks.flatMap((chunk) => whatOf(chunk));
    const [begun, ended] = ['tool_call_start', 'preliminary'];
    expect(what.filter((one) => one !== 'result')).toEqual([begun, ended, begun, ended]);
    expect(what.slice(-2)).toEqual(['result', 'result']);
    const results = chunks.flatMap((chunk) => (chunk.type === 'result' ? [chunk] : []));
    expect(results[0]?.result).toEqual(results[2]?.result);
  });

  it('stands in the run’s JSON: its calls with their outcome, and its tokens', async () => {
    const response = await ask('calls', { prefer: 'wait=20' });
    const waited = (await response.json()) as Record<string, unknown>;
    const call = { ok: true, error: null, started_at: expect.any(Number) };
    expect(waited).toMatchObject({
      status: 'ended',
      tool_calls: [
        { id: 'call-0', arguments: calls.query[1], ...call },
        { id: 'call-1', arguments: twoCalls[1][1], ...call, state: waited['state'], duration_ms: expect.any(Number) },
      ],
      tokens: { input: 14, output: 6, cached: 8 },
    });
    const again = await fetch(`${gateway.url}${response.headers.get('location') ?? ''}`);
    expect(await again.json()).toEqual(waited);
  });
});

function whatOf(chunk: AssistantStreamChunk): readonly string[] {
  if (chunk.type === 'result') return [chunk.isPreliminary === true ? 'preliminary' : 'result'];
  const isStart = chunk.type === 'part-start' && chunk.part.type === 'data' && chunk.part.name === 'tool_call_start';
  return isStart ? ['tool_call_start'] : [];
}
