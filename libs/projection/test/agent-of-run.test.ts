import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, it } from '@jest/globals';
import { beginRun, localPrincipal } from '@sluice/core';
import type { Incoming } from '@sluice/bus';
import { Projection } from '../src/index.js';
import { migrations } from '../src/stores/tables.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-agent-of-run-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** In the header of the projection’s file. */
const projectionId = 0x534c5052;
const day = 86_400_000;
const span = { since: 0, until: 10 * day };
const viewer = { tenantId: localPrincipal.tenantId, actorId: localPrincipal.actorId, subjectId: null };
const limits = { maxIterations: 3, runMs: 1_000, historyBytes: 1_000 };
const run = beginRun({ maxIterations: null, deadline: null }, ['default'], 'undefined', limits, localPrincipal, day);
const about = { requestId: 'r', sessionId: 's', configVersion: '' };
const toolset = (agent: string | null, call: object | null = null): Incoming =>
  ({
    ...{ topic: 'agent.toolsets', partition: 0, offset: 0, timestamp: day },
    record: { ...about, run, state: 'undefined', iteration: 1, request: { question: 'Q', agent, call } },
  }) as unknown as Incoming;
/** What a call that its request makes itself leaves: its result, or its turn where it waits. */
const ownCall = (topic: 'agent.steps' | 'agent.tool-calls'): Incoming => {
  const request = { question: 'Q', agent: null, call: { tool: 'x', arguments: '{}' }, state: null };
  const turn = topic === 'agent.steps' ? { next: request, steps: [] } : { request, model: null };
  return {
    ...{ topic, partition: 0, offset: 0, timestamp: day },
    record: { ...about, run, iteration: 1, call: {}, ...turn },
  } as unknown as Incoming;
};
const response = {
  ...{ topic: 'agent.responses', partition: 0, offset: 0, timestamp: day + 5 },
  record: { ...about, run, question: 'Q', state: '', error: null, endedAt: day + 5, iterations: 1, model: null },
} as unknown as Incoming;
const counts = () => Promise.resolve(true);

describe('the agent of a run', () => {
  it.each([
    ['in the order of the run', [toolset('support'), response], 'support'],
    ['with its end first', [response, toolset('support')], 'support'],
    ['again and again', [toolset('support'), response, toolset('support'), response], 'support'],
    ['of a request that names none', [toolset(null), response], 'default'],
    ['of a request that makes a call itself', [toolset(null, { tool: 'x', arguments: '{}' }), response], ''],
    ['of such a call in one hop', [ownCall('agent.steps'), response], ''],
    ['of such a call that waits', [ownCall('agent.tool-calls'), response], ''],
  ])('is listed and counted once, by its records %s', async (title, messages, agent) => {
    const projection = await Projection.open({ file: join(folder, `${title}.sqlite`) });
    for (const message of messages) await projection.apply([message], counts);
    const [listed] = await projection.runs(viewer, agent === '' ? {} : { agent }, null, 5);
    expect(listed).toMatchObject({ requestId: 'r', agent });
    expect(await projection.runs(viewer, { agent: 'other' }, null, 5)).toEqual([]);
    expect(await projection.runs(viewer, { words: ['q'] }, null, 5)).toHaveLength(1);
    const used = await projection.usage('agent', viewer.tenantId, span, 5);
    expect(used).toMatchObject([{ name: agent, count: 1, failures: 0, durationMs: 5 }]);
    await projection.close();
  });

  it('is known of runs of before once their records are read again, and what was counted stays', async () => {
    const file = join(folder, 'before.sqlite');
    const former = new DatabaseSync(file);
    const scripts = migrations('sqlite').slice(0, -1);
    for (const script of scripts) former.exec(script);
    former.exec(`PRAGMA user_version = ${scripts.length}; PRAGMA application_id = ${projectionId}`);
    former.exec(`INSERT INTO usage VALUES ('local', ${day}, 'user:local', '', 'answer', 2, 0, 7, 0, 7, 0, 0, 9);
      INSERT INTO runs (tenant, request_id, session_id, actor, question, state, outcome, rank, iterations, input_tokens,
        cached_input_tokens, output_tokens, started_at, updated_at, ended_at, counted)
      VALUES ('local', 'r', 's', 'user:local', 'Q', '', 'answer', 9000, 1, 0, 0, 0, ${day}, ${day}, ${day + 5}, 1);
      INSERT INTO positions VALUES ('agent.toolsets', 0, 4);`);
    former.close();
    const projection = await Projection.open({ file });
    expect(await projection.usage('agent', 'local', span, 5)).toMatchObject([{ name: '', count: 2, inputTokens: 7 }]);
    const read = new DatabaseSync(file, { readOnly: true });
    expect(read.prepare('SELECT count(*) AS kept FROM positions').get()).toEqual({ kept: 0 });
    read.close();
    await projection.apply([toolset('support')], counts);
    const used = await projection.usage('agent', 'local', span, 5);
    expect(used.map(({ name, count }) => [name, count])).toEqual([
      ['', 1],
      ['support', 1],
    ]);
    await projection.close();
  });
});
