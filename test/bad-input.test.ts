import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { recordFromJson } from '@sluice/contracts';
import type { AgentRequest } from '@sluice/contracts';
import type { LogReader } from '@sluice/bus';
import { ids, workflowConfiguration } from './harness/configurations.js';
import { eventually } from './harness/eventually.js';
import { ScriptedModel, startSystem } from './harness/system.js';
import type { TestSystem } from './harness/system.js';
import { replayed } from './replay/replaying.js';

describe('AgentRequests that are none', () => {
  const model = new ScriptedModel(() => ({ answer: 'ok' }));
  let system: TestSystem;
  beforeAll(async () => {
    system = await startSystem(workflowConfiguration(), model);
  });
  afterAll(() => system.close());

  const deadAt = (offset: number) =>
    eventually(
      async () => (await system.all('agent.dead-letters')).find(({ record }) => record.offset === offset)?.record,
      (found) => found !== undefined,
    );

  it.each([
    ['lacks its question', '{"request_id":"bad-1","session_id":"s-1","group":["a"]}', /question is missing/],
    [
      'has a wrong type',
      '{"request_id":"bad-2","session_id":"s-2","question":"q","group":"a"}',
      /group must be a list/,
    ],
    [
      'has a question with nothing in it',
      '{"request_id":"bad-3","session_id":"s-3","question":"  "}',
      /question is empty/,
    ],
    [
      'brings a result without its call (K-14, K-16)',
      '{"request_id":"bad-4","session_id":"s-4","question":"q","history":[{"action":"a"},{"observation":"found"}]}',
      /history\[1\]\.action is empty: a result needs the call/,
    ],
    [
      'brings two results of one call (K-16, X-15)',
      '{"request_id":"bad-5","session_id":"s-5","question":"q","history":[{"action":"a","tool_call_id":"c"},{"action":"b","tool_call_id":"c"}]}',
      /history\[1\]\.tool_call_id is that of history\[0\]/,
    ],
    [
      'brings a call whose id is too long (L-01, X-15)',
      `{"request_id":"bad-6","session_id":"s-6","question":"q","history":[{"action":"a","tool_call_id":"${'c'.repeat(129)}"}]}`,
      /history\[0\]\.tool_call_id has 129 characters/,
    ],
    [
      'has a request_id that is too long',
      `{"request_id":"${'r'.repeat(257)}","session_id":"s-8","question":"q"}`,
      /^request_id has more than 256 characters/,
    ],
    [
      'has a session_id that is too long',
      `{"request_id":"bad-9","session_id":"${'s'.repeat(257)}","question":"q"}`,
      /^session_id, .* has more than 256 characters/,
    ],
    [
      'brings a step that is none (K-14)',
      '{"request_id":"bad-7","session_id":"s-7","question":"q","history":[{"role":"user","content":"x"}]}',
      /history\[0\]/,
    ],
  ])(
    'one that %s: dead letter with the reason and the bytes, and an AgentResponse of kind error',
    async (_, json, reason) => {
      const { request_id: requestId, session_id: sessionId } = JSON.parse(json) as Record<string, string>;
      const offset = await system.bus.appendRaw('agent.requests', '', Buffer.from(json), {
        authorization: 'Bearer secret',
        trace: 't',
      });
      const dead = await deadAt(offset);
      expect(dead).toMatchObject({
        topic: 'agent.requests',
        reason: expect.stringMatching(reason),
        headers: { trace: 't' },
      });
      expect(dead?.headers).not.toHaveProperty('authorization');
      expect(Buffer.from(dead?.value ?? []).toString()).toBe(json);
      expect(await system.responseOf(requestId as string)).toMatchObject({
        sessionId,
        kind: 'error',
        error: { code: 'invalid_request', message: expect.stringMatching(reason) },
      });
      expect(
        (await system.lines()).filter((line) => line['request_id'] === requestId && 'execution_time' in line),
      ).toHaveLength(1);
    },
  );

  it.each(['"q"', '1'])(
    'ids near a megabyte: an end that repeats their beginnings, with the question %s',
    async (question) => {
      const [request, session] = [question + 'r'.repeat(480_000), 's'.repeat(480_000)].map((id) => JSON.stringify(id));
      const json = `{"request_id":${request},"session_id":${session},"question":${question}}`;
      await deadAt(await system.bus.appendRaw('agent.requests', 'k', Buffer.from(json)));
      const requestId = (question + 'r'.repeat(4_096)).slice(0, 4_096);
      expect(await system.responseOf(requestId)).toMatchObject({
        sessionId: 's'.repeat(4_096),
        error: { code: 'invalid_request' },
      });
    },
  );

  it('ids of 256 characters are taken', async () => {
    const [requestId, sessionId] = ['r'.repeat(256), 's'.repeat(256)];
    expect(await system.ask({ requestId, sessionId })).toMatchObject({ kind: 'answer', requestId, sessionId });
  });

  it('bytes that are nothing at all: kept, and answered only where the key names a session', async () => {
    const bytes = Buffer.from([7, 1, 2, 3]);
    const keyed = await system.bus.appendRaw('agent.requests', 'session-of-garbage', bytes);
    const bare = await system.bus.appendRaw('agent.requests', '', bytes);
    expect(await deadAt(keyed)).toMatchObject({ code: 'undecodable', attempts: expect.any(Number) });
    await deadAt(bare);
    const answered = (await system.all('agent.responses')).map(({ record }) => record.sessionId);
    expect(answered.filter((session) => session === 'session-of-garbage')).toHaveLength(1);
    expect(answered).not.toContain('');
  });

  it('do not stop those after them, also not in the same session', async () => {
    await system.bus.appendRaw('agent.requests', 'mixed', Buffer.from('{"question":1}'));
    expect(await system.ask({ sessionId: 'mixed' })).toMatchObject({ kind: 'answer' });
  });

  it('a history of calls and results is accepted, and sent to the model as it is (K-13, K-17, L-01)', async () => {
    model.asked.length = 0;
    const brought = { action: 'knowledge-query', arguments: '{"a":1}', observation: '{"b":2}' };
    const history = [
      { ...brought, tool_call_id: 'c'.repeat(128) },
      { ...brought, tool_call_id: 'one' },
      { ...brought, outcome: 'execution', observation: 'It failed.' },
      brought,
    ];
    await system.bus.appendRaw(
      'agent.requests',
      '',
      Buffer.from(JSON.stringify({ request_id: 'brings', session_id: 's', question: 'Go on', history })),
    );
    expect(await system.responseOf('brings')).toMatchObject({ kind: 'answer', history: { length: 4 } });
    expect(
      model.asked[0]?.history.map(({ toolId, outcome, ...step }) => [
        toolId,
        step.arguments,
        step.observation,
        outcome,
        step.toolCallId,
      ]),
    ).toEqual([
      [ids.query, '{"a":1}', '{"b":2}', 'ok', 'c'.repeat(128)],
      [ids.query, '{"a":1}', '{"b":2}', 'ok', 'one'],
      [ids.query, '{"a":1}', 'It failed.', 'execution', ''],
      [ids.query, '{"a":1}', '{"b":2}', 'ok', ''],
    ]);
  });

  it('plain JSON of the topic’s shape is taken, ids derived from its place where it has none', async () => {
    const offset = await system.bus.appendRaw(
      'agent.requests',
      'json-session',
      Buffer.from('{"question":"Who?","plan":"old"}'),
    );
    expect(await system.responseOf(`agent.requests-0-${offset}`)).toMatchObject({
      kind: 'answer',
      sessionId: 'json-session',
      question: 'Who?',
    });
  });

  it('takes a request_id once, whatever comes under it later (XB-25)', async () => {
    await system.ask({ requestId: 'once', question: 'first' });
    const before = await system.metric('sluice_duplicate_requests_total');
    for (const question of ['first', 'second']) {
      const record = recordFromJson('AgentRequest', {
        question,
        request_id: 'once',
        session_id: 'other',
      }) as AgentRequest;
      await system.bus.publish([{ topic: 'agent.requests', key: 'other', record }]);
    }
    await eventually(
      () => system.metric('sluice_duplicate_requests_total'),
      (value) => value === before + 2,
    );
    expect((await system.all('agent.responses')).filter(({ record }) => record.requestId === 'once')).toHaveLength(1);
  });

  const endsOf = async (requestId: string) =>
    (await system.all('agent.responses')).filter(({ record }) => record.requestId === requestId);
  const append = (requestId: string, question: unknown) =>
    system.bus.appendRaw(
      'agent.requests',
      'other',
      Buffer.from(JSON.stringify({ request_id: requestId, session_id: 'other', question })),
    );

  it('end no run that has the request_id already, ended or not, whatever is wrong with them (XB-25)', async () => {
    const script = model.script;
    let answer = (): void => undefined;
    model.script = () => new Promise((resolve) => (answer = () => resolve({ answer: 'the one end' })));
    const end = system.ask({ requestId: 'taken', question: 'first' });
    await eventually(
      async () => (await system.all('agent.toolsets')).some(({ record }) => record.requestId === 'taken'),
      (begun) => begun,
    );
    const dropped = await system.metric('sluice_duplicate_requests_total');
    const send = async (times: number): Promise<void> => {
      await append('taken', '  ');
      const offset = await append('taken', 5);
      expect(await deadAt(offset)).toMatchObject({ code: 'undecodable' });
      await eventually(
        () => system.metric('sluice_duplicate_requests_total'),
        (value) => value === dropped + times,
      );
    };
    await send(1);
    expect(await endsOf('taken')).toEqual([]);
    answer();
    model.script = script;
    expect(await end).toMatchObject({ kind: 'answer', answer: 'the one end' });
    await send(2);
    expect(await endsOf('taken')).toHaveLength(1);
  });

  it.each([
    ['  ', 'that cannot be what it says'],
    [5, 'that cannot be read'],
  ])('take their request_id: under that of %j, %s, nothing ends a second time', async (question, what) => {
    const before = await system.metric('sluice_duplicate_requests_total');
    await append(what, question);
    expect(await system.responseOf(what)).toMatchObject({ error: { code: 'invalid_request' } });
    await append(what, 'A good one?');
    await eventually(
      () => system.metric('sluice_duplicate_requests_total'),
      (value) => value === before + 1,
    );
    expect(await endsOf(what)).toHaveLength(1);
  });

  it.each([
    ['too large to go on', [], /The output to agent.toolsets has \d+ bytes/, 'size_exceeded'],
    ['not valid either', [{ action: '' }], /history\[0\]\.action is empty/, 'invalid_request'],
  ])('of a megabyte end as well, and are counted: one that is %s', async (what, history, message, code) => {
    const request = { request_id: what, session_id: 's-large', question: 'x'.repeat(1_047_000), history };
    const value = Buffer.from(JSON.stringify(request));
    const labels = { topic: 'agent.requests', code: code === 'size_exceeded' ? 'output_too_large' : code };
    const before = await system.metric('sluice_dead_letters_total', labels);
    const offset = await system.bus.appendRaw('agent.requests', 's-large', value);
    expect(await system.responseOf(what)).toMatchObject({
      ...{ sessionId: 's-large', kind: 'error', question: '', history: [] },
      error: { code, message: expect.stringMatching(message) },
    });
    expect((await deadAt(offset))?.value).toHaveLength(value.length);
    await eventually(
      () => system.metric('sluice_dead_letters_total', labels),
      (value) => value === before + 1,
    );
  });

  it('leave ends that a replay makes once more to the byte', async () => {
    const log: LogReader = {
      read: (topics, options) => system.bus.read(topics, { ...options, onUndecodable: () => undefined }),
    };
    const decisions = await replayed(log, null);
    expect(decisions.filter(({ kind }) => kind === 'end').length).toBeGreaterThan(10);
    expect(decisions.filter(({ outcome }) => outcome.kind === 'different')).toEqual([]);
  });
});
