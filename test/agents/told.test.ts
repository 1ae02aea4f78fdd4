import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Incoming } from '@sluice/bus';
import { isAgentRunId } from '@sluice/run';
import { Models } from '@sluice/model';
import { AuditStory } from '../../apps/sluice/src/show/audit-story.js';
import { followRun } from '../../apps/sluice/src/run-request.js';
import { RunStories } from '../../apps/sluice/src/show/run-stories.js';
import type { Story } from '../../apps/sluice/src/show/story.js';
import { sessionEntries } from '../../apps/sluice/src/audit/session.js';
import { caughtUp } from '../audit/auditing.js';
import { calls, projectRoot } from '../harness/configurations.js';
import { startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { ids, research, startAgents } from '../harness/with-agents.js';
import { Sluice } from '../../packages/client/src/client.js';
import type { RunEvent } from '../../packages/client/src/events.js';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { chunksOf, messageOf, post, streamed } from '../gateway/over-http.js';
import { changed, replayed } from '../replay/replaying.js';

const plain = new Proxy({}, { get: () => (text: string) => text }) as ConstructorParameters<typeof Story>[1];

/** What only those see who follow meanwhile. */
const isEarly = (event: RunEvent): boolean =>
  event.type === 'tool_started' || (event.type === 'tool_result' && event.is_preliminary);

describe('what is reported of an agent’s run (K-62)', () => {
  let system: TestSystem;
  let agentRunId = '';
  beforeAll(async () => {
    const { opened, end } = await startAgents({
      Go: [{ calls: [calls.analysis, research] }],
      'Who made it?': [{ calls: [[ids.text, '{"prompt":"Say so"}']] }, { answer: 'Ada made it.' }],
    });
    system = opened;
    agentRunId = (await end()).history[1]?.agentRun?.requestId ?? '';
  });
  afterAll(() => system.close());

  it('to the caller: that the call runs as an agent, and under which request_id', async () => {
    let shown = '';
    const story = new RunStories((text) => (shown += text), plain);
    await followRun(system.bus, 'run-1', 0, (message, within) => story.tell(message, within));
    expect(shown).toMatch(new RegExp(`agent +core__research runs as an agent of its own: ${agentRunId}\\n`));
    expect(shown).toMatch(/call +research .*\n +observed +Ada made it\./);
    // What the agent does, each line with the beginning of its run's id.
    const mark = `   ${agentRunId.slice(0, 14)} │ `;
    const lines = shown.split('\n');
    const ofAgent = lines.filter((line) => line.startsWith(mark)).join('\n');
    expect(ofAgent).toMatch(/Iteration 1 .*[^]*call +text-completion .*\n.*observed +[^]*Answer +Ada made it\.$/);
    expect(lines.filter((line) => !line.startsWith(mark)).join('\n')).not.toContain('text-completion ');
  });

  it('by the audit: its beginning in its own session, its name beside the call, and its caller at its end', async () => {
    const report = await caughtUp(system.bus, system.embedded.runtime.signatures);
    expect(report.findings).toEqual([]);
    const { entries } = await sessionEntries(system.bus, agentRunId);
    expect(entries[0]).toMatchObject({
      kind: 'agent_begun',
      details: {
        ...{ authentic: true, tool_id: ids.research, parent_request_id: 'run-1', parent_session_id: 'session-1' },
        ...{ actor: 'user:local', question: 'Who made it?', requested_groups: ['text', 'agents'], max_tokens: null },
      },
    });
    expect(entries.at(-1)).toMatchObject({ kind: 'run_ended', details: { parent_request_id: 'run-1' } });
    const ofCaller = (await sessionEntries(system.bus, 'session-1')).entries;
    const call = ofCaller.find(({ details }) => details['tool'] === 'research' && details['outcome'] === 'ok');
    expect(call?.details).toMatchObject({ agent_request_id: agentRunId, agent_input_tokens: 2 });
    expect(ofCaller.some(({ details }) => 'parent_request_id' in details)).toBe(false);

    let shown = '';
    const story = new AuditStory((text) => (shown += text), plain);
    for (const entry of [...entries, ...ofCaller]) story.tell(entry);
    expect(shown).toContain('began as the agent core__research, called by the run run-1: “Who made it?”');
    expect(shown).toContain(`(as the run ${agentRunId}): ok`);
  });

  describe('by a replay', () => {
    const differing = async (change: (message: Incoming) => Incoming | null) =>
      (await replayed(changed(system.bus, change), null)).flatMap(({ kind, requestId, outcome }) =>
        outcome.kind === 'equal'
          ? []
          : [`${kind} of ${isAgentRunId(requestId) ? 'agent' : requestId}: ${outcome.kind}`],
      );

    it('decides how it began in the run that called it, and finds all as it was', async () => {
      const found = await replayed(system.bus, null);
      expect(found.filter(({ kind }) => kind === 'agent begun').map(({ requestId }) => requestId)).toEqual(['run-1']);
      expect(found.filter(({ requestId }) => requestId === agentRunId).map(({ kind }) => kind)).toEqual(
        expect.arrayContaining(['tools', 'turn', 'steps', 'end']),
      );
      expect(await differing((message) => message)).toEqual([]);
    });

    it('sees that more was granted than the call could have', async () => {
      const widened = await differing((message) => {
        if (message.topic !== 'agent.steps' || message.record.iteration !== 0) return message;
        const { record } = message;
        return { ...message, record: { ...record, next: { ...record.next, group: ['*'] } } };
      });
      expect(widened).toContain('agent begun of run-1: different');
    });

    it('sees that the call’s result is not what the agent said', async () => {
      const said = await differing((message) =>
        message.topic === 'agent.responses' && message.record.requestId === agentRunId
          ? { ...message, record: { ...message.record, answer: 'Bob made it.' } }
          : message,
      );
      expect(said).toEqual(['steps of run-1: different']);
    });

    it('says so where the agent’s end is not there', async () => {
      const gone = await differing((message) =>
        message.topic === 'agent.responses' && message.record.requestId === agentRunId ? null : message,
      );
      expect(gone).toEqual(['steps of run-1: not_replayable']);
    });
  });

  it('to who reads the stream of the run, meanwhile and later: each event with the call that the agent is', async () => {
    const gateway: Gateway = await startGateway(system.embedded.runtime);
    try {
      const client = new Sluice({ url: gateway.url });
      const asked = client.runs.stream({ question: 'Go', group: ['*'], state: 'analysis' });
      const meanwhile: RunEvent[] = [];
      for await (const event of asked) meanwhile.push(event);
      const later: RunEvent[] = [];
      const [begun] = meanwhile;
      if (begun?.type !== 'run') throw new Error('The stream does not begin with its run.');
      for await (const event of client.runs.follow(begun)) later.push(event);
      for (const events of [meanwhile, later]) {
        const ofAgent = events.flatMap((event) => (event.type === 'agent' ? [event] : []));
        const [agent] = ofAgent.map((event) => event.agent);
        const called = events.findIndex((event) => event.type === 'tool_call' && event.tool === research[0]);
        expect(events[called]).toMatchObject({ tool_call_id: agent?.call_id });
        expect(agent).toMatchObject({ name: research[0], caller_run_id: begun.request_id });
        expect(new Set(ofAgent.map((event) => event.agent.run_id))).toEqual(new Set([agent?.run_id]));
        const kept = ofAgent.map(({ event }) => event).filter((event) => !isEarly(event));
        expect(kept).toMatchObject([
          { type: 'iteration', iteration: 1, tools: expect.arrayContaining([ids.text]) },
          { type: 'tool_call', iteration: 1, tool: ids.text },
          { type: 'tool_result', is_error: false, step: { outcome: 'ok' } },
          { type: 'iteration_end', iteration: 1 },
          { type: 'iteration', iteration: 2 },
          { type: 'text', text: 'Ada made it.' },
          { type: 'iteration_end', iteration: 2 },
          { type: 'end', answer: 'Ada made it.', error: null },
        ]);
        // Where the agent works: behind its call, before that has its result.
        const at = events.flatMap(({ type }, index) => (type === 'agent' ? [index] : []));
        const result = events.findIndex(
          (event) => event.type === 'tool_result' && event.tool_call_id === agent?.call_id && !event.is_preliminary,
        );
        expect([called < Number(at[0]), Number(at.at(-1)) < result]).toEqual([true, true]);
      }
    } finally {
      await gateway.close();
    }
  });

  it('in no part of the message that a reader sees who knows no agents', async () => {
    const gateway: Gateway = await startGateway(system.embedded.runtime);
    try {
      const body = { question: 'Go', group: ['*'], state: 'analysis' };
      const chunks = await chunksOf(await post(`${gateway.url}/v1/runs`, body, streamed));
      const { parts } = await messageOf(chunks);
      expect(JSON.stringify(chunks)).toContain('agent-');
      const named = parts.flatMap((part) => (part.type === 'tool-call' ? [part.toolName] : []));
      expect(named).toEqual([calls.analysis[0], research[0]]);
      expect(parts.filter((part) => part.type === 'text')).toHaveLength(1);
      expect(parts.filter((part) => part.type === 'data' && part.name === 'agent')).toEqual([]);
    } finally {
      await gateway.close();
    }
  });
});

describe('the example of docs/agents.md', () => {
  const example = readFileSync(join(projectRoot, 'examples/agents/sluice.yaml'), 'utf8');
  const page = readFileSync(join(projectRoot, 'docs/agents.md'), 'utf8');

  it('is the one in examples/agents', () => {
    const shown = /```yaml\n(tool:[\s\S]*?)```/.exec(page)?.[1] ?? '';
    const bare = example.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    expect(shown.trim().split('\n')).toEqual(bare);
  });

  it('runs with the built-in rules, without any key', async () => {
    const model = await new Models(() => undefined).get({
      ...{ provider: 'rules', name: null, baseUrl: null, apiKeyEnv: null, region: null, maxOutputTokens: 1 },
    });
    const { buildCountries } = (await import(
      pathToFileURL(join(projectRoot, 'examples/countries/build.mjs')).href
    )) as { buildCountries(file: string): Promise<number> };
    const folder = mkdtempSync(join(tmpdir(), 'sluice-countries-'));
    const data = join(folder, 'countries.nt');
    await buildCountries(data);
    const system = await startSystem(example.replace('examples/countries/countries.nt', data), model);
    try {
      const { kind, answer, history } = await system.ask({
        question: 'Which countries border France?',
        group: ['helpers'],
      });
      expect([kind, history.map(({ action, outcome }) => [action, outcome])]).toEqual(['answer', [['research', 'ok']]]);
      expect(answer).toContain('Germany');
      expect(isAgentRunId(history[0]?.agentRun?.requestId ?? '')).toBe(true);
    } finally {
      await system.close();
      rmSync(folder, { recursive: true });
    }
  });
});
