import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { workflowConfiguration } from '../harness/configurations.js';
import { sluice } from '../harness/program.js';
import type { Program } from '../harness/program.js';
import { scriptedEndpoint } from '../harness/scripted-endpoint.js';
import type { ScriptedEndpoint } from '../harness/scripted-endpoint.js';
import { post } from '../gateway/over-http.js';

interface Message {
  readonly content?: string | null;
  readonly tool_calls?: readonly { readonly id: string }[];
}

const parameters = { type: 'object', properties: { city: { type: 'string' } } };
const tools = [{ type: 'function', function: { name: 'get_weather', parameters } }];

describe('kill -9 of all services while a run waits for its client', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-client-kill-'));
  let endpoint: ScriptedEndpoint;
  let started: Program;
  let url = '';
  const start = async (): Promise<void> => {
    started = sluice(['start'], {
      ...{ SLUICE_DATA: join(folder, 'data'), SLUICE_CONFIG: join(folder, 'sluice.yaml'), SLUICE_HTTP_PORT: '0' },
    });
    await started.says('/v1/runs');
    url = /(http:\/\/[\w.:]+)\/v1\/runs/.exec(started.said())?.[1] ?? '';
  };
  beforeAll(async () => {
    endpoint = await scriptedEndpoint([['client__get_weather', '{"city":"Bern"}']], 10);
    const more = `agents: { default: { client_tools: [get_weather] } }
model: { provider: openai-compatible, name: scripted, base_url: "${endpoint.baseUrl}" }`;
    writeFileSync(join(folder, 'sluice.yaml'), workflowConfiguration({ limits: more }));
    await start();
  });
  afterAll(async () => {
    started.process.kill('SIGKILL');
    await started.ended;
    await endpoint.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('goes on with the results after a start, and gives the same results the same answer', async () => {
    const send = (messages: readonly object[]) =>
      post(`${url}/openai/v1/chat/completions`, { model: 'sluice/default', messages, tools });
    const said = async (messages: readonly object[]): Promise<Message> => {
      const response = await send(messages);
      const body = (await response.json()) as { readonly choices: readonly { readonly message: Message }[] };
      return body.choices[0]?.message ?? {};
    };
    const asked = [{ role: 'user', content: 'Weather' }];
    const message = await said(asked);
    expect(message.tool_calls).toHaveLength(1);
    started.process.kill('SIGKILL');
    await started.ended;
    await start();
    const results = (content: string) =>
      (message.tool_calls ?? []).map(({ id }) => ({ role: 'tool', tool_call_id: id, content }));
    const answers = await Promise.all([1, 2].map(() => said([...asked, message, ...results('Snow.')])));
    expect(answers.map(({ content }) => content)).toEqual(['All is done.', 'All is done.']);
    started.process.kill('SIGKILL');
    await started.ended;
    await start();
    expect((await said([...asked, message, ...results('Snow.')])).content).toBe('All is done.');
    expect((await send([...asked, message, ...results('Sun.')])).status).toBe(409);
  });
});
