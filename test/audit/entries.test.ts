import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { requestLog } from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import type { AgentResponse } from '@sluice/contracts';
import { contentHash, sourceTopics } from '@sluice/audit';
import { callKeyOf } from '@sluice/run';
import { audience, issuer, newIssuer } from '../../libs/identity/test/issuer.js';
import { asked, decide } from '../harness/approving.js';
import { calls, ids, projectRoot, workflowConfiguration } from '../harness/configurations.js';
import { inOrder, ScriptedModel, startSystem } from '../harness/system.js';
import type { Said, TestSystem } from '../harness/system.js';
import { caughtUp, entries } from './auditing.js';
import type { Entry } from './auditing.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-audit-'));
const iso = (milliseconds: number | undefined): string => new Date(milliseconds ?? NaN).toISOString();

/** What was done, by whoever did it; the turns of each run by its request. */
const turns: Readonly<Record<string, readonly Said[]>> = {
  'of-alice': [
    { thought: 'Look it up', calls: [calls.query, calls.update, [ids.query, '{"password":"hunter2"']] },
    { calls: [[ids.analysis, '{"rows":[{"name":"a","size":1}]}']] },
  ],
  'of-bob': [{ calls: [calls.update] }],
};

describe('what the audit tells, compared with what happened (G-147)', () => {
  let system: TestSystem;
  let told: readonly Entry[];
  const responses = new Map<string, AgentResponse>();

  beforeAll(async () => {
    const users = await newIssuer();
    const keyFile = join(folder, 'issuer.json');
    writeFileSync(keyFile, JSON.stringify(users.jwks));
    const model = new ScriptedModel((request) => inOrder(...(turns[request.question] ?? []))(request));
    const limits = `identity: { provider: jwt, key_file: "${keyFile}", issuer: "${issuer}", audience: ${audience} }`;
    const configuration = workflowConfiguration({ limits }).replace(
      /^policy:$/m,
      'policy:\n  approval: { approvers: ["user:carol"], effects: [state_change] }',
    );
    system = await startSystem(configuration, model);
    const alice = await users.token({ sub: 'alice', tool_groups: ['read-only', 'advanced'] });
    const bob = await users.token({ sub: 'bob', tenant: 'other', tool_groups: ['write'] });
    const carol = await users.token({ sub: 'carol', tenant: 'other', tool_groups: [] });

    const ask = async (id: string, token: string, request: object): Promise<void> => {
      const json = { question: id, request_id: id, session_id: `session-${id}`, ...request };
      const headers = { authorization: `Bearer ${token}` };
      await system.bus.appendRaw('agent.requests', `session-${id}`, Buffer.from(JSON.stringify(json)), headers);
    };
    const end = async (id: string): Promise<void> => void responses.set(id, await system.responseOf(id));

    await ask('of-alice', alice, { group: ['read-only', 'advanced'], user_id: 'alice' });
    await end('of-alice');
    await ask('of-bob', bob, { group: ['write'], state: 'analysis' });
    await decide(system, await asked(system), 'approve', { decidedBy: 'user:carol', reason: 'Fine' }, bearer(carol));
    await end('of-bob');
    await ask('too-much', alice, { group: ['write'] });
    await end('too-much');
    await ask('nobody', 'hunter2', { group: [] });
    await end('nobody');
    await system.bus.appendRaw('agent.steps', 'session-x', Buffer.from([0, 1, 2, 3]));
    const [steps] = await system.all('agent.steps');
    if (steps === undefined) throw new Error('No turn was run.');
    const { record, key } = steps;
    await system.bus.publish([
      { topic: 'agent.steps', key, record: { ...record, next: { ...record.next, state: 'results' } } },
    ]);
    const altered = record.steps.map((step) => ({ ...step, observation: 'All is well' }));
    await system.bus.publish([{ topic: 'agent.steps', key, record: { ...record, steps: altered } }]);
    while ((await system.all('agent.dead-letters')).length < 3) await new Promise((again) => setTimeout(again, 20));
    const report = await caughtUp(system.bus, system.embedded.runtime.signatures);
    expect(report.findings).toEqual([]);
    told = await entries(system.bus);
  });
  afterAll(async () => {
    await system.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const of = (kind: string, requestId?: string) =>
    told.filter((entry) => entry.kind === kind && (requestId === undefined || entry.requestId === requestId));
  /** Without what somebody wrote past the services. */
  const details = (kind: string, requestId?: string) =>
    of(kind, requestId).flatMap((entry) => (entry.details['authentic'] === false ? [] : [entry.details]));

  it('is at least one entry for each record of each topic, with what the record was', async () => {
    for (const message of await system.all(...sourceTopics)) {
      const own = told.filter(
        ({ kind, sourceTopic, sourceOffset }) =>
          kind !== 'checkpoint' && sourceTopic === message.topic && sourceOffset === message.offset,
      );
      expect(own.length).toBeGreaterThan(0);
      for (const { sourceHash, at } of own) expect([sourceHash, at]).toEqual([contentHash(message), message.timestamp]);
    }
  });

  it('records of each request what it asked for, after the defaults (G-95, XG-23)', () => {
    expect(of('request').map(({ requestId }) => requestId)).toEqual(['of-alice', 'of-bob', 'too-much', 'nobody']);
    expect(of('request', 'of-alice')[0]).toMatchObject({
      sessionId: 'session-of-alice',
      sourceTopic: 'agent.requests',
    });
    expect(details('request', 'of-alice')).toEqual([
      {
        question: 'of-alice',
        question_hash: sha256('of-alice'),
        requested_groups: ['read-only', 'advanced'],
        initial_state: 'undefined',
        history_steps: 0,
        max_iterations: null,
        deadline: null,
        claimed_user: 'alice',
        has_credential: true,
      },
    ]);
    expect(details('request', 'nobody')[0]?.['requested_groups']).toEqual([]);
  });

  it('records of each decision the caller, the groups, the offered set and every reason (G-94, XG-27)', async () => {
    const records = (await system.all('agent.toolsets')).map(({ record }) => record);
    expect(of('tools_granted')).toHaveLength(records.length);
    for (const [index, record] of records.entries()) {
      const { configVersion, details: said, requestId } = of('tools_granted')[index] as Entry;
      const isAlice = requestId === 'of-alice';
      expect([requestId, configVersion]).toEqual([record.requestId, record.configVersion]);
      expect(said).toEqual({
        authentic: true,
        iteration: record.iteration,
        actor: isAlice ? 'user:alice' : 'user:bob',
        tenant: isAlice ? 'acme' : 'other',
        subject: null,
        permitted_groups: isAlice ? ['read-only', 'advanced'] : ['write'],
        requested_groups: isAlice ? ['read-only', 'advanced'] : ['write'],
        granted_groups: isAlice ? ['read-only', 'advanced'] : ['write'],
        state: record.state,
        offered_since: record.list?.since,
        // What is the same as in an earlier iteration is not said again.
        ...(record.list?.since === record.iteration
          ? {
              offered_hash: record.list.hash,
              offered: record.tools.map(({ key }) => key),
              offered_indexes: record.list.indexes,
              hidden: record.hidden.map(({ key, reasons }) => ({ key, reasons })),
            }
          : {}),
        hidden_counts: record.hiddenCounts,
        decided_at: iso(record.decidedAt),
        grant_hash: sha256(record.grant ?? ''),
        ...(record.iteration === 1 ? { question_hash: sha256(record.request.question) } : {}),
      });
    }
  });

  it('records each call, also those that were denied: who, what, how it ended, how long it took (M-79, XB-26)', async () => {
    const history = responses.get('of-alice')?.history ?? [];
    const taken = (await system.all('agent.steps')).filter(({ record }) => record.requestId === 'of-alice').slice(0, 2);
    const hashes = taken.flatMap(({ record }) => record.steps.map(({ resultHash }) => resultHash));
    expect(hashes.map((hash) => hash === null)).toEqual([false, true, true, false]);
    expect(history.map(({ outcome }) => outcome)).toEqual(['ok', 'policy_denied', 'invalid_json', 'ok']);
    expect(details('tool_call', 'of-alice')).toEqual(
      history.map((step, index) => ({
        authentic: true,
        iteration: step.iteration,
        index: step.index,
        tool_call_id: step.toolCallId,
        tool: step.action,
        tool_id: [ids.query, ids.update, ids.query, ids.analysis][index],
        tool_groups: [
          ['read-only', 'knowledge', 'basic'],
          ['write', 'knowledge', 'admin'],
          ['read-only', 'knowledge', 'basic'],
          ['advanced', 'compute', 'expensive'],
        ][index],
        actor: 'user:alice',
        tenant: 'acme',
        subject: null,
        requested_groups: ['read-only', 'advanced'],
        outcome: step.outcome,
        reason: step.reason,
        invalid_state_transition: false,
        state_before: step.stateBefore,
        state_after: step.state,
        started_at: iso(step.startedAt),
        ended_at: iso(step.endedAt),
        duration_ms: step.endedAt - step.startedAt,
        arguments: index === 2 ? null : JSON.stringify(JSON.parse(step.arguments)),
        arguments_hash: sha256(step.arguments),
        observation: step.observation,
        observation_hash: sha256(step.observation),
        result_hash: hashes[index],
      })),
    );
    expect(details('calls_chosen', 'of-alice')[0]).toMatchObject({
      thought: 'Look it up',
      calls: [
        { tool: ids.query },
        { tool: ids.update },
        { tool: ids.query, arguments_hash: history[2] && sha256(history[2].arguments) },
      ],
    });
  });

  it('holds a hash of the raw result that the executor alone can prove, and no history carries it on (XB-26)', async () => {
    const { analyse } = (await import(join(projectRoot, 'examples/analysis-server/analyse.mjs'))) as {
      analyse(rows: readonly object[]): { readonly summary: string };
    };
    const given = analyse([{ name: 'a', size: 1 }]);
    const [, turn] = await system.all('agent.tool-calls');
    const [made] = turn?.record.calls ?? [];
    if (turn === undefined || made === undefined) throw new Error('There was no second turn.');
    expect(responses.get('of-alice')?.history[3]?.observation).toBe(JSON.stringify({ summary: given.summary }));
    const call = callKeyOf(turn.record.requestId, turn.record, made, 0);
    const { signatures } = system.embedded.runtime;
    expect(details('tool_call', 'of-alice')[3]?.['result_hash']).toBe(
      signatures.keyedHash('executor', `${call}\n${JSON.stringify(given)}`),
    );
    for (const { record } of await system.all('agent.toolsets', 'agent.responses')) {
      const history = 'request' in record ? record.request.history : record.history;
      expect(history.every(({ resultHash }) => resultHash === null)).toBe(true);
    }
  });

  it('marks a record that no service wrote as not authentic (XG-14)', () => {
    const forged = told.filter(({ details: { authentic } }) => authentic === false);
    const turn = ['tool_call', 'state_transition', 'tool_call', 'tool_call'];
    expect(forged.map(({ kind }) => kind)).toEqual([...turn, ...turn]);
    expect(new Set(forged.map(({ sourceTopic, requestId }) => `${sourceTopic} ${requestId}`))).toEqual(
      new Set(['agent.steps of-alice']),
    );
    expect(new Set(forged.map(({ sourceOffset }) => sourceOffset)).size).toBe(2);
  });

  it('repeats nothing that could not be checked for secrets, nor a credential', () => {
    expect(JSON.stringify(told)).not.toContain('hunter2');
  });

  it('lets usage be summed by group (G-97)', () => {
    const uses = new Map<string, number>();
    for (const { outcome, tool_groups: groups } of details('tool_call'))
      if (outcome === 'ok')
        for (const group of groups as readonly string[]) uses.set(group, (uses.get(group) ?? 0) + 1);
    expect(Object.fromEntries(uses)).toEqual({
      ...{ 'read-only': 1, knowledge: 2, basic: 1, advanced: 1, compute: 1, expensive: 1, write: 1, admin: 1 },
    });
  });

  it('records each change of state with the values of log and metric (G-96)', async () => {
    const kept = responses.get('of-alice')?.run?.stateTransitions ?? [];
    expect(kept.map(({ tool }) => tool)).toEqual(['knowledge-query', 'complex-analysis']);
    expect(details('state_transition', 'of-alice')).toEqual(
      kept.map(({ tool, from, to, timestamp }, index) => ({
        authentic: true,
        iteration: index + 1,
        ...{ tool, from, to },
        timestamp: iso(timestamp),
        ...{ actor: 'user:alice', tenant: 'acme', subject: null },
      })),
    );
    const [line] = (await system.lines()).filter((one) => one['request_id'] === 'of-alice' && 'execution_time' in one);
    expect(details('state_transition', 'of-alice')).toMatchObject((line?.['state_transitions'] ?? []) as object[]);
    expect(await system.metric('agent_state_transitions_total')).toBe(details('state_transition').length);
  });

  it('records each end, with the record of §8.2 (G-95)', async () => {
    for (const id of ['of-alice', 'of-bob']) {
      const response = responses.get(id) as AgentResponse;
      const asked = { groups: [], state: '' };
      const log = requestLog(id, response.run, asked, response.endedAt);
      expect(Object.keys(log)).toHaveLength(8);
      expect(details('run_ended', id)).toEqual([
        {
          ...(id === 'of-alice' ? { actor: 'user:alice', tenant: 'acme' } : { actor: 'user:bob', tenant: 'other' }),
          subject: null,
          requested_groups: response.run?.requestedGroups,
          granted_groups: response.run?.requestedGroups,
          state: response.state,
          ended_at: iso(response.endedAt),
          request_log: { ...log },
          outcome: 'answer',
          message: null,
          model: response.model?.name,
          prompt_hash: response.model?.promptHash,
          answer: 'done',
          answer_hash: sha256('done'),
          iterations: response.iterations,
          input_tokens: response.run?.inputTokens,
          output_tokens: response.run?.outputTokens,
        },
      ]);
      const lines = (await system.lines()).filter((one) => one['request_id'] === id && 'execution_time' in one);
      expect(lines).toEqual([expect.objectContaining({ ...log })]);
    }
  });

  it('records each refusal: who asked for what, and that nothing was granted (G-94, G-98)', () => {
    expect(details('request_refused', 'too-much')).toEqual([
      expect.objectContaining({
        actor: 'user:alice',
        tenant: 'acme',
        requested_groups: ['write'],
        granted_groups: [],
        code: 'authz_denied',
        message: responses.get('too-much')?.error?.message,
      }),
    ]);
    expect(details('request_refused', 'nobody')).toMatchObject([
      { actor: null, granted_groups: [], request_log: null },
    ]);
  });

  it('records each approval: what was asked, who decided, the outcome (X-18)', () => {
    const id = details('approval_requested', 'of-bob')[0]?.['approval_id'];
    expect(details('approval_requested')).toMatchObject([
      { tool: ids.update, actor: 'user:bob', tenant: 'other', arguments_hash: sha256(calls.update[1]) },
    ]);
    expect(details('approval_decided')).toMatchObject([
      { approval_id: id, decision: 'approve', decided_by: 'user:carol', reason: 'Fine' },
    ]);
    expect(details('approval_outcome')).toMatchObject([{ approval_id: id, decision: 'approve', not_taken: null }]);
  });

  it('records dead letters, and attempts to change a state past the services (G-99, XG-14)', async () => {
    const letters = (await system.all('agent.dead-letters')).map(({ record }) => record);
    expect(details('dead_letter')).toEqual(
      letters.map(({ topic, partition, offset, group, code, reason, attempts, value, failedAt }) => ({
        ...{ topic, partition, offset, group, code, reason, attempts },
        security: code !== 'undecodable',
        invalid_state_transition: code === 'state_altered',
        value_hash: sha256(value),
        bytes: value.length,
        failed_at: iso(failedAt),
      })),
    );
    expect(letters.map(({ code }) => code)).toEqual(['undecodable', 'state_altered', 'signature_invalid']);
  });

  it('records an unreadable record by its hash', () => {
    expect(of('undecodable')).toMatchObject([
      {
        sourceTopic: 'agent.steps',
        sessionId: 'session-x',
        sourceHash: '',
        details: { code: 'undecodable', value_hash: sha256(Buffer.from([0, 1, 2, 3])), bytes: 4 },
      },
    ]);
  });

  it('records each configuration that came into force', async () => {
    const [config] = await system.all('agent.config');
    expect(details('configuration')).toEqual([
      {
        authentic: true,
        version: config?.record.version,
        source: config?.record.source,
        configuration_hash: sha256(config?.record.configuration ?? ''),
        compiled_at: iso(config?.record.compiledAt),
      },
    ]);
  });

  it('keeps the tenants apart and records both completely (G-152)', () => {
    const tenants = (id: string) =>
      told
        .filter((entry) => entry.requestId === id)
        .flatMap(({ details: { tenant } }) => (tenant === undefined ? [] : [tenant]));
    expect(new Set(tenants('of-alice'))).toEqual(new Set(['acme']));
    expect(new Set(tenants('of-bob'))).toEqual(new Set(['other']));
    for (const id of ['of-alice', 'of-bob']) {
      const response = responses.get(id);
      expect(of('tools_granted', id)).toHaveLength(response?.iterations ?? NaN);
      expect(details('tool_call', id)).toHaveLength(response?.history.length ?? NaN);
      expect(details('state_transition', id)).toHaveLength(response?.run?.stateTransitions.length ?? NaN);
      expect(of('run_ended', id)).toHaveLength(1);
    }
  });

  it('is counted by kind', async () => {
    for (const kind of new Set(told.map((entry) => entry.kind)))
      expect(await system.metric('sluice_audit_entries_total', { kind })).toBe(of(kind).length);
  });
});

function bearer(token: string): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${token}` };
}
