import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import { Sluice } from '../../packages/client/src/client.js';
import { command } from '../harness/command.js';
import { localHeaders } from '../harness/local-headers.js';
import { projectRoot } from '../harness/configurations.js';
import { replayed } from '../replay/replaying.js';
import { newClient, oldClient, startMcpSystem } from './with-mcp.js';
import type { McpSystem } from './with-mcp.js';

const server = join(projectRoot, 'libs/hub/test/mcp-servers/rich.mjs');
const tools = ['mixed', 'pictures', 'pretty', 'structured', 'plain', 'long'];
const configuration = `
tool:
${tools.map((name) => `  ${name}: { type: mcp-tool, group: [g] }`).join('\n')}
${['counted', 'seen', 'titled', 'listed'].map((name) => `  ${name}: { type: mcp-tool, group: [g] }`).join('\n')}
mcp:
  servers:
    rich: { command: node, args: ["${server}"] }
    other: { command: node, args: ["${server}"] }
  tools:
${tools.map((name) => `    ${name}: { server: rich, tool: ${name}, effect: read_only, redaction: whole }`).join('\n')}
    counted: { server: rich, tool: counted, effect: read_only, redaction: [count] }
    seen: { server: other, tool: mixed, effect: read_only, redaction: whole, content: [text, resource] }
    titled: { server: rich, tool: drawn, effect: read_only, redaction: [title], content: [image] }
    listed: { server: rich, tool: rows, effect: read_only, redaction: [rows] }
policy:
  allowed_tools: [${tools.join(', ')}, counted, seen, titled, listed]
`;

interface Answer {
  readonly content: readonly unknown[];
  readonly structuredContent?: unknown;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

describe('what an MCP server answers', () => {
  let system: McpSystem;
  let direct: Client;
  beforeAll(async () => {
    system = await startMcpSystem(configuration);
    direct = new Client({ name: 'test', version: '1' });
    await direct.connect(new StdioClientTransport({ command: process.execPath, args: [server] }));
  });
  afterAll(async () => {
    await direct.close();
    await system.close();
  });

  const call = async (name: string, era: string, from = 'rich'): Promise<Answer> => {
    const client = await (era === '2026-07-28' ? newClient : oldClient)(system.mcp.url);
    const answer = (await client.callTool({ name: `${from}___${name}`, arguments: {} })) as unknown as Answer;
    await client.close();
    return answer;
  };
  const stepOf = async ({ _meta }: Answer) => {
    const steps = await system.all('agent.steps');
    return steps.find(({ record }) => record.requestId === _meta?.['sluice/request_id'])?.record.steps[0];
  };

  it.each(['2025-11-25', '2026-07-28'].flatMap((era) => tools.map((tool) => [tool, era] as const)))(
    'reaches a client as it was: %s, in the era of %s',
    async (tool, era) => {
      const expected = (await direct.callTool({ name: tool, arguments: {} })) as unknown as Answer;
      const answer = await call(tool, era);
      expect(answer.content).toEqual(expected.content);
      expect(answer.structuredContent).toEqual(expected.structuredContent);
      expect(answer._meta).toMatchObject(expected._meta ?? {});
    },
  );

  it('stands in the content store, and its step names it by hash, type and size', async () => {
    const step = await stepOf(await call('mixed', '2026-07-28'));
    expect(
      step?.content.map(({ kind, type, size, name }) => [kind, type, kind === 'result' ? null : size, name]),
    ).toEqual([
      ['result', 'application/json', null, null],
      ['image', 'image/png', 200_000, null],
      ['audio', 'audio/wav', 5_000, null],
      ['resource', 'application/zip', 3_000, 'file:///a.bin'],
      ['image', 'image/gif', 3, null],
    ]);
    expect(step?.observation).toContain('"mimeType":"image/png"');
    const responses = await system.all('agent.responses');
    const inHistories = responses.flatMap(({ record }) => record.history.flatMap(({ content }) => content));
    expect(new Set(inHistories.map(({ kind }) => kind))).toEqual(new Set(['image', 'audio', 'resource']));
    const found = await replayed(system.bus, null);
    expect(found.length).toBeGreaterThan(4);
    expect(found.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
  });

  it('has at most five blocks of its own in the store; the others stay in the answer', async () => {
    const step = await stepOf(await call('pictures', '2026-07-28'));
    expect(step?.content.map(({ kind }) => kind)).toEqual(['result', ...Array<string>(5).fill('image')]);
  });

  it('is not kept where a text says all of it, or where a redaction names fields', async () => {
    expect((await stepOf(await call('plain', '2026-07-28')))?.content).toEqual([]);
    const answer = await call('counted', '2026-07-28');
    expect(answer.structuredContent).toEqual({ count: 2 });
    expect(JSON.stringify(answer)).not.toContain('Two of them');
    expect((await stepOf(answer))?.content).toEqual([]);
  });

  it('has only the kinds of blocks that its entry names, and says how many others there were', async () => {
    const answer = await call('mixed', '2026-07-28', 'other');
    expect(answer.content.map((block) => (block as { type: string }).type)).toEqual([
      ...['text', 'resource', 'resource', 'resource_link', 'text'],
    ]);
    expect(answer._meta).toMatchObject({ 'sluice/withheld': { image: 2, audio: 1 }, 'example.com/took': 12 });
    const step = await stepOf(answer);
    expect(step?.content.map(({ kind }) => kind)).toEqual(['result', 'resource']);
    expect(step?.observation).toContain('{"type":"image","withheld":true}');
    expect(step?.observation).not.toContain('image/png');
  });

  it('reaches a client whole also where the step has the first page of what the redaction leaves', async () => {
    const answer = await call('rows', '2026-07-28');
    expect(answer.structuredContent).toEqual({ rows: Array.from({ length: 5_000 }, (_, id) => ({ id })) });
    const step = await stepOf(answer);
    expect(step?.content).toMatchObject([{ kind: 'value' }]);
    expect(JSON.parse(step?.observation ?? '')).toMatchObject({ kind: 'object', count: 1 });
  });

  it('of a redaction that names fields has what is left of the value, and the blocks that the entry names', async () => {
    const answer = await call('drawn', '2026-07-28');
    expect(answer.content).toEqual([
      { type: 'text', text: '{"title":"Sea"}' },
      expect.objectContaining({ type: 'image', mimeType: 'image/png' }),
    ]);
    expect(answer.structuredContent).toEqual({ title: 'Sea' });
    expect((await stepOf(answer))?.observation).toBe('{"title":"Sea"}');
  });

  it('is downloaded over HTTP by who may read the run, block by block or whole', async () => {
    const expected = (await direct.callTool({ name: 'mixed', arguments: {} })) as unknown as Answer;
    const [answer, other] = [await call('mixed', '2026-07-28'), await call('pictures', '2026-07-28')];
    const { runtime } = system.embedded;
    const gateway = await startGateway(runtime);
    try {
      const headers = localHeaders(runtime);
      const runOf = ({ _meta }: Answer) => String(_meta?.['sluice/request_id']);
      const at = (hash: string, run = answer) =>
        `${gateway.url}/v1/runs/${encodeURIComponent(runOf(run))}/content/${hash}`;
      const [whole, image, , zip] = (await stepOf(answer))?.content ?? [];
      const read = await fetch(at(image?.hash ?? ''), { headers });
      expect([read.status, read.headers.get('content-type')]).toEqual([200, 'image/png']);
      expect(read.headers.get('content-disposition')).toMatch(/^attachment; filename="[0-9a-f]{16}\.png"$/);
      expect(read.headers.get('content-security-policy')).toMatch(/^sandbox;/);
      const { data } = expected.content[1] as { readonly data: string };
      expect(Buffer.from(await read.arrayBuffer()).toString('base64')).toBe(data);
      const bytes = await fetch(at(zip?.hash ?? ''), { headers });
      expect(bytes.headers.get('content-type')).toBe('application/octet-stream');
      const client = new Sluice({ url: gateway.url, token: headers.authorization.replace('Bearer ', '') });
      const blob = await client.runs.content(runOf(answer), whole?.hash ?? '');
      expect(JSON.parse(await blob.text())).toMatchObject({ content: expected.content, _meta: expected._meta });
      const statuses = [at('0'.repeat(64)), at('x'), at(image?.hash ?? '', other)].map(
        async (url) => (await fetch(url, { headers })).status,
      );
      expect(await Promise.all(statuses)).toEqual([404, 404, 404]);
      expect((await fetch(at(image?.hash ?? ''))).status).toBe(401);
    } finally {
      await gateway.close();
    }
  });

  it('is exported beside the records that name it, and what is gone is named as missing', async () => {
    const answer = await call('mixed', '2026-07-28');
    const [, image] = (await stepOf(answer))?.content ?? [];
    const run = answer._meta?.['sluice/request_id'];
    const { sessionId } =
      (await system.all('agent.steps')).find(({ record }) => record.requestId === run)?.record ?? {};
    const folder = await mkdtemp(join(tmpdir(), 'sluice-export-'));
    const exported = (content: string) =>
      command(
        [
          'export',
          '--session',
          sessionId ?? '',
          '--content',
          join(folder, content),
          '--json',
          join(folder, 'a.sluice'),
        ],
        { SLUICE_DATA: system.folder },
      );
    try {
      const { output } = await exported('first');
      expect(JSON.parse(output)).toMatchObject({ content: { pieces: 5, missing: 0 } });
      const index = (await readFile(join(folder, 'first/content.jsonl'), 'utf8')).trim().split('\n');
      const bytes = await readFile(join(folder, 'first', image?.hash ?? ''));
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      expect(index.map((line) => JSON.parse(line) as unknown)).toContainEqual({
        ...{ tenant: 'local', request_id: run, ...image, file: image?.hash, sha256 },
      });
      expect((await exported('first')).errors).toMatch(
        /content\.jsonl is there already\. Name a folder without an export/,
      );
      await rm(join(system.folder, 'content', 'runs'), { recursive: true });
      expect(JSON.parse((await exported('second')).output)).toMatchObject({ content: { pieces: 0, missing: 5 } });
      expect(await readFile(join(folder, 'second/content.jsonl'), 'utf8')).toContain('"file":null,"missing":"gone"');
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('is said to be gone when it is, and the step still answers', async () => {
    const client = await newClient(system.mcp.url);
    const ask = () =>
      client.callTool({ name: 'rich___mixed', arguments: {}, _meta: { 'sluice/idempotency_key': 'again' } });
    const first = (await ask()) as unknown as Answer;
    expect(((await ask()) as unknown as Answer).content).toEqual(first.content);
    await rm(join(system.embedded.runtime.environment.dataFolder, 'content', 'runs'), { recursive: true });
    const later = (await ask()) as unknown as Answer;
    expect(later._meta?.['sluice/content_gone']).toBe('It is no longer kept.');
    expect(JSON.stringify(later.content)).toContain('image/png');
    await client.close();
  });
});
