import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { withTools } from '@sluice/run';
import type { ModelOptions, ModelRequest, ModelTurn } from '@sluice/core';
import { topics } from '@sluice/contracts';
import { calls, ids, workflowConfiguration } from '../harness/configurations.js';
import { inOrder, ScriptedModel, startSystem } from '../harness/system.js';
import type { Said, TestSystem } from '../harness/system.js';

/** Says its turn piece by piece before it gives it, as a provider does; what it says comes from the script. */
class TalkingModel extends ScriptedModel {
  pieces: readonly string[] = [];

  override async turn(request: ModelRequest, options?: ModelOptions): Promise<ModelTurn> {
    for (const piece of this.pieces) options?.onText?.(piece);
    return super.turn(request);
  }
}

const unknown = ['core__no_such_tool', '{}'] as const;
const malformed = [ids.query, '{"sparql": '] as const;

describe('a run’s loops over model and tools (spec/tool-use.md §4, §7)', () => {
  const model = new TalkingModel(inOrder());
  let system: TestSystem;
  let count = 0;
  beforeAll(async () => {
    system = await startSystem(workflowConfiguration({ limits: 'limits: { max_iterations: 6 }' }), model);
  });
  afterAll(() => system.close());

  const play = async (...turns: Said[]) => {
    model.script = inOrder(...turns);
    const requestId = `run-${count++}`;
    const response = await system.ask({ requestId, group: ['*'] });
    const of = async <T extends Parameters<typeof system.all>[0]>(topic: T) =>
      (await system.all(topic)).filter(({ record }) => 'requestId' in record && record.requestId === requestId);
    return { requestId, response, of };
  };

  it('report each call in turn: its start, then its result, under the one id (S-06, T-05a, P-11)', async () => {
    const { response, of } = await play(
      { calls: [calls.query, malformed] },
      { calls: [calls.update, unknown, calls.update] },
    );
    const told = (await of(topics.progress))
      .map(({ record }) => record)
      .filter(({ kind }) => kind.startsWith('tool_call'));
    const pairs = response.history.flatMap(({ toolCallId, outcome }) => [
      // A call that is refused before it starts has a result alone.
      ...(outcome === 'unavailable' ? [] : [['tool_call_start', toolCallId]]),
      ['tool_call_result', toolCallId],
    ]);
    expect(told.map(({ kind, toolCallId }) => [kind, toolCallId])).toEqual(pairs);
    expect(new Set(response.history.map(({ toolCallId }) => toolCallId)).size).toBe(5);
    expect(response.history.map(({ outcome }) => outcome)).toEqual(['ok', 'invalid_json', 'ok', 'unavailable', 'ok']);
    const results = told
      .filter(({ kind }) => kind === 'tool_call_result')
      .map(({ text }) => JSON.parse(text) as { ok: boolean });
    expect(results.map(({ ok }) => ok)).toEqual([true, false, true, false, true]);
    // What is not JSON may hold anything, so it is not repeated.
    const [, started] = told.filter(({ kind }) => kind === 'tool_call_start');
    expect(started).toMatchObject({ toolCallId: response.history[1]?.toolCallId, text: '' });
    expect(told.filter(({ text }) => text.includes(malformed[1]))).toEqual([]);
  });

  it.each([0, 1, 2, 5])('end in one answer after %i of them, and nothing follows it (S-09, S-08)', async (loops) => {
    const { response, of } = await play(...Array.from({ length: loops }, () => ({ calls: [calls.update, unknown] })));
    expect(response).toMatchObject({ kind: 'answer', iterations: loops + 1 });
    // The next run goes through the same services, so whatever this one still had to say stands before its end.
    await play();
    expect(await of(topics.responses)).toHaveLength(1);
    expect(await of(topics.toolsets)).toHaveLength(loops + 1);
    expect(await of(topics.steps)).toHaveLength(loops);
  });

  it('end in one error where the bound ends them (S-09, XB-29)', async () => {
    const { response, of } = await play(...Array.from({ length: 9 }, () => ({ calls: [unknown] })));
    expect(response).toMatchObject({ kind: 'error', error: { code: 'max_iterations' } });
    await play();
    expect(await of(topics.responses)).toHaveLength(1);
  });

  it('go on with calls exactly where the turn has no answer (S-12)', async () => {
    const { of } = await play({ calls: [calls.query] }, { calls: [unknown, unknown] });
    const turns = (await of(topics.toolCalls)).map(({ record }) => ('calls' in record ? record.calls.length : 0));
    expect(turns).toEqual([1, 2]);
    const ends = (await of(topics.responses)).map(({ record }) => ('iterations' in record ? record.iterations : 0));
    expect(ends).toEqual([3]);
  });

  it('are the same, tokens counted and answer kept, where the listener stops listening (S-10)', async () => {
    const used = () => system.metric('gen_ai_client_token_usage_sum', { gen_ai_token_type: 'output' });
    const listener = system.bus.read([topics.progress], { from: 'end', follow: true })[Symbol.asyncIterator]();
    const before = await used();
    model.pieces = Array.from({ length: 400 }, (_, at) => `piece ${at} ${'x'.repeat(2_000)}`);
    try {
      const first = listener.next();
      const { response, of } = await play({ calls: [calls.query] }, { calls: [calls.update] });
      // One record was taken, and nobody asks for another one while the run goes on.
      expect((await first).value).toMatchObject({ topic: topics.progress });
      expect(response).toMatchObject({ kind: 'answer', run: { inputTokens: 3, outputTokens: 3 } });
      expect(response.history.map(({ outcome }) => outcome)).toEqual(['ok', 'ok']);
      expect(await of(topics.responses)).toHaveLength(1);
      expect(await used()).toBe(before + 3);
    } finally {
      model.pieces = [];
      await listener.return?.();
    }
  });

  it('each have their catalog on the log: what it was made from, its tools by id, and nothing that the model did not get (C-06, C-05, T-18a)', async () => {
    model.asked.length = 0;
    const { of } = await play({ calls: [calls.query] }, { calls: [calls.analysis] });
    const catalogs = (await of(topics.toolsets)).map(({ record }) => record).filter((record) => 'tools' in record);
    expect(catalogs.map(({ tools }) => tools.length)).toEqual([2, 4, 2]);
    for (const [at, catalog] of catalogs.entries()) {
      const { evaluator } = await system.embedded.runtime.configurations.version(catalog.configVersion);
      const { tools, hidden } = withTools(catalog, evaluator);
      for (const { id, description, inputSchema } of tools) {
        const spec = evaluator.byId(id)?.spec;
        expect({ id, description, inputSchema: JSON.parse(inputSchema) as unknown }).toEqual({
          id: spec?.name,
          description: spec?.description,
          inputSchema: spec?.inputSchema,
        });
      }
      expect(model.asked[at]?.tools.map((tool) => tool.id)).toEqual(tools.map(({ id }) => id));
      const all = evaluator.configuration.tools.map(({ key }) => key);
      expect([...tools, ...hidden].map(({ key }) => key).sort()).toEqual(all.sort());
    }
  });
});

describe('the record of a finished call (T-10c, X-9)', () => {
  const model = new ScriptedModel(inOrder({ calls: [calls.query, malformed, unknown] }));
  let system: TestSystem;
  beforeAll(async () => {
    system = await startSystem(workflowConfiguration(), model);
  });
  afterAll(() => system.close());

  it('has id, name, arguments, result or error, and when it began and ended', async () => {
    const before = Date.now();
    const { history } = await system.ask({ group: ['read-only'] });
    expect(history).toMatchObject([
      { toolCallId: 'call-0', action: 'knowledge-query', arguments: calls.query[1], outcome: 'ok', reason: null },
      {
        toolCallId: 'call-1',
        arguments: malformed[1],
        outcome: 'invalid_json',
        observation: 'Invalid tool arguments JSON',
      },
      { toolCallId: 'call-2', action: unknown[0], outcome: 'unavailable', reason: 'unknown_tool' },
    ]);
    for (const { startedAt, endedAt } of history) {
      expect(startedAt).toBeGreaterThanOrEqual(before);
      expect(endedAt).toBeGreaterThanOrEqual(startedAt);
      expect(endedAt).toBeLessThanOrEqual(Date.now());
    }
  });

  it('never ends before it began, whatever becomes of the clock', async () => {
    const { clock } = system.embedded.runtime;
    const now = clock.now.bind(clock);
    let back = 0;
    Object.assign(clock, { now: () => now() - 50 * back++ });
    try {
      const { history } = await system.ask({ group: ['read-only'] });
      expect(history).toHaveLength(3);
      for (const { startedAt, endedAt } of history) expect(endedAt).toBeGreaterThanOrEqual(startedAt);
    } finally {
      Object.assign(clock, { now });
    }
  });
});
