import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { parseExactJson, ToolInputError } from '@sluice/core';
import type { JsonObject, JsonValue, McpServer } from '@sluice/core';
import { z } from 'zod';
import { jsonSchemaInput } from '@sluice/tools';
import { parseInput } from '../../tools/src/binding/input.js';
import { createMcpHub } from '@sluice/hub';
import type { McpHub } from '@sluice/hub';

/**
 * A server without any library, which keeps the very line that it was sent and answers with the very text that it was
 * given.
 */
const source = `
import { createInterface } from 'node:readline';
const results = JSON.parse(process.argv[2]);
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const write = (said) => process.stdout.write('{"jsonrpc":"2.0","id":' + JSON.stringify(id) + ',' + said + '}\\n');
  const say = (result) => write('"result":' + result);
  if (method === 'initialize')
    say(JSON.stringify({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'raw', version: '1' } }));
  else if (method === 'tools/call' && params.name === 'echo')
    say(JSON.stringify({ content: [{ type: 'text', text: 'raw ' + line }] }));
  else if (method === 'tools/call') say(results[params.name]);
  else if (method === 'tools/list') say('{"tools":[]}');
  else write('"error":{"code":-32601,"message":"Method not found"}');
}
`;

const results = {
  text: '{"content":[{"type":"text","text":"[{\\"id\\":725653563933458432},{\\"id\\":725653563933458433}]"}]}',
  structured: '{"content":[{"type":"text","text":"x"}],"structuredContent":{"id":725653563933458433,"rate":1.10}}',
  phone: '{"content":[{"type":"text","text":"41791234567890123456"}]}',
  version: '{"content":[{"type":"text","text":"1.10"}]}',
  embedded:
    '{"content":[{"type":"text","text":"downloaded"},{"type":"resource","resource":{"uri":"repo://README.md","mimeType":"text/plain","text":"# Site"}}]}',
  link: '{"content":[{"type":"resource_link","name":"q3","uri":"reports://q3","description":"Third quarter","mimeType":"application/pdf"}]}',
  binary:
    '{"content":[{"type":"resource","resource":{"uri":"file:///a.bin","mimeType":"application/octet-stream","blob":"AAECAw=="}},{"type":"audio","data":"AAEC","mimeType":"audio/wav"}]}',
};

const folder = mkdtempSync(join(tmpdir(), 'exact-'));
const script = join(folder, 'raw.mjs');
writeFileSync(script, source);
const open: (() => Promise<void> | void)[] = [() => rmSync(folder, { recursive: true })];
afterAll(async () => {
  for (const close of open.reverse()) await close();
});

function hubOf(server: Partial<McpServer>): McpHub {
  const hub = createMcpHub([{ id: 'raw', command: null, args: [], env: [], url: null, startMs: 10_000, ...server }], {
    environment: () => ({ PATH: process.env['PATH'] ?? '' }),
    onChange: () => undefined,
  });
  open.push(() => hub.close());
  return hub;
}

const overStdio = hubOf({ command: process.execPath, args: [script, JSON.stringify(results)] });

function call(hub: McpHub, tool: string, args: JsonObject = {}): Promise<JsonValue> {
  const options = { signal: new AbortController().signal, timeoutMs: 10_000, idempotencyKey: 'k', pin: null };
  return hub.call('raw', tool, args, options);
}

describe('numbers on their way to an MCP server and back', () => {
  it.each([
    '{"id":725653563933458433}',
    '{"a":[1.0,1e2,-0,0.10000000000000000555],"b":{"c":123456789012345678901234567890}}',
    '{"code":"007","big":"725653563933458433","n":7}',
  ])('%s arrives as it was written', async (text) => {
    const said = String(await call(overStdio, 'echo', parseExactJson(text) as JsonObject));
    expect(said).toContain(`"arguments":${text}`);
  });

  it.each([
    ['text', '[{"id":725653563933458432},{"id":725653563933458433}]'],
    ['structured', '{"id":725653563933458433,"rate":1.10}'],
    ['phone', '41791234567890123456'],
    ['version', '1.10'],
  ])('a result (%s) is passed on as the server wrote it', async (tool, expected) => {
    expect(JSON.stringify(await call(overStdio, tool))).toBe(expected);
  });

  it.each([
    ['whole', (event: string) => [event]],
    ['byte by byte', (event: string) => [...Buffer.from(event)].map((byte) => Buffer.from([byte]))],
    ['with the line ends of Windows', (event: string) => [event.replaceAll('\n', '\r\n')]],
    ['over several lines', (event: string) => [event.replace(',"result"', '\ndata: ,"result"')]],
    [
      'behind other events',
      (event: string) => [': ping\n\nevent: other\ndata: {"id":1}\n\ndata: no JSON 1.0\n\n', event],
    ],
  ])('come over a stream of events as the server wrote them: %s', async (_, written) => {
    const exact = '{"id":725653563933458433,"text":"é","rate":1.10}';
    const http = await eventServer(
      () => `{"content":[{"type":"text","text":"found"}],"structuredContent":${exact}}`,
      written,
    );
    const hub = hubOf({ url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp` });
    expect(JSON.stringify(await call(hub, 'find'))).toBe(exact);
    const both = await Promise.all([call(hub, 'find'), call(hub, 'find')]);
    expect(both.map((one) => JSON.stringify(one))).toEqual([exact, exact]);
  });
});

describe('content that is not plain text', () => {
  it('has the text of embedded resources, and where links lead', async () => {
    expect(await call(overStdio, 'embedded')).toEqual([
      { type: 'text', text: 'downloaded' },
      { type: 'resource', uri: 'repo://README.md', mimeType: 'text/plain', text: '# Site' },
    ]);
    expect(await call(overStdio, 'link')).toEqual([
      {
        type: 'resource_link',
        name: 'q3',
        uri: 'reports://q3',
        description: 'Third quarter',
        mimeType: 'application/pdf',
      },
    ]);
  });

  it('has the kind, type and size of binary content, and not the content', async () => {
    expect(await call(overStdio, 'binary')).toEqual([
      { type: 'resource', uri: 'file:///a.bin', mimeType: 'application/octet-stream', bytes: 4 },
      { type: 'audio', mimeType: 'audio/wav', bytes: 3 },
    ]);
  });
});

describe('arguments that are checked', () => {
  it('against a server’s schema are passed on as they were written, and no default is filled in', () => {
    const project = { type: 'string' };
    for (const property of [
      { type: 'string', default: null },
      { type: 'integer', default: '20' },
      { type: 'string', enum: ['asc', 'desc'], default: '' },
      { type: 'integer', minimum: 1, default: 0 },
    ]) {
      const check = jsonSchemaInput({ type: 'object', properties: { project, more: property } as JsonObject });
      expect(check({ project: 'alpha' })).toEqual({ project: 'alpha' });
    }
    const exact = parseExactJson('{"id":725653563933458433}');
    expect(jsonSchemaInput({ type: 'object', properties: { id: { type: 'integer' } } })(exact)).toBe(exact);
  });

  it('against a server’s schema are refused where a number is none at all', () => {
    const check = jsonSchemaInput({ type: 'object', properties: { id: { type: 'integer' } } });
    expect(() => check(parseExactJson('{"id":1e400}'))).toThrow(ToolInputError);
    expect(() => check(parseExactJson('{"id":"7"}'))).toThrow(ToolInputError);
  });

  it('for code are refused where a number has more digits than code can hold, and say what to do', () => {
    const schema = z.object({ id: z.union([z.number(), z.string()]), rate: z.number().optional() });
    expect(() => parseInput(schema, parseExactJson('{"id":725653563933458433}'))).toThrow(
      expect.objectContaining({
        problems: [{ path: '/id', message: expect.stringContaining('write the number in quotes') }],
      }),
    );
    expect(parseInput(schema, parseExactJson('{"id":"725653563933458433","rate":1.10}'))).toEqual({
      id: '725653563933458433',
      rate: 1.1,
    });
  });
});

/** Streamable HTTP that answers each request with one event, written in pieces. */
async function eventServer(
  resultOf: (tool: string) => string,
  written: (event: string) => readonly (string | Buffer)[],
): Promise<Server> {
  const server = createServer((request, response) => {
    void (async () => {
      let body = '';
      for await (const chunk of request) body += String(chunk);
      const { id, method, params } = JSON.parse(body || '{}') as {
        id?: number | string;
        method?: string;
        params?: { name: string; protocolVersion: string };
      };
      if (id === undefined) return void response.writeHead(request.method === 'POST' ? 202 : 405).end();
      const initialized = {
        protocolVersion: params?.protocolVersion,
        capabilities: {},
        serverInfo: { name: 'e', version: '1' },
      };
      const said =
        method === 'initialize'
          ? `"result":${JSON.stringify(initialized)}`
          : method === 'tools/call'
            ? `"result":${resultOf(params?.name ?? '')}`
            : '"error":{"code":-32601,"message":"Method not found"}';
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const piece of written(`event: message\ndata: {"jsonrpc":"2.0","id":${JSON.stringify(id)},${said}}\n\n`))
        response.write(piece);
      response.end();
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return server;
}
