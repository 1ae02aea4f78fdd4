import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { audience, issuer, newIssuer } from '../../libs/identity/test/issuer.js';
import { workflowConfiguration } from '../harness/configurations.js';
import { eventually } from '../harness/eventually.js';
import { inOrder, ScriptedModel, startSystem } from '../harness/system.js';
import type { Said, TestSystem } from '../harness/system.js';
import { replayed } from '../replay/replaying.js';
import { post } from '../gateway/over-http.js';

type Json = Readonly<Record<string, unknown>>;
type Headers = Readonly<Record<string, string>>;
interface Message {
  readonly role: string;
  readonly content?: string | null;
  readonly tool_calls?: readonly { readonly id: string }[];
}

const call = (args: object, name = 'get_weather') => [`client__${name}`, JSON.stringify(args)] as const;
const scripts: Readonly<Record<string, readonly Said[]>> = {
  Weather: [{ calls: [call({ city: 'Bern' })] }, { answer: 'It snows.' }],
  Wrong: [{ calls: [call({ town: 'Bern' }), call({ city: 'Rome' }), call({ city: 'Bern' })] }, { answer: 'Done.' }],
  Unknown: [{ calls: [call({ city: 'Bern' }, 'get_time')] }, { answer: 'Done.' }],
};
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const tools = [{ type: 'function', function: { name: 'get_weather', description: 'Says it.', parameters } }];

describe('calls of tools of the client', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-client-tools-'));
  let system: TestSystem;
  let gateway: Gateway;
  let ann: Headers;
  let others: readonly Headers[];
  beforeAll(async () => {
    const honest = await newIssuer();
    const keyFile = join(folder, 'issuer.json');
    writeFileSync(keyFile, JSON.stringify(honest.jwks));
    const as = async (sub: string, claims: object = {}) => ({
      authorization: `Bearer ${await honest.token({ sub, tool_groups: ['read-only'], ...claims })}`,
    });
    ann = await as('ann');
    others = [await as('bob'), await as('ann', { tenant: 'other' })];
    const more = `identity: { provider: jwt, key_file: "${keyFile}", issuer: "${issuer}", audience: ${audience} }
agents:
  default: { client_tools: [get_weather], arguments: { client__get_weather: { city: { one_of: [Bern] } } } }
  hurried: { client_tools: [get_weather], parked_seconds: 1 }
`;
    const model = new ScriptedModel((request) => inOrder(...(scripts[request.question] ?? []))(request));
    system = await startSystem(workflowConfiguration({ limits: more }), model);
    gateway = await startGateway(system.embedded.runtime);
  });
  afterAll(async () => {
    await gateway.close();
    await system.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const send = (messages: readonly object[], who: Headers, agent = 'default') =>
    post(`${gateway.url}/openai/v1/chat/completions`, { model: `sluice/${agent}`, messages, tools }, who);
  const ask = async (question: string, agent?: string) => {
    const asked = [{ role: 'user', content: question }];
    const response = await send(asked, ann, agent);
    const { choices } = (await response.json()) as { readonly choices: readonly { readonly message: Message }[] };
    const message = choices[0]?.message as Message;
    const calls = message.tool_calls ?? [];
    const results = calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'Snow.' }));
    return { run: response.headers.get('x-sluice-run') ?? '', calls, after: [...asked, message, ...results] };
  };
  const stepsOf = async (run: string) =>
    (await system.responseOf(run)).history.map(({ outcome, reason }) => [outcome, reason]);

  it('are known to their caller alone', async () => {
    const { after, run } = await ask('Weather');
    for (const who of others) expect((await send(after, who)).status).toBe(404);
    const answer = (await (await send(after, ann)).json()) as { choices: readonly { message: Message }[] };
    expect(answer.choices[0]?.message.content).toBe('It snows.');
    expect(await stepsOf(run)).toEqual([['ok', null]]);
  });

  it('are held to their schema, to the bounds of the agent’s entry and to what was offered', async () => {
    const { after, run, calls } = await ask('Wrong');
    expect(calls).toHaveLength(1);
    expect((await send(after, ann)).status).toBe(200);
    expect(await stepsOf(run)).toEqual([
      ['validation', null],
      ['policy_denied', 'arguments_out_of_bounds'],
      ['ok', null],
    ]);
    const unknown = await ask('Unknown');
    expect(unknown.calls).toEqual([]);
    expect((await stepsOf(unknown.run))[0]?.[0]).not.toBe('ok');
  });

  it('end with the run that is cancelled while they wait', async () => {
    const { after, run } = await ask('Weather');
    const cancel = await post(`${gateway.url}/v1/runs/${run}/cancel`, {}, ann);
    expect(cancel.status).toBeLessThan(300);
    expect((await system.responseOf(run)).error?.code).toBe('cancelled');
    expect((await send(after, ann)).status).toBeGreaterThanOrEqual(400);
  });

  it('wait no longer than their agent says, and results that come later are refused', async () => {
    const { after, run } = await ask('Weather', 'hurried');
    expect(await stepsOf(run)).toEqual([['execution', 'outcome_unknown']]);
    const late = await send(after, ann, 'hurried');
    expect([late.status, ((await late.json()) as { error: Json }).error['code']]).toEqual([409, 'conflict']);
  });

  it('are decided again as they were, and audited', async () => {
    const found = await replayed(system.bus, null);
    expect(found.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
    const audited = await eventually(
      async () => (await system.all('agent.audit')).map(({ record }) => record),
      (all) => all.some(({ kind, details }) => kind === 'tool_call' && details.includes('client__get_weather')),
    );
    expect(audited.some(({ kind }) => kind === 'approval_requested')).toBe(true);
    expect(await system.metric('sluice_tool_calls_total', { tool: 'client', source: 'client', outcome: 'ok' })).toBe(2);
  });
});
