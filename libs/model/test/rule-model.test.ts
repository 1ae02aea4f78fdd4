import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { toolChoiceOf } from '@sluice/core';
import type { JsonObject, ModelRequest, ModelStep, ModelTool } from '@sluice/core';
import { createRuleModel } from '@sluice/model';
import { parse } from 'yaml';
import { requestOf, stepOf } from './requests.js';

/** One turn of a case: a call with its result, or the answer. */
interface CaseTurn {
  readonly offered: readonly string[];
  /** As a Toolset says it; auto if absent. */
  readonly choice?: string;
  readonly calls?: string;
  readonly with?: JsonObject;
  readonly outcome?: string;
  readonly observation?: string;
  readonly answers?: readonly string[];
  readonly never?: readonly string[];
}

interface Case {
  readonly shows: string;
  readonly question: string;
  readonly turns: readonly CaseTurn[];
}

const folder = new URL('cases/', import.meta.url);
const read = (name: string): unknown => parse(readFileSync(new URL(name, folder), 'utf8'));
const known = read('tools.yaml') as Record<string, ModelTool>;
const toolNamed = (name: string): ModelTool => {
  const tool = known[name.replace('-copy', '')];
  if (tool === undefined) throw new Error(`The cases offer ${name}, which tools.yaml does not have.`);
  return name.endsWith('-copy') ? { ...tool, id: `${tool.id}-copy` } : tool;
};
const signal = new AbortController().signal;

describe('the rule-based model', () => {
  const files = readdirSync(folder).filter((file) => file !== 'tools.yaml');

  describe.each(files)('%s', (file) => {
    it.each((read(file) as Case[]).map((each): [string, Case] => [each.shows, each]))(
      '%s',
      async (_shows, { question, turns }) => {
        const history: ModelStep[] = [];
        for (const [iteration, turn] of turns.entries()) {
          const toolChoice = toolChoiceOf(turn.choice ?? null);
          const request = requestOf({ question, history, tools: turn.offered.map(toolNamed), toolChoice });
          const said: string[] = [];
          const decided = await createRuleModel().turn(request, { signal, onText: (piece) => said.push(piece) });

          expect(await createRuleModel().turn(request, { signal })).toEqual(decided);
          expect(said.join('')).toBe(decided.answer ?? decided.thought);
          expect(decided.thought).toMatch(/^[A-Z].*\.$/s);
          if (turn.calls === undefined) {
            expect(decided.calls).toEqual([]);
            for (const text of turn.answers ?? []) expect(decided.answer).toContain(text);
            for (const text of turn.never ?? []) expect(decided.answer).not.toContain(text);
            continue;
          }
          expect(decided).toMatchObject({ answer: null, calls: [{ tool: turn.calls }] });
          expect(decided.calls).toHaveLength(1);
          const [call] = decided.calls;
          expect(JSON.parse(call?.arguments ?? '')).toEqual(turn.with);
          history.push(
            stepOf({
              toolId: turn.calls,
              thought: decided.thought,
              arguments: call?.arguments ?? '',
              observation: turn.observation ?? '',
              outcome: turn.outcome ?? 'ok',
              toolCallId: call?.toolCallId ?? '',
              iteration,
            }),
          );
        }
        expect(new Set(history.map((step) => step.toolCallId)).size).toBe(history.length);
      },
    );
  });

  it('counts a step of another caller for the part it fits, and none that was made for another question', async () => {
    const asked = requestOf({ question: 'Which countries border Switzerland?', tools: [toolNamed('query')] });
    const foreign = (entity: string) =>
      stepOf({
        toolId: 'core__knowledge-query',
        thought: '',
        arguments: JSON.stringify({ entity }),
        observation: '{"rows":[{"name":"Austria"}]}',
      });

    const same = await createRuleModel().turn({ ...asked, history: [foreign('Switzerland')] }, { signal });
    expect(same.answer).toContain('Austria');

    const other = await createRuleModel().turn({ ...asked, history: [foreign('France')] }, { signal });
    expect(other.calls.map((call) => JSON.parse(call.arguments) as unknown)).toEqual([
      { entity: 'Switzerland', relation: 'border' },
    ]);
  });

  it('passes on only as many rows as arguments may hold (X-16)', async () => {
    const rows = Array.from({ length: 400 }, (_, index) => ({ name: `Place ${index}`, area: index }));
    const found = stepOf({
      toolId: 'core__knowledge-query',
      thought: 'For "Which places lie in Norway" I call core__knowledge-query.',
      observation: JSON.stringify({ rows }),
    });
    const question = 'Which places lie in Norway, and how do they compare?';
    const turn = await createRuleModel().turn(
      requestOf({ question, history: [found], tools: [toolNamed('analysis')] }),
      { signal },
    );
    const text = turn.calls[0]?.arguments ?? '';
    expect(Buffer.byteLength(text)).toBeLessThan(8192);
    expect((JSON.parse(text) as { rows: unknown[] }).rows).toEqual(
      rows.slice(0, (JSON.parse(text) as { rows: unknown[] }).rows.length),
    );
  });

  const order = (properties: JsonObject): ModelTool => ({
    id: 'core__order',
    description: 'Finds an order by its number and radius.',
    inputSchema: { type: 'object', properties, required: Object.keys(properties) },
  });
  it.each([
    ['Find the order 725653563933458433.', { number: { type: 'integer' } }, '{"number":725653563933458433}'],
    ['Find the order 007.', { number: { type: 'integer' } }, '{"number":7}'],
    ['Find the order 12.75.', { number: { type: 'integer' } }, '{"number":12}'],
    ['Find the order within radius 5.25.', { radius: { type: 'number' } }, '{"radius":5.25}'],
  ])('writes the numbers of “%s” with all their digits', async (question, properties, expected) => {
    const request = requestOf({
      question,
      tools: [order(properties as JsonObject)],
      toolChoice: { type: 'tool', id: 'core__order' },
    });
    const { calls } = await createRuleModel().turn(request, { signal });
    expect(calls.map((call) => call.arguments)).toEqual([expected]);
  });

  it('reads numbers off observations with all their digits, for arguments and answers alike', async () => {
    const observation = '{"rows":[{"id":725653563933458433,"area":1.10},{"id":725653563933458432,"area":2}]}';
    const thought = 'For "Which places lie in Norway" I call core__knowledge-query.';
    const found = stepOf({ toolId: 'core__knowledge-query', thought, observation });
    const question = 'Which places lie in Norway, and how do they compare?';
    const passing = requestOf({ question, history: [found], tools: [toolNamed('analysis')] });
    const { calls } = await createRuleModel().turn(passing, { signal });
    expect(calls[0]?.arguments).toContain('[{"id":725653563933458433,"area":1.10},{"id":725653563933458432,"area":2}]');
    const answering = requestOf({ question: 'Which places lie in Norway?', history: [found] });
    const { answer } = await createRuleModel().turn(answering, { signal });
    expect(answer).toContain('725653563933458433');
  });

  it('throws the reason of the signal when aborted', async () => {
    const reason = new Error('enough');
    await expect(createRuleModel().turn(requestOf({}), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  it('is named rules/built-in', () => {
    expect(createRuleModel().name).toBe('rules/built-in');
  });
});

describe('asked for a plan', () => {
  it('plans a step for each part of the question that a tool fits, in the words by which it knows the call again', async () => {
    const planner = { id: 'core__make-plan', description: 'Takes your plan', inputSchema: { type: 'object' } };
    const planning = Object.values(known).slice(0, 20);
    const question = 'Which countries border France? What time is it?';
    const request = { ...requestOf({ question, tools: [planner] }), planning };
    const turn = await createRuleModel().turn(request, { signal });
    expect(turn.calls.map(({ tool }) => tool)).toEqual([planner.id]);
    const { steps } = JSON.parse(turn.calls[0]?.arguments ?? '') as { steps: { tool: string; why: string }[] };
    expect(steps.length).toBeGreaterThan(0);
    for (const { tool, why } of steps) {
      expect(planning.map(({ id }) => id)).toContain(tool);
      expect(why).toMatch(/^For ".+" I call /);
    }
  });
});

describe('asked about a step of a plan', () => {
  const done = {
    ...{ toolId: 'core__facts', thought: 'For "the capital of Atlantis" I call core__facts.', outcome: 'ok' },
    ...{
      arguments: '{"entity":"Atlantis","relation":"capital"}',
      observation: '{"rows":[],"count":0}',
      toolCallId: 'c1',
    },
  } as unknown as ModelRequest['history'][number];
  const turnOf = (changes: Partial<ModelRequest>) =>
    createRuleModel().turn(
      { ...requestOf({ question: 'What is the capital of Atlantis?' }), history: [done], ...changes },
      { signal },
    );

  it('makes its call again with less, in the same words', async () => {
    const facts = { id: 'core__facts', description: 'Facts', inputSchema: { type: 'object' } };
    const turn = await turnOf({ tools: [facts], again: true, toolChoice: { type: 'tool', id: facts.id } });
    expect(turn.calls.map(({ tool, arguments: args }) => [tool, args])).toEqual([[facts.id, '{"entity":"Atlantis"}']]);
    expect(turn.thought).toBe(done.thought);
  });

  it('reviews it by its formula', async () => {
    const planner = { id: 'core__make-plan', description: 'Takes your review', inputSchema: { type: 'object' } };
    const said = async (kind: 'judge' | 'override', confidence: number): Promise<unknown> => {
      const turn = await turnOf({ tools: [planner], review: { kind, confidence } });
      return (JSON.parse(turn.calls[0]?.arguments ?? '') as { review: unknown }).review;
    };
    expect(await said('judge', 0.9)).toMatchObject({ confidence: 0.9 });
    expect(await said('override', 0.5)).toMatchObject({ decision: 'accept' });
    expect(await said('override', 0.1)).toMatchObject({ decision: 'stop' });
  });
});
