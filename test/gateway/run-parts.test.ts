import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { AssistantStreamChunk } from 'assistant-stream';
import type { Incoming } from '@sluice/bus';
import type { Outgoing } from '@sluice/bus';
import { shownArguments } from '@sluice/core';
import { make } from '@sluice/contracts';
import type { AgentProgress, AgentStep, StrategyDecision } from '@sluice/contracts';
import { decodeStream, encodeStream, noUsage, wireNames } from '@sluice/wires';
import { ProgressText } from '../../apps/agent/src/progress.js';
import { encoded } from '../../apps/gateway/src/stream/run-stream.js';
import { RunParts } from '../../apps/gateway/src/stream/parts.js';
import { ofRecords } from '../../apps/gateway/src/record-view.js';
import { cutAt } from '../../libs/wires/test/streams.js';
import { chunksOf, messageOf } from './over-http.js';

interface Turn {
  readonly thought: string;
  readonly calls: readonly { readonly id: string; readonly args: string; readonly observation: string }[];
}

interface Script {
  readonly brought: number;
  readonly turns: readonly Turn[];
  readonly answer: string | null;
}

const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constant('\ud83d'), fc.constant('{"a":1}'));
const turn: fc.Arbitrary<Turn> = fc.record({
  thought: text,
  calls: fc.array(fc.record({ id: fc.constantFrom('', 'call-0', 'x'), args: text, observation: text }), {
    minLength: 1,
    maxLength: 3,
  }),
});
const script: fc.Arbitrary<Script> = fc.record({
  brought: fc.nat(2),
  turns: fc.array(turn, { maxLength: 3 }),
  answer: fc.option(text),
});

/** The records of a run in the order in which they are made, the end last; pieces of text in between. */
function recordsOf({ brought, turns, answer }: Script): readonly Incoming[] {
  const ids = { requestId: 'r', sessionId: 's' };
  // As a run before this one left them: of iterations and places that this one has, too.
  let history: readonly AgentStep[] = Array.from({ length: brought }, (_, index) =>
    stepOf(1, index, 'brought', '', ''),
  );
  const records: { topic: string; record: object }[] = [];
  const runAt = (iteration: number) => ({ iteration, inputTokens: iteration * 10, outputTokens: iteration });
  for (const [at, { thought, calls }] of [...turns, { thought: '', calls: [] }].entries()) {
    const iteration = at + 1;
    const about = { ...ids, iteration, state: 'undefined', request: { history, call: null }, run: runAt(at) };
    records.push({ topic: 'agent.toolsets', record: { ...about, tools: [{ id: 'core.t', key: 't' }] } });
    const whole = calls.length === 0 ? (answer ?? '') : thought;
    const says = (attempt: string, ...pieces: readonly string[]): void =>
      pieces.forEach((piece, sequence) =>
        records.push({
          topic: 'agent.progress',
          record: { ...ids, iteration, kind: 'text', toolCallId: null, text: piece, attempt, sequence },
        }),
      );
    says('first', whole.slice(0, 2));
    says('again', whole.slice(0, 1), whole.slice(1));
    if (calls.length === 0) break;
    const asked = calls.map(({ id, args }) => ({ toolCallId: id, tool: 'core.t', arguments: args }));
    const run = runAt(iteration);
    const decision = decisionOf(iteration);
    records.push({ topic: 'agent.tool-calls', record: { ...about, run, thought, calls: asked, decision } });
    const steps = calls.map(({ id, args, observation }, index) =>
      stepOf(
        iteration,
        index,
        id === '' ? `call-${iteration}-${index}` : id,
        args,
        observation,
        index === 0 ? thought : '',
      ),
    );
    history = [...history, ...steps];
    for (const { toolCallId, observation } of steps) {
      const about = { ...ids, iteration, toolCallId, notice: null };
      records.push({ topic: 'agent.progress', record: { ...about, kind: 'tool_call_start', text: '{}' } });
      const text = JSON.stringify({ ok: true, result: observation });
      records.push({ topic: 'agent.progress', record: { ...about, kind: 'tool_call_result', text } });
    }
    records.push({ topic: 'agent.steps', record: { ...ids, iteration, steps, next: { history }, run, call: null } });
  }
  const error = answer === null ? { code: 'deadline_exceeded', message: 'Too late.' } : null;
  const iterations = turns.length + 1;
  const run = runAt(iterations);
  const ofStrategy = { decision: decisionOf(iterations), iterations };
  records.push({
    topic: 'agent.responses',
    record: { ...ids, answer, error, incomplete: null, run, history, ...ofStrategy },
  });
  return records as unknown as readonly Incoming[];
}

const unmeasured = { attempt: 0, score: null, confidence: null, partial: false };

/** Of every other turn, as a strategy that decides says it. */
function decisionOf(iteration: number): StrategyDecision | null {
  if (iteration % 2 === 0) return null;
  return { strategy: 'plan', action: 'call', reason: 'It is planned.', plan: 1, step: iteration, ...unmeasured };
}

function stepOf(
  iteration: number,
  index: number,
  toolCallId: string,
  args: string,
  observation: string,
  thought = '',
): AgentStep {
  return make.agentStep({ thought, action: 't', arguments: args, observation, toolCallId, iteration, index });
}

/** The run’s records in any order, some of them twice. */
const disordered = script.chain((of) => {
  const records = recordsOf(of);
  const places = records.map((_, at) => at);
  const twice = fc.subarray(places);
  return twice
    .chain((copies) =>
      fc.shuffledSubarray([...places, ...copies.map((at) => at + places.length)], {
        minLength: places.length + copies.length,
      }),
    )
    .map((order) => ({ of, told: order.map((at) => records[at % places.length] as Incoming) }));
});

/** As a stream tells them: up to the end, behind which nobody hears more. */
function chunksFor(told: readonly Incoming[]): readonly AssistantStreamChunk[] {
  const parts = new RunParts();
  const end = told.findIndex(({ topic }) => topic === 'agent.responses');
  return told.slice(0, end + 1).flatMap((message) => [...parts.of(message)]);
}

/** What must hold of every stream, in whatever order the records came. */
async function expectWhole(chunks: readonly AssistantStreamChunk[]): Promise<void> {
  const starts = chunks.flatMap((chunk, at) => (chunk.type === 'part-start' ? [{ part: chunk.part, at }] : []));
  for (const [part, { at }] of starts.entries()) {
    const own = chunks.flatMap(({ path }, place) => (path.length === 1 && path[0] === part ? [place] : []));
    expect(own.every((place) => place > at)).toBe(true);
    expect(own.filter((place) => chunks[place]?.type === 'part-finish')).toEqual([own.at(-1)]);
  }
  const named = chunks.flatMap(({ path }) => path);
  expect(named.every((part) => part < starts.length)).toBe(true);
  const ids = starts.flatMap(({ part }) => (part.type === 'tool-call' ? [part.toolCallId] : []));
  expect(new Set(ids).size).toBe(ids.length);
  expect(chunks.filter(({ type }) => type === 'message-finish')).toEqual([chunks.at(-1)]);
  const { body, headers } = encoded(ReadableStream.from(chunks) as unknown as AsyncIterable<AssistantStreamChunk>);
  expect(JSON.stringify(await chunksOf(new Response(body, { headers })))).toBe(JSON.stringify(chunks));
}

/** A text with white space in and around it, and the places where a provider’s stream is cut. */
const spaced = fc
  .array(
    fc.oneof(fc.constantFrom(' ', '\n', '\t', '\u00a0', '\ufeff', '\ud83d', '\ude00'), fc.string({ unit: 'binary' })),
  )
  .map((pieces) => pieces.join(''));
const streamed = fc.record({
  pieces: fc.array(spaced, { maxLength: 6 }),
  cuts: fc.array(fc.nat(4_000), { maxLength: 6 }),
  wire: fc.constantFrom(...wireNames),
});

/** What a stream of the run sends while a model says this, and at its end, of which the record has `answer`. */
function chunksWhile(pieces: readonly string[], answer: string): readonly AssistantStreamChunk[] {
  const parts = new RunParts();
  const toolset = { requestId: 'r', sessionId: 's', iteration: 1, run: { principal: null } };
  const about = { ...toolset, state: 'undefined', tools: [], request: { history: [], call: null } };
  const chunks: AssistantStreamChunk[] = [];
  const take = (topic: string, record: object): void => void chunks.push(...parts.of({ topic, record } as never));
  take('agent.toolsets', about);
  // A record keeps half a character as the log does.
  const emit = (sent: readonly Outgoing[]): void =>
    sent.forEach(({ topic, record }) => {
      const { text } = record as AgentProgress;
      take(topic, { ...record, text: text.toWellFormed() });
    });
  const progress = new ProgressText(toolset as never, 'a', { emit }, { now: () => 0 });
  for (const piece of pieces) progress.add(piece);
  progress.flush();
  take('agent.responses', {
    ...toolset,
    answer,
    error: null,
    incomplete: null,
    history: [],
    decision: null,
    iterations: 1,
  });
  return chunks;
}

describe('the parts of a run', () => {
  it('have the text of the record once, whatever white space stands around it and wherever a stream is cut', async () => {
    await fc.assert(
      fc.asyncProperty(streamed, async ({ pieces, cuts, wire }) => {
        const encoder = encodeStream(wire, { id: 'i', model: 'm', createdAtMs: 0 });
        const written = pieces.map((text) => encoder.part({ type: 'text', text }));
        const bytes = Buffer.concat([encoder.start(), ...written, encoder.end('stop', noUsage)]);
        const heard: string[] = [];
        const decoder = decodeStream(wire, { onText: (piece) => heard.push(piece) });
        for (const piece of cutAt(bytes, cuts)) decoder.push(piece);
        const texts = decoder.end().parts.map((part) => (part.type === 'text' ? part.text : ''));
        const answer = texts.join('').trim().toWellFormed();
        const { parts } = await messageOf(chunksWhile(heard, answer));
        const said = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
        expect(said).toEqual(answer === '' ? [] : [answer]);
      }),
    );
  });

  it.each([
    [null, 'stop'],
    [{ reason: 'length', finishReason: 'max_tokens' }, 'length'],
    [{ reason: 'filtered', finishReason: 'SAFETY' }, 'content-filter'],
    [{ reason: 'other', finishReason: 'weird' }, 'other'],
  ])('say of the answer, where it is %j, that it ends with %s', async (incomplete, finishReason) => {
    const told = recordsOf({ brought: 0, turns: [], answer: 'Half an ans' });
    const marked = told.map((one) =>
      one.topic === 'agent.responses' ? { ...one, record: { ...one.record, incomplete } } : one,
    );
    const chunks = chunksFor(marked);
    await expectWhole(chunks);
    expect(chunks.at(-1)).toMatchObject({ type: 'message-finish', finishReason });
    const data = chunks.flatMap((chunk) =>
      chunk.type === 'part-start' && chunk.part.type === 'data' && chunk.part.name === 'incomplete'
        ? [chunk.part.data]
        : [],
    );
    expect(data).toEqual(
      incomplete === null ? [] : [{ reason: incomplete.reason, finish_reason: incomplete.finishReason }],
    );
  });

  it('have the answer as JSON where it has to fit a schema', () => {
    const told = recordsOf({ brought: 0, turns: [], answer: '{"n":1}' });
    const held = told.map((one) =>
      one.topic === 'agent.responses' ? { ...one, record: { ...one.record, structured: '{"n":1}' } } : one,
    );
    const named = (chunks: ReturnType<typeof chunksFor>) =>
      chunks.flatMap((one) => (one.type === 'part-start' && one.part.type === 'data' && one.part.name === 'structured' ? [one.part.data] : [])); // prettier-ignore
    expect(named(chunksFor(held))).toEqual([{ json: '{"n":1}' }]);
    expect(named(chunksFor(told))).toEqual([]);
  });

  it.each(['{"a":{"__proto__":1}}', '[{"constructor":{"prototype":{}}}]', '{"\\u005f_proto__":null}'])(
    'have the result %s, which clients take as text alone',
    async (observation) => {
      const turns = [{ thought: '', calls: [{ id: '', args: '{}', observation }] }];
      const chunks = chunksFor(recordsOf({ brought: 0, turns, answer: 'Done.' }));
      await expectWhole(chunks);
      expect(chunks.find(({ type }) => type === 'result')).toMatchObject({ result: observation });
    },
  );

  it('are opened and closed once each, in whatever order records come and however often', async () => {
    await fc.assert(fc.asyncProperty(disordered, ({ told }) => expectWhole(chunksFor(told))));
  });

  it('have every call with its result and end with the answer, as soon as a record of the first turn came', async () => {
    await fc.assert(
      fc.asyncProperty(disordered, async ({ of, told }) => {
        const end = told.findIndex(({ topic }) => topic === 'agent.responses');
        const first = told.findIndex(
          ({ topic, record }) => topic !== 'agent.progress' && (record as { iteration?: number }).iteration === 1,
        );
        fc.pre(first < end);
        const message = await messageOf(chunksFor(told));
        const calls = message.parts.flatMap((part) => (part.type === 'tool-call' ? [part] : []));
        const shown = calls.map(({ argsText, state, isError }) => ({ argsText, state, isError }));
        const made = of.turns.flatMap((one) =>
          one.calls.map(({ args }) => ({ argsText: args, state: 'result', isError: false })),
        );
        expect(shown.map((one) => JSON.stringify(one)).sort()).toEqual(made.map((one) => JSON.stringify(one)).sort());
        const said = message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
        if (of.answer) expect(said.at(-1)).toBe(of.answer);
      }),
    );
  });

  it('have every call with its result where the end is read first of all, each turn in a step of its own', async () => {
    await fc.assert(
      fc.asyncProperty(script, async (of) => {
        const records = recordsOf(of);
        const [first, end] = [records[0], records.at(-1)] as [Incoming<'agent.toolsets'>, Incoming<'agent.responses'>];
        const { history } = first.record.request;
        const model = of.answer === null ? null : {};
        const asked = { topic: 'agent.requests', record: { history, call: null } };
        const over = { ...end, record: { ...end.record, model } };
        const chunks = chunksFor([asked, over] as unknown as readonly Incoming[]);
        await expectWhole(chunks);
        const calls = chunks.flatMap((chunk) => (chunk.type === 'result' ? [chunk.isError] : []));
        expect(calls).toEqual(of.turns.flatMap((one) => one.calls.map(() => false)));
        const steps = chunks.filter(({ type }) => type === 'step-start');
        expect(steps).toHaveLength(of.turns.length + (of.answer === null ? 0 : 1));
        const { parts } = await messageOf(chunks);
        const said = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
        expect(said).toEqual([...of.turns.map(({ thought }) => thought), of.answer ?? ''].filter((one) => one !== ''));
      }),
    );
  });

  it('in the order in which they were made are a step for each iteration, with its tokens', async () => {
    await fc.assert(
      fc.asyncProperty(script, async (of) => {
        const chunks = chunksFor(recordsOf(of));
        await expectWhole(chunks);
        const { metadata, parts } = await messageOf(chunks);
        const usage = { inputTokens: 10, outputTokens: 1 };
        expect(metadata.steps).toMatchObject([...of.turns, null].map(() => ({ state: 'finished', usage })));
        const said = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
        expect(said).toEqual([...of.turns.map(({ thought }) => thought), of.answer ?? ''].filter((one) => one !== ''));
      }),
    );
  });
});

describe('what an approver changed the arguments of a call to', () => {
  const inputSchema = { type: 'object', properties: { pin: { type: 'string', writeOnly: true } } };
  const tools = [{ id: 'core.t', key: 't', spec: { inputSchema } }] as unknown as Parameters<typeof shownArguments>[0];
  const requested = { approvalId: 'a-1', tool: 'core.t', question: null, rules: [], steps: [], groups: [] };
  const said = { approvalId: 'a-1', requestId: 'r', sessionId: 's', decision: 'approve', decidedBy: 'user:ann', at: 1 };
  const outcome = make.approvalOutcome({ ...said, editedArguments: '{"pin":"4711","to":"ann"}', editedHash: 'h' });
  const none = { requested: null, decided: null, outcome: null, escalated: null, standing: null };
  const parts = (...records: readonly object[]) => {
    const own = new RunParts({ ...ofRecords, shown: shownArguments(tools) });
    return JSON.stringify(
      records.flatMap((record) =>
        own.of({ topic: 'agent.approvals', partition: 0, offset: 0, record: { ...none, ...record } } as never),
      ),
    );
  };

  it('is streamed without what the schema of its tool hides, and not at all where that is not known', () => {
    const streamed = parts({ requested }, { outcome });
    expect(streamed).toContain(JSON.stringify('{"pin":"[redacted]","to":"ann"}'));
    for (const text of [streamed, parts({ outcome })]) expect(text).not.toContain('4711');
    expect(parts({ outcome })).toContain('"edited_arguments":null,"edited_hash":"h"');
  });
});

describe('a call without a model', () => {
  const ids = { requestId: 'r', sessionId: 's', iteration: 1 };
  const step = stepOf(1, 0, 'call-0', '{"a":1}', 'Done.');
  const call = { tool: 't', arguments: '{"a":1}', order: null };
  const run = { initialState: 'undefined', inputTokens: 0, outputTokens: 0 };
  const about = { ...ids, toolCallId: 'call-0', tool: 't', notice: null };
  const request = { topic: 'agent.calls', record: { ...ids, call, history: [] } };
  const begun = { topic: 'agent.progress', record: { ...about, kind: 'tool_call_start', text: '{"a":1}' } };
  const decided = { hidden: [], hiddenCounts: {} };
  const ended = {
    topic: 'agent.steps',
    record: { ...ids, steps: [step], next: { history: [step] }, run, call: decided },
  };
  const end = {
    topic: 'agent.responses',
    record: { ...ids, answer: 'Done.', error: null, run, history: [step], decision: null, iterations: 1 },
  };
  const told = (...records: readonly object[]): readonly string[] => {
    const parts = new RunParts({ ...ofRecords, idOf: () => 'core.t' });
    return records.flatMap((record) =>
      parts
        .of(record as Incoming)
        .map((chunk) =>
          chunk.type === 'data'
            ? JSON.stringify(chunk.data)
            : chunk.type === 'part-start' && 'toolName' in chunk.part
              ? `part-start ${chunk.part.toolName}`
              : JSON.stringify(chunk),
        ),
    );
  };

  it('is shown from its beginning on, which only progress says, and with the tool that it was offered', () => {
    const chunks = told(request, begun, ended, end);
    const at = (part: string): number => chunks.findIndex((chunk) => chunk.includes(part));
    const places = ['step-start', 'part-start core.t', 'tool_call_start', '"name":"iteration"', 'message-finish'].map(
      at,
    );
    expect(places).toEqual(places.toSorted((one, other) => one - other));
    expect(places[0]).toBe(0);
    expect(chunks.filter((chunk) => chunk === 'part-start core.t')).toHaveLength(1);
    expect(chunks.filter((chunk) => chunk.includes('"tools":["core.t"]'))).toHaveLength(1);
  });

  it('is shown with its step where no progress came', () => {
    const chunks = told(request, ended, end);
    const at = (part: string): number => chunks.findIndex((chunk) => chunk.includes(part));
    expect(at('step-start')).toBe(0);
    expect(at('"tools":["core.t"]')).toBeGreaterThan(0);
    expect(at('part-start core.t')).toBeGreaterThan(at('"tools":["core.t"]'));
  });

  const late = { error: { code: 'deadline_exceeded', message: 'Too late.' }, answer: null };
  const brought = stepOf(1, 0, 'call-0', '{}', 'Before.');
  it.each([
    ['alone', [], {}, []],
    ['behind its beginning', [begun], {}, []],
    ['of a run whose time was up', [], late, []],
    ['of a request that brought steps along', [], {}, [brought]],
  ])('is shown the same where its end is read before its step, %s', (_, before, ending, history) => {
    const asked = { ...request, record: { ...request.record, history } };
    const whole = { history: [...history, step] };
    const stepped = { ...ended, record: { ...ended.record, next: whole } };
    const over = { ...end, record: { ...end.record, ...ending, ...whole } };
    expect(told(asked, ...before, over)).toEqual(told(asked, ...before, stepped, over));
    expect(told(asked, ...before, over).filter((chunk) => chunk.includes('"artifact"'))).toHaveLength(1);
  });
});
