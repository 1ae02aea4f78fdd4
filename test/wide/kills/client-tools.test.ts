import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openCluster, withSecret } from '../../cluster/cluster.js';
import type { Cluster } from '../../cluster/cluster.js';
import { KafkaReader } from '../../cluster/reader.js';
import { post } from '../../gateway/over-http.js';
import { workflowConfiguration } from '../../harness/configurations.js';
import { eventually } from '../../harness/eventually.js';
import type { Program } from '../../harness/program.js';
import { scriptedEndpoint } from '../../harness/scripted-endpoint.js';
import type { ScriptedEndpoint } from '../../harness/scripted-endpoint.js';
import { startTimeout } from '../../infra/client.ts';

interface Message {
  readonly content?: string | null;
  readonly tool_calls?: readonly { readonly id: string }[];
}

const parameters = { type: 'object', properties: { city: { type: 'string' } } };
const tools = [{ type: 'function', function: { name: 'get_weather', parameters } }];
const urlOf = (gateway: Program): string => /"url":"(http:[^"]+)"/.exec(gateway.said())?.[1] ?? '';

describe('kill -9 while a run waits for its client, on Kafka and PostgreSQL', () => {
  let cluster: Cluster;
  let endpoint: ScriptedEndpoint;
  let executors: Program[];
  let gateways: Program[];
  let reader: KafkaReader;

  beforeAll(async () => {
    endpoint = await scriptedEndpoint([['client__get_weather', '{"city":"Bern"}']], 10);
    const more = `agents: { default: { client_tools: [get_weather] } }
model: { provider: openai-compatible, name: scripted, base_url: "${endpoint.baseUrl}" }`;
    cluster = await openCluster(workflowConfiguration({ limits: more }), { SLUICE_DRAIN_SECONDS: '1' });
    const start = (...roles: readonly ('gateway' | 'executor' | 'filter' | 'agent')[]) =>
      Promise.all(roles.map((role) => cluster.start(role)));
    executors = await start('executor', 'executor');
    gateways = await start('gateway', 'gateway');
    await start('filter', 'agent');
    reader = await KafkaReader.open(cluster);
  }, startTimeout);
  afterAll(async () => {
    await reader?.close();
    await cluster?.close();
    await endpoint?.close();
  }, 60_000);

  const send = (gateway: number, messages: readonly object[]) =>
    post(
      `${urlOf(gateways[gateway] as Program)}/openai/v1/chat/completions`,
      { model: 'sluice/default', messages, tools },
      withSecret,
    );
  const said = async (gateway: number, messages: readonly object[]): Promise<Message> => {
    const response = await send(gateway, messages);
    const body = (await response.json()) as { readonly choices?: readonly { readonly message: Message }[] };
    return body.choices?.[0]?.message ?? {};
  };
  const again = async (programs: Program[], at: number, role: 'gateway' | 'executor'): Promise<void> => {
    programs[at]?.process.kill('SIGKILL');
    await programs[at]?.ended;
    programs[at] = await cluster.start(role);
  };
  const asked = (n: number) => [{ role: 'user', content: `Weather ${n}` }];
  const results = (message: Message, content = 'Snow.') =>
    (message.tool_calls ?? []).map(({ id }) => ({ role: 'tool', tool_call_id: id, content }));
  const stepsOf = () => [...reader.steps.values()].flat() as unknown as readonly { readonly observation: string }[];

  it('of every executor and the gateway that was asked: the other one goes on with the results', async () => {
    const message = await said(0, asked(1));
    expect(message.tool_calls).toHaveLength(1);
    await Promise.all([
      again(executors, 0, 'executor'),
      again(executors, 1, 'executor'),
      again(gateways, 0, 'gateway'),
    ]);
    expect((await said(1, [...asked(1), message, ...results(message)])).content).toBe('All is done.');
    // The one that was started again finds the same.
    expect((await said(0, [...asked(1), message, ...results(message)])).content).toBe('All is done.');
    expect((await send(0, [...asked(1), message, ...results(message, 'Sun.')])).status).toBe(409);
    await eventually(stepsOf, (all) => all.length === 1);
  }, 240_000);

  it('of a gateway that has the results: they count once, from whichever gateway they come again', async () => {
    const message = await said(0, asked(2));
    const brought = [...asked(2), message, ...results(message, 'Rain.')];
    const first = said(0, brought).catch(() => ({}) as Message);
    await new Promise((resolve) => setTimeout(resolve, 15));
    await again(gateways, 0, 'gateway');
    await first;
    const answers = await Promise.all([said(0, brought), said(1, brought)]);
    expect(answers.map(({ content }) => content)).toEqual(['All is done.', 'All is done.']);
    await eventually(stepsOf, (all) => all.length === 2);
    expect(stepsOf().filter(({ observation }) => observation === 'Rain.')).toHaveLength(1);
  }, 240_000);
});
