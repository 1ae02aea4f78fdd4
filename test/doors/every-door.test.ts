import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AgentResponse } from '@sluice/contracts';
import { readLocalSecret } from '@sluice/host';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { short } from '../harness/approving.js';
import { eventually } from '../harness/eventually.js';
import { inOrder, ScriptedModel, startSystem } from '../harness/system.js';
import type { Said, TestSystem } from '../harness/system.js';
import { post } from '../gateway/over-http.js';
import { replayed } from '../replay/replaying.js';

const configuration = `
tool:
  now: { type: get_current_time, group: [default] }
  list: { type: list_files, group: [default] }
policy:
  allowed_tools: [now, list]
  budgets: { calls_per_run: 2, tools: { now: { calls_per_run: 1 }, list: { calls_per_minute: 3 } } }
limits: { max_iterations: 2 }
rules: { utc: { tools: [now], arguments: { timezone: { const: UTC } } } }
agents: { support: { instructions: Help them., budgets: { tokens_per_run: 100000 } } }
`;
const now = (timezone: string) => ['core__now', JSON.stringify({ timezone })] as const;
const list = ['core__list', '{}'] as const;
/** Turns by the question. */
const script: Readonly<Record<string, readonly Said[]>> = {
  Fine: [{ calls: [now('UTC')] }, { answer: 'It is noon.' }],
  Budget: [{ calls: [now('UTC'), now('UTC')] }, { answer: 'Once.' }],
  Bounds: [{ calls: [now('Asia/Tokyo')] }, { answer: 'Not there.' }],
  Endless: [{ calls: [now('UTC')] }, { calls: [now('UTC')] }, { answer: 'Too late.' }],
  Rate: [{ calls: [list] }, { answer: 'Listed.' }],
};

/** The doors by the name that metrics have for them; each gives the id of the run that a question began. */
const doors = ['kafka', 'http', 'openai-chat', 'openai-responses', 'anthropic'] as const;
type Door = (typeof doors)[number];

describe('a run by every door', () => {
  let system: TestSystem;
  let gateway: Gateway;
  let count = 0;

  beforeAll(async () => {
    const model = new ScriptedModel((request) =>
      request.question === 'Wait'
        ? new Promise<never>(() => undefined)
        : inOrder(...(script[request.question] ?? []))(request),
    );
    const turn = model.turn.bind(model);
    model.turn = (request, ...rest: unknown[]) => {
      const { signal } = rest[0] as { signal: AbortSignal };
      const broken = new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
      return Promise.race([turn(request), broken]);
    };
    system = await startSystem(configuration, model);
    gateway = await startGateway(system.embedded.runtime);
  });
  afterAll(async () => {
    await gateway.close();
    await system.close();
  });

  const secret = () => ({ authorization: `Bearer ${readLocalSecret(system.embedded.runtime.environment)}` });
  const key = () => `key-${count++}`;
  const messages = (content: string) => [{ role: 'user', content }];

  /** Asks and gives what the client is answered, with the id of its run. */
  async function ask(door: Door, question: string): Promise<{ readonly id: string; readonly answer: Promise<number> }> {
    const model = 'sluice/support';
    const ofDoor = {
      'openai-chat': ['openai/v1/chat/completions', { model, messages: messages(question) }],
      'openai-responses': ['openai/v1/responses', { model, input: question }],
      anthropic: ['anthropic/v1/messages', { model, max_tokens: 99, messages: messages(question) }],
    } as const;
    const before = new Set((await system.all('agent.requests')).map(({ offset }) => offset));
    const answer =
      door === 'kafka'
        ? system.ask({ question, agent: 'support', group: ['*'], requestId: key() }).then(() => 200)
        : door === 'http'
          ? post(`${gateway.url}/v1/runs`, { question, agent: 'support', group: ['*'] }, { prefer: 'wait=30' }).then(
              ({ status }) => status,
            )
          : post(`${gateway.url}/${ofDoor[door][0]}`, ofDoor[door][1]).then(({ status }) => status);
    const [request] = await eventually(
      async () => (await system.all('agent.requests')).filter(({ offset }) => !before.has(offset)),
      (found) => found.length === 1,
    );
    return { id: request?.record.requestId ?? '', answer };
  }

  const seen = ({ history, error, iterations, run }: AgentResponse): object => ({
    ...{ steps: short(history), error: error?.code ?? null, iterations, rules: history.map(({ rule }) => rule) },
    ...{ tokens: [run?.inputTokens, run?.outputTokens], calls: run?.toolCalls, groups: run?.requestedGroups },
  });

  it.each(['Fine', 'Budget', 'Bounds', 'Endless'])('has the same budgets, limits and bounds: %s', async (question) => {
    const ends: Partial<Record<Door, object>> = {};
    for (const door of doors) {
      const { id, answer } = await ask(door, question);
      ends[door] = seen(await system.responseOf(id));
      const isWire = door !== 'kafka' && door !== 'http';
      expect([door, await answer]).toEqual([door, isWire && question === 'Endless' ? 422 : 200]);
    }
    const { kafka, ...others } = ends;
    expect(others).toEqual(Object.fromEntries(Object.keys(others).map((door) => [door, kafka])));
    const steps = {
      Fine: [['now', 'ok', null, 'undefined']],
      Budget: [['now', 'ok', null, 'undefined'], ['now', 'policy_denied', 'budget_used', 'undefined']],
      Bounds: [['now', 'policy_denied', 'arguments_out_of_bounds', 'undefined']],
      Endless: [['now', 'ok', null, 'undefined'], ['now', 'policy_denied', 'budget_used', 'undefined']],
    }[question]; // prettier-ignore
    expect(kafka).toMatchObject({ steps, error: question === 'Endless' ? 'max_iterations' : null });
  });

  it('counts against one rate, whatever door it came by', async () => {
    const outcomes: unknown[] = [];
    for (const door of doors) {
      const { id, answer } = await ask(door, 'Rate');
      outcomes.push((await system.responseOf(id)).history.map(({ reason }) => reason));
      await answer;
    }
    expect(outcomes).toEqual([[null], [null], [null], ['rate_limited'], ['rate_limited']]);
  });

  it('is cancelled in the same way', async () => {
    for (const door of doors) {
      const { id, answer } = await ask(door, 'Wait');
      await eventually(
        () => system.all('agent.toolsets'),
        (found) => found.some(({ record }) => record.requestId === id),
      );
      expect((await post(`${gateway.url}/v1/cancellations`, { request_id: id }, secret())).status).toBe(200);
      const { error } = await system.responseOf(id);
      expect([door, error?.code]).toEqual([door, 'cancelled']);
      expect([door, await answer]).toEqual([door, door === 'kafka' || door === 'http' ? 200 : 409]);
    }
  });

  it('is counted by its door and agent, audited with the same entries, and replayed', async () => {
    for (const door of doors)
      expect([door, await system.metric('sluice_runs_begun_total', { door, agent: 'support' })]).toEqual([door, 6]);
    const byDoor = new Map<string, Set<string>>();
    const requests = await system.all('agent.requests');
    const entries = await eventually(
      () => system.all('agent.audit'),
      (found) => found.filter(({ record }) => record.kind === 'run_ended').length === requests.length,
    );
    const doorOf = new Map(
      requests.map(({ record, headers }) => [
        record.requestId,
        headers['sluice-door'] ?? headers['sluice-channel'] ?? 'kafka',
      ]),
    );
    for (const { record } of entries) {
      const door = doorOf.get(record.requestId ?? '');
      if (door !== undefined) byDoor.set(door, (byDoor.get(door) ?? new Set()).add(record.kind));
    }
    expect([...byDoor.keys()].sort()).toEqual([...doors].sort());
    const [first, ...others] = [...byDoor.values()].map((kinds) => [...kinds].sort());
    for (const other of others) expect(other).toEqual(first);
    const found = await replayed(system.bus, null);
    expect(found.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
    expect(new Set(found.map(({ requestId }) => requestId)).size).toBe(requests.length);
  });
});
