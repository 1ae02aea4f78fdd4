import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { localPrincipal } from '@sluice/core';
import type { JsonObject } from '@sluice/core';
import { make, positionOf, topics } from '@sluice/contracts';
import type { AgentRequest, AgentStepResult, ToolCall } from '@sluice/contracts';
import { entriesOf } from '@sluice/audit';
import type { Source } from '@sluice/audit';
import { createSignatures, newKeySet } from '@sluice/identity';
import { cancelRun, claimRequest, signCall, signCallTurn } from '@sluice/run';
import { defineTool } from '@sluice/tools';
import { ExpirySweep } from '../apps/executor/src/approvals/expiry-sweep.js';
import { newRequest } from '../apps/sluice/src/run-request.js';
import { AuditStory } from '../apps/sluice/src/show/audit-story.js';
import { startByHand } from './harness/by-hand.js';
import type { ByHand } from './harness/by-hand.js';
import { eventually } from './harness/eventually.js';
import { ScriptedModel } from './harness/system.js';

const plain = new Proxy({}, { get: () => (text: string) => text }) as ConstructorParameters<typeof AuditStory>[1];

let done = 0;
let begunAt = 0;
const tool = (type: string, effect: 'read_only' | 'external_side_effect', ms: number) =>
  defineTool({
    ...{ type, description: 'Does something', effect, redaction: { whole: true }, capabilities: [] },
    ...{ input: z.strictObject({}), output: z.string(), repeatable: false, requiresConnection: false },
    execute: async () => {
      done++;
      begunAt = performance.now();
      await sleep(ms, undefined, { ref: false });
      return `${type} ${done}`;
    },
  });
const contracts = [
  tool('look', 'read_only', 0),
  tool('act', 'external_side_effect', 0),
  tool('hang', 'external_side_effect', 20_000),
];
const configuration = {
  tool: { look: { type: 'look' }, act: { type: 'act' }, hang: { type: 'hang', timeout_seconds: 30 } },
  policy: { allowed_tools: ['look', 'act', 'hang'] },
};
const noModel = new ScriptedModel(() => {
  throw new Error('No model is asked for a call.');
});

let system: ByHand;
afterEach(() => system.close());

async function begin(more: object = {}): Promise<void> {
  done = 0;
  system = await startByHand({ ...configuration, ...more }, { contracts, model: noModel });
}

const callOf = (requestId: string, name: string): AgentRequest => ({
  ...newRequest('Go', { requestId, sessionId: requestId }),
  call: make.directCall({ tool: name, arguments: '{}' }),
});
const call = (requestId: string, name = 'core__act', topic: 'agent.calls' | 'agent.requests' = topics.calls) =>
  system.bus.publish([{ topic, key: requestId, record: callOf(requestId, name) }]);
const start = async (): Promise<void> => {
  for (const role of ['filter', 'agent', 'executor'] as const) await system.start(role);
};
const ends = async () =>
  (await system.all('agent.responses')).map(({ record: { requestId, error } }) => [requestId, error?.code ?? 'answer']);
const steps = async () => (await system.all('agent.steps')).flatMap(({ record }) => record.steps);
const letters = async () => (await system.all('agent.dead-letters')).map(({ record }) => record.code);
const rest = async (): Promise<void> => {
  for (let n = 0; n < 2; n++) {
    await system.caughtUp('filter', topics.requests, topics.steps);
    await system.caughtUp('executor', topics.calls, topics.toolCalls, topics.responses);
  }
};

/** As `kafka-consumer-groups --reset-offsets --to-earliest` does it of groups that have stopped. */
async function setBack(...groups: readonly ('filter' | 'executor')[]): Promise<void> {
  for (const group of groups) await system.stop(group);
  const database = new DatabaseSync(join(system.folder, 'log.sqlite'));
  for (const group of groups) {
    database.prepare('UPDATE positions SET prefix = 0 WHERE consumer_group = ?').run(group);
    database.prepare('DELETE FROM finished WHERE consumer_group = ?').run(group);
  }
  database.close();
  for (const group of groups) await system.start(group);
  await rest();
}

describe('the request of a call that comes again', () => {
  it('where a group is set back brings no second end, step or effect, and is passed on no more', async () => {
    await begin();
    await start();
    await call('came', 'core__act');
    await call('passed on', 'core__act', topics.requests);
    await call('looked', 'core__look');
    for (const id of ['came', 'passed on', 'looked']) await system.responseOf(id);
    await rest();
    const counts = async () =>
      Promise.all(
        (['agent.calls', 'agent.tool-calls', 'agent.steps', 'agent.responses', 'agent.dead-letters'] as const).map(
          async (topic) => (await system.all(topic)).length,
        ),
      );
    expect([await counts(), done]).toEqual([[3, 0, 3, 3, 0], 3]);
    for (const groups of [['executor'], ['filter'], ['filter', 'executor']] as const) {
      await setBack(...groups);
      expect([await counts(), done]).toEqual([[3, 0, 3, 3, 0], 3]);
    }
    expect(system.lines()).toContain('skipped a record that was handled before');
  });

  it('that was passed on is one question in the audit, and then said to be passed on', async () => {
    await begin();
    await start();
    await call('direct', 'core__look');
    await call('passed', 'core__look', topics.requests);
    for (const id of ['direct', 'passed']) await system.responseOf(id);
    const [asked] = await system.all('agent.requests');
    const [direct, passed] = await system.all('agent.calls');
    if (asked === undefined || direct === undefined || passed === undefined) throw new Error('A request is missing.');
    const detailsOf = (source: Source) => {
      const [entry] = entriesOf(source, { tools: () => undefined, authentic: true });
      return JSON.parse(entry?.details ?? 'null') as JsonObject;
    };
    const from = { passed_on_from: `agent.requests/${asked.partition}/${asked.offset}` };
    expect(detailsOf(passed)).toEqual({ ...detailsOf(asked), ...from });
    expect(detailsOf(direct)).not.toHaveProperty('passed_on_from');
    // A client's own header says nothing on the topic that it writes to.
    expect(detailsOf({ ...asked, headers: passed.headers })).toEqual(detailsOf(asked));
    let shown = '';
    const story = new AuditStory((text) => (shown += text), plain);
    for (const source of [asked, passed]) {
      const common = { kind: 'request', at: '2026-11-22T05:00:00.000Z', request_id: 'passed', session_id: 'passed' };
      const place = { chain: `${source.topic}/0`, sequence: 1, source_offset: 0, config_version: '' };
      story.tell({ ...common, ...place, details: detailsOf(source) });
    }
    expect(shown.match(/asked “Go”/g)).toHaveLength(1);
    expect(shown).toContain(`passed on to agent.calls, from ${from.passed_on_from}`);
  });

  it('under the same id is dropped, on whichever topic; what had only been claimed is done', async () => {
    await begin();
    await call('first');
    const [message] = await system.all('agent.calls');
    if (message === undefined) throw new Error('It is not on the log.');
    // As an executor leaves it that was killed behind its claim.
    await claimRequest({ requestId: 'first', tenant: 'local' }, positionOf(message), system.open.runtime);
    await call('first', 'core__look');
    await start();
    await call('first', 'core__hang', topics.requests);
    await system.responseOf('first');
    await rest();
    expect([await ends(), done]).toEqual([[['first', 'answer']], 1]);
    expect((await steps()).map(({ action }) => action)).toEqual(['act']);
  });
});

describe('a call that its caller cancels', () => {
  const cancel = (requestId: string) => cancelRun(requestId, localPrincipal, 'No more.', system.open.runtime);

  it('before an executor takes it is not made', async () => {
    await begin();
    await cancel('early');
    await start();
    await call('early');
    const { error, run } = await system.responseOf('early');
    expect([error?.code, run?.iteration, done]).toEqual(['cancelled', 0, 0]);
    await rest();
    expect([await steps(), await letters()]).toEqual([[], []]);
  });

  /** Has what is looked up about cancellations seen, and held up. */
  function watchLooks(look: (askedAt: number) => Promise<void>): void {
    const { ledger } = system.open.runtime;
    const find = ledger.find.bind(ledger);
    ledger.find = async (key) => {
      const askedAt = performance.now();
      const found = await find(key);
      if (key.startsWith('cancelled/') && !key.endsWith('/for-its-caller')) await look(askedAt);
      return found;
    };
  }

  it('is looked for as it is taken and as it ends, and not once more where it is made at once', async () => {
    await begin();
    await start();
    const looks: number[] = [];
    watchLooks((askedAt) => Promise.resolve(void looks.push(askedAt)));
    // On a busy machine a call may not be made at once.
    const isQuick = (): boolean => begunAt - (looks[0] ?? 0) < 50;
    for (let n = 0; n === 0 || (n < 20 && !isQuick()); n++) {
      looks.length = 0;
      await call(`quick-${n}`, 'core__look');
      await system.responseOf(`quick-${n}`);
    }
    expect(looks.length).toBeGreaterThan(1);
    expect(looks.length).toBeLessThan(isQuick() ? 3 : 4);
  });

  it('a moment after it was taken, and before it began, is not made', async () => {
    await begin();
    await start();
    let looks = 0;
    watchLooks(async () => {
      if (looks++ > 0) return;
      await cancel('late');
      await sleep(150);
    });
    await call('late');
    expect(await system.responseOf('late')).toMatchObject({ error: { code: 'cancelled' } });
    await rest();
    expect((await steps()).map(({ reason }) => reason)).toEqual(['cancelled']);
    expect([await letters(), done]).toEqual([[], 0]);
  });

  it('while it runs ends with its outcome on record', async () => {
    await begin();
    await start();
    await call('running', 'core__hang');
    await eventually(
      () => done,
      (count) => count === 1,
    );
    await cancel('running');
    expect(await system.responseOf('running')).toMatchObject({ error: { code: 'cancelled' } });
    await rest();
    expect((await steps()).map(({ reason }) => reason)).toEqual(['outcome_unknown']);
    expect([await ends(), await letters(), done]).toEqual([[['running', 'cancelled']], [], 1]);
  });

  it('while it waits for an approval is not made', async () => {
    await begin({ policy: { ...configuration.policy, approval: { approvers: ['*'] } } });
    await start();
    await call('parked');
    await eventually(
      () => system.all('agent.approvals'),
      ({ length }) => length === 1,
    );
    const sweep = new ExpirySweep(system.open.runtime);
    const said = { request_id: 'parked', reason: 'No more.' };
    await system.bus.appendRaw(topics.cancellations, 'parked', Buffer.from(JSON.stringify(said)), {});
    expect(await system.responseOf('parked')).toMatchObject({ error: { code: 'cancelled' } });
    await sweep.close();
    await rest();
    expect((await steps()).map(({ reason }) => reason)).toEqual(['cancelled']);
    expect([await ends(), await letters(), done]).toEqual([[['parked', 'cancelled']], [], 0]);
  });
});

describe('a record of a call that is forged', () => {
  it.each<[string, (turn: ToolCall) => Partial<ToolCall>]>([
    ['another tool', ({ calls }) => ({ calls: calls.map((one) => ({ ...one, tool: 'core__look' })) })],
    ['other arguments', ({ calls }) => ({ calls: calls.map((one) => ({ ...one, arguments: '{"more":1}' })) })],
    ['two calls', ({ calls }) => ({ calls: [...calls, ...calls] })],
    ['a later iteration', () => ({ iteration: 2 })],
    ['a model’s turn', ({ request }) => ({ request: { ...request, call: null } })],
  ])('as a turn under the key for calls, with %s: nothing runs', async (_, change) => {
    await begin({ policy: { ...configuration.policy, approval: { approvers: ['*'] } } });
    await start();
    await call('honest');
    const [honest] = await eventually(
      () => system.all('agent.tool-calls'),
      ({ length }) => length === 1,
    );
    const turn = honest?.record ?? never();
    const ids = { requestId: 'forged', sessionId: 'forged' };
    const other = { ...turn, ...ids, request: { ...turn.request, ...ids } };
    const record = await signCallTurn({ ...other, ...change(other) }, system.open.runtime);
    await system.bus.publish([{ topic: topics.toolCalls, key: 'forged', record }]);
    await eventually(letters, ({ length }) => length === 1);
    expect([await letters(), await ends(), done]).toEqual([['grant_invalid'], [], 0]);
  });

  it('as a turn under a key of its own, or of the agent: nothing runs', async () => {
    await begin({ policy: { ...configuration.policy, approval: { approvers: ['*'] } } });
    await start();
    await call('honest');
    const [honest] = await eventually(
      () => system.all('agent.tool-calls'),
      ({ length }) => length === 1,
    );
    const turn = honest?.record ?? never();
    const ids = { requestId: 'forged', sessionId: 'forged' };
    const other = { ...turn, ...ids, request: { ...turn.request, ...ids } };
    const { clock, signatures } = system.open.runtime;
    const stranger = createSignatures(newKeySet(0));
    const asAgent = { ...signatures, sign: (_: string, claims: object) => signatures.sign('agent', claims as never) };
    for (const by of [stranger, asAgent]) {
      const record = await signCallTurn(other, { clock, signatures: by });
      await system.bus.publish([{ topic: topics.toolCalls, key: 'forged', record }]);
    }
    await eventually(letters, ({ length }) => length === 2);
    expect([await letters(), await ends(), done]).toEqual([['grant_invalid', 'grant_invalid'], [], 0]);
  });

  it('as its step, altered or under another key, is quarantined; a copy of the honest one changes nothing', async () => {
    await begin();
    await start();
    await call('honest');
    await system.responseOf('honest');
    const [honest] = await system.all('agent.steps');
    const record = honest?.record ?? never();
    const { signatures } = system.open.runtime;
    const asExecutor = {
      ...signatures,
      sign: (_: string, claims: object) => signatures.sign('executor', claims as never),
    };
    const forged: AgentStepResult[] = [
      { ...record, steps: record.steps.map((one) => ({ ...one, observation: 'Paid.' })) },
      { ...record, requestId: 'other' },
      await signCall(record, { signatures: createSignatures(newKeySet(0)) }),
      await signCall(record, { signatures: asExecutor }),
      // With its decision taken off it would be a turn that goes on.
      { ...record, call: null },
    ];
    for (const one of [...forged, record])
      await system.bus.publish([{ topic: topics.steps, key: 'honest', record: one }]);
    await eventually(letters, ({ length }) => length === forged.length);
    await rest();
    expect(await letters()).toEqual([...Array.from({ length: 4 }, () => 'signature_invalid'), 'continuation_invalid']);
    expect([await ends(), done, await system.all('agent.toolsets')]).toEqual([[['honest', 'answer']], 1, []]);
  });
});

function never(): never {
  throw new Error('It is not on the log.');
}
