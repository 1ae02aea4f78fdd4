import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { ModelSettings } from '@sluice/core';
import { createModel } from '@sluice/model';
import { startGateway } from '../apps/gateway/src/gateway.module.js';
import { Sluice } from '../packages/client/src/client.js';
import { events } from './harness/scripted-endpoint.js';
import type { ScriptedCall } from './harness/scripted-endpoint.js';
import { projectRoot } from './harness/configurations.js';
import { startSystem } from './harness/system.js';
import type { TestSystem } from './harness/system.js';
import { authorizerOf, replayed, undecodable } from './replay/replaying.js';
import { caughtUp } from './audit/auditing.js';
import { everything, whatIf } from '@sluice/replay';

const server = join(projectRoot, 'libs/hub/test/mcp-servers/pictures.mjs');
const tools = ['photo', 'mislabelled', 'leaflet'];

interface Part {
  readonly type: string;
  readonly text?: string;
  readonly image_url?: { readonly url: string };
}

interface Sent {
  readonly role: string;
  readonly content: string | readonly Part[] | null;
}

/** A model server that keeps what it is sent, and makes the calls that its script has for the question. */
async function startModelServer() {
  const bodies: string[] = [];
  const scripts = new Map<string, (turn: number) => ScriptedCall | undefined | Promise<undefined>>();
  const http = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      bodies.push(body);
      const { messages } = JSON.parse(body) as { readonly messages: readonly Sent[] };
      const question = textsOf(messages.find(({ role }) => role === 'user'))[0] ?? '';
      const turn = messages.filter(({ role }) => role === 'tool').length;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      void Promise.resolve(scripts.get(question)?.(turn)).then((call) => response.end(events(call, turn)));
    });
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return {
    bodies,
    scripts,
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/v1`,
    close: () => http.close(),
  };
}

function textsOf(message: Sent | undefined): readonly string[] {
  const content = message?.content ?? '';
  return typeof content === 'string' ? [content] : content.flatMap(({ text }) => text ?? []);
}

const configuration = (url: string, name: string) => `
tool:
${tools.map((tool) => `  ${tool}: { type: mcp-tool, group: [g] }`).join('\n')}
  look: { type: agent, description: Looks at things, group: [g], agent: { group: [g] } }
mcp:
  servers: { pictures: { command: node, args: ["${server}"] } }
  tools:
${tools.map((tool) => `    ${tool}: { server: pictures, tool: ${tool}, effect: read_only, redaction: whole }`).join('\n')}
model: { provider: openai-compatible, name: ${name}, base_url: "${url}" }
policy:
  allowed_tools: [${tools.join(', ')}, look]
  allowed_agents: [look]
`;

describe('a model that takes images', () => {
  let system: TestSystem;
  let model: Awaited<ReturnType<typeof startModelServer>>;
  let photo: string;
  beforeAll(async () => {
    model = await startModelServer();
    const settings: ModelSettings = {
      ...{ provider: 'openai-compatible', name: 'gpt-4o', baseUrl: model.url },
      ...{ apiKeyEnv: null, region: null, maxOutputTokens: 100 },
    };
    system = await startSystem(
      configuration(model.url, 'gpt-4o'),
      await createModel(settings, { secret: () => undefined }),
    );
    const direct = new Client({ name: 'test', version: '1' });
    await direct.connect(new StdioClientTransport({ command: process.execPath, args: [server] }));
    const { content } = await direct.callTool({ name: 'photo', arguments: { grey: 90 } });
    photo = (content as readonly { readonly data?: string }[])[1]?.data ?? '';
    await direct.close();
  });
  afterAll(async () => {
    await system.close();
    model.close();
  });

  const run = async (question: string, calls: readonly ScriptedCall[], more = {}) => {
    model.scripts.set(question, (turn) => calls[turn]);
    model.bodies.length = 0;
    const { answer } = await system.ask({ question, group: ['*'], ...more });
    expect(answer).toBe('All is done.');
    return model.bodies.map((body) => (JSON.parse(body) as { readonly messages: readonly Sent[] }).messages);
  };
  const shot = ['mcp__pictures__photo', '{"grey":90}'] as const;

  it('is sent the picture that an MCP server gave, with its bytes, in every later turn', async () => {
    const [, second, third] = await run('What is there?', [shot, ['mcp__pictures__photo', '{"grey":10}']]);
    const url = `data:image/png;base64,${photo}`;
    expect(second?.slice(-2)).toEqual([
      { role: 'tool', tool_call_id: 'call-0', content: expect.stringContaining('"mimeType":"image/png"') },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'From the result of mcp__pictures__photo (call-0):' },
          { type: 'image_url', image_url: { url } },
        ],
      },
    ]);
    // The beginning of the conversation is what it was, which the provider has in its cache.
    expect(third?.slice(0, second?.length)).toEqual(second);
    expect(JSON.stringify(third?.at(-1))).toContain('data:image/png;base64,');
    expect(JSON.stringify(third?.at(-1))).not.toContain(photo);
    const [record] = (await system.all('agent.responses')).slice(-1);
    expect(record?.record.history[0]?.content).toMatchObject([{ kind: 'image', type: 'image/png' }]);
    expect(JSON.stringify(record)).not.toContain(photo.slice(0, 60));
  });

  it('is sent an image by what its bytes are, and a line for what is none', async () => {
    const [, second] = await run('And labels?', [['mcp__pictures__mislabelled', '{}']]);
    const text = JSON.stringify(second);
    expect(text).toContain('data:image/png;base64,');
    expect(text).not.toContain('data:image/jpeg');
    expect(text).toContain('[image, image/png, 17 bytes; not shown: it is no PNG, JPEG, GIF or WebP]');
  });

  it('is sent the text of a PDF, where its wire takes none', async () => {
    const [, second] = await run('When?', [['mcp__pictures__leaflet', '{}']]);
    expect(textsOf(second?.at(-1))[0]).toMatch(
      /^\{"pages":1\}\n\n\[file:\/\/\/l\.pdf: resource, application\/pdf, \d+ bytes\]\n[^]*Doors open at nine/,
    );
  });

  it('of an agent is sent the picture that the agent asked for, and the agent’s caller its answer', async () => {
    model.scripts.set('Look!', (turn) => (turn === 0 ? shot : undefined));
    const bodies = await run('Ask it', [['core__look', '{"question":"Look!"}']]);
    const withPhoto = bodies.filter((messages) => JSON.stringify(messages).includes(photo));
    expect(withPhoto.map((messages) => textsOf(messages.find(({ role }) => role === 'user'))[0])).toEqual(['Look!']);
  });

  it('is sent the images of a question, and an agent that the run asks is sent them as its own', async () => {
    const { content } = system.embedded.runtime;
    const owner = { tenantId: 'local', runId: 'with-image' };
    const name = await content.put(owner, 'image/png', Buffer.from(photo, 'base64'), null);
    const named = [{ ...name, kind: 'image', name: 'door.png' }];
    model.scripts.set('See', () => undefined);
    const [first, ofAgent] = await run('Which door?', [['core__look', '{"question":"See"}']], {
      requestId: 'with-image',
      content: named,
    });
    const shown = [
      { type: 'text', text: expect.stringMatching(/^\[door\.png: image, image\/png, \d+ bytes\]$/) },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${photo}` } },
    ];
    expect(first?.at(-1)?.content).toEqual([{ type: 'text', text: 'Which door?' }, ...shown]);
    expect(ofAgent?.at(-1)?.content).toEqual([{ type: 'text', text: 'See' }, ...shown]);
  });

  it('is sent what was uploaded over HTTP, and the text of what came along', async () => {
    const gateway = await startGateway(system.embedded.runtime);
    try {
      model.scripts.set('Whose door?', () => undefined);
      model.bodies.length = 0;
      const client = new Sluice({ url: gateway.url });
      const { content } = await client.runs.upload(Buffer.from(photo, 'base64'), { name: 'door.png' });
      const notes = { data: Buffer.from('It is Ann’s.').toString('base64'), name: 'notes.md' };
      await client.runs.ask({ question: 'Whose door?', group: [], content: [content, notes] });
      const [body = ''] = model.bodies;
      expect(body).toContain(`data:image/png;base64,${photo}`);
      expect(body).toContain('notes.md: file, text/markdown');
      expect(body).toContain('It is Ann’s.');
    } finally {
      await gateway.close();
    }
  });

  it('reads that content is gone, and the log is replayed without it', async () => {
    const folder = join(system.embedded.runtime.environment.dataFolder, 'content', 'runs');
    model.scripts.set('Gone?', async () => void (await rm(folder, { recursive: true })));
    const calls = [shot, ['core__look', '{"question":"Gone?"}']] as const;
    const bodies = await run('What was there?', calls);
    expect(JSON.stringify(bodies[1])).toContain(photo);
    const last = JSON.stringify(bodies.at(-1));
    expect(last).not.toContain(photo);
    expect(last).toMatch(/\[image, image\/png, \d+ bytes; content gone: it is no longer kept\]/);
    const found = await replayed(system.bus, null);
    expect(found.length).toBeGreaterThan(20);
    expect(found.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
    const { configurations, signatures } = system.embedded.runtime;
    const candidate = configurations.current().evaluator;
    const options = { selection: everything, authorizerOf, verifier: signatures, signal: new AbortController().signal };
    for await (const one of whatIf(system.bus, { ...options, candidate, onUndecodable: undecodable }))
      expect(one).toMatchObject({ changes: [], notReplayable: null });
    expect((await caughtUp(system.bus, signatures)).findings).toEqual([]);
    const entries = (await system.all('agent.audit')).filter(({ record }) => record.kind === 'tool_call');
    const details = entries.map(({ record }) => JSON.parse(record.details) as { readonly content?: readonly object[] });
    expect(details.flatMap(({ content }) => content ?? [])).toContainEqual(
      expect.objectContaining({ kind: 'image', type: 'image/png', hash: expect.stringMatching(/^[0-9a-f]{64}$/) }),
    );
  });
});
