import { createServer } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { bindTools, compileEvaluator, fullTools, noCalls } from '@sluice/core';
import type { Environment } from '@sluice/host';
import { TokenCounter } from '@sluice/tokens';
import { encodeRequest } from '@sluice/wires';
import type { CommandContext } from '../apps/sluice/src/commands/command-context.js';
import { run } from '../apps/sluice/src/commands/tokens.js';
import { configurationOf } from '../apps/sluice/src/system/compile-once.js';
import { inProcess } from './harness/in-process.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-tokens-'));
const file = join(folder, 'sluice.yaml');
writeFileSync(
  file,
  `
tool:
  read_file: { type: read_file, group: [files] }
  write_file: { type: write_file, group: [files] }
  list_files: { type: list_files, group: [files] }
  search_files: { type: search_files, group: [files] }
  delete_file: { type: delete_file, group: [files] }
  add_todo: { type: add_todo, group: [plan] }
  list_todos: { type: list_todos, group: [plan] }
  load_toolset: { type: load_toolset, group: [files] }
  helper: { type: agent, group: [files], agent: { group: [plan] } }
agents: { default: { description_mode: deferred, deferred_groups: { plan: plan the work } } }
model: { provider: openai-compatible, name: gpt-5-mini, base_url: 'http://localhost:1/v1', price: { input: 2, output: 8 } }
policy: { allowed_tools: ['*'], allowed_agents: ['*'], approval: { none: this is a test } }
`,
);
/** The tools of an agent that works on documents. */
const documentAgent = [
  'read_file',
  'write_file',
  'append_file',
  'list_files',
  'delete_file',
  'search_files',
  'file_exists',
  'get_workspace_summary',
  'add_todo',
  'complete_todo',
  'start_todo',
  'list_todos',
  'get_progress',
  'archive_and_reset',
  'get_next_todo',
  'extract_document_text',
  'chunk_document',
  'identify_requirement_candidates',
  'assess_gobd_relevance',
  'extract_entity_mentions',
  'mark_complete',
  'knowledge-query',
  'graph-update',
  'text-completion',
  'get_current_time',
];
afterAll(() => {
  rmSync(folder, { recursive: true });
});
const command = (...args: string[]) => inProcess(run, {} as Environment, '--config', file, ...args);

interface Report {
  readonly tokenizer: string;
  readonly rows: readonly {
    readonly agent: string;
    readonly descriptions: string;
    readonly tools: number;
    readonly docstring_tokens: number;
    readonly schema_overhead: number;
    readonly total: number;
    readonly saved: number;
    readonly per_job: number;
    readonly cost: number | null;
    readonly by_tool: readonly { readonly id: string; readonly description: number; readonly schema: number }[];
  }[];
}
const report = async (...args: string[]): Promise<Report> =>
  JSON.parse((await command('--json', ...args)).output) as Report;

describe('sluice tokens', () => {
  it('counts each way of describing the tools, for each agent (D-30, D-36, XD-1)', async () => {
    const { rows, tokenizer } = await report();
    expect(tokenizer).toBe('o200k');
    expect(rows.map(({ agent, descriptions, tools }) => [agent, descriptions, tools])).toEqual([
      ['default', 'full', 8],
      ['default', 'configured', 7],
      ['default', 'deferred, full schema', 8],
      ['default', 'deferred', 8],
      ['default', 'groups', 7],
      ['helper', 'full', 2],
      ['helper', 'configured', 2],
      ['helper', 'deferred, full schema', 2],
      ['helper', 'deferred', 2],
      ['helper', 'groups', 2],
    ]);
    for (const { docstring_tokens, schema_overhead, total, by_tool, tools } of rows) {
      expect(docstring_tokens + schema_overhead).toBe(total);
      expect(by_tool).toHaveLength(tools);
    }
    const total = (name: string) =>
      rows.find(({ agent, descriptions }) => agent === 'default' && descriptions === name)?.total ?? 0;
    expect(total('deferred')).toBeLessThan(total('deferred, full schema'));
    expect(total('deferred, full schema')).toBeLessThan(total('full'));
    expect(total('configured')).toBeLessThan(total('groups'));
  });

  it('counts the definitions as the request has them, as JSON', async () => {
    const { rows } = await report();
    const counter = new TokenCounter();
    const configuration = await configurationOf(file, { environment: {} as Environment } as CommandContext);
    const evaluator = compileEvaluator(configuration);
    const decision = evaluator.evaluate({
      groups: ['*'],
      state: null,
      toolIds: null,
      calls: noCalls,
      connections: [],
      depth: 0,
    });
    const { tools } = bindTools(fullTools(decision), { evaluator, history: [], toolChoice: { type: 'auto' } });
    const blank = {
      model: 'm',
      instructions: '',
      messages: [],
      toolChoice: null,
      maxOutputTokens: null,
      temperature: null,
    };
    const sent = (some: typeof tools): string => {
      const named = some.map(({ id, description, inputSchema }) => ({ name: id, description, inputSchema }));
      const request = { ...blank, topP: null, stopSequences: [], stream: true, tools: named };
      return JSON.stringify((JSON.parse(encodeRequest('openai-chat', request).body) as { tools: unknown }).tools);
    };
    const { tokens } = await counter.count([sent(tools)], 'gpt-5-mini');
    const total =
      rows.find(({ agent, descriptions }) => agent === 'default' && descriptions === 'configured')?.total ?? 0;
    // Together, marks of neighbouring definitions are one token now and then.
    expect(total / tokens).toBeGreaterThan(0.98);
    expect(total / tokens).toBeLessThan(1.02);
  });

  it('adds up a job, and what its definitions cost (D-31)', async () => {
    const { rows } = await report('--iterations', '10');
    for (const { total, per_job, cost } of rows) {
      expect(per_job).toBe(total * 10);
      expect(cost).toBeCloseTo((per_job * 2) / 1_000_000);
    }
  });

  it('saves 60 % and more of the definitions of the creator and the validator (D-67, D-87, XD-3)', async () => {
    const example = join(import.meta.dirname, '../examples/requirements/sluice.yaml');
    const environment = { secret: () => undefined, forChild: () => ({}) } as unknown as Environment;
    for (const group of ['creator', 'validator']) {
      const args = ['--config', example, '--json', '--model', 'gpt-oss-120b', '--group', group];
      const { rows } = JSON.parse((await inProcess(run, environment, ...args)).output) as Report;
      expect(rows.find(({ descriptions }) => descriptions === 'configured')?.saved).toBeGreaterThanOrEqual(0.6);
    }
  });

  it('saves more than half of the definitions of an agent with 25 tools', async () => {
    const many = join(folder, 'many.yaml');
    const tools = documentAgent.map((type) => `  ${type}: { type: ${type} }\n`).join('');
    writeFileSync(
      many,
      `tool:\n${tools}agents: { default: { description_mode: deferred } }\npolicy: { allowed_tools: ['*'], approval: { none: this is a test } }\n`,
    );
    const { output } = await inProcess(run, {} as Environment, '--config', many, '--json', '--model', 'gpt-oss-120b');
    const { rows } = JSON.parse(output) as Report;
    expect(rows.map(({ tools: count }) => count)).toEqual([25, 25, 25, 25]);
    expect(rows.find(({ descriptions }) => descriptions === 'configured')?.saved).toBeGreaterThan(0.55);
  });

  it('marks an approximation, and lists tools', async () => {
    const { output } = await command('--model', 'claude-sonnet-5', '--tools');
    expect(output).toMatch(
      /^Tokens by ~o200k for claude-sonnet-5\.\nagent +descriptions +tools +docstring +schema +total +saved +84 turns +cost\n/,
    );
    expect(output).toMatch(/\n {2}core__delete_file +\d+ +\d+\n/);
  });

  it('counts what a request for some groups is sent', async () => {
    const { rows } = await report('--group', 'plan');
    expect(rows[0]).toMatchObject({ agent: 'default', tools: 2 });
  });

  describe('with --provider-count', () => {
    /**
     * An endpoint that counts ten tokens for a request and a token for each character of its tools, and keeps what it
     * was asked.
     */
    const counting = async (
      work: (
        url: string,
        asked: { url: string; headers: IncomingHttpHeaders; body: Record<string, unknown> }[],
      ) => Promise<void>,
      answer?: { readonly status: number; readonly body: string },
    ): Promise<void> => {
      const asked: { url: string; headers: IncomingHttpHeaders; body: Record<string, unknown> }[] = [];
      const server = createServer((request, response) => {
        let text = '';
        request.on('data', (piece: Buffer) => (text += piece.toString()));
        request.on('end', () => {
          const body = JSON.parse(text) as Record<string, unknown>;
          asked.push({ url: request.url ?? '', headers: request.headers, body });
          const tools =
            body['tools'] ?? (body['generateContentRequest'] as Record<string, unknown> | undefined)?.['tools'];
          const tokens = 10 + (tools === undefined ? 0 : JSON.stringify(tools).length);
          response.statusCode = answer?.status ?? 200;
          response.end(answer?.body ?? JSON.stringify({ input_tokens: tokens, totalTokens: tokens }));
        });
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      try {
        await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked);
      } finally {
        server.closeAllConnections();
        server.close();
      }
    };
    const counted = async (provider: string, url: string, key: string | undefined): Promise<Report> => {
      const path = join(folder, `${provider}.yaml`);
      writeFileSync(
        path,
        `tool: { read_file: { type: read_file }, add_todo: { type: add_todo } }
model: { provider: ${provider}, name: some-model, base_url: '${url}' }
policy: { allowed_tools: ['*'], approval: { none: this is a test } }
`,
      );
      const environment = { secret: () => key } as unknown as Environment;
      return JSON.parse(
        (await inProcess(run, environment, '--config', path, '--json', '--provider-count')).output,
      ) as Report;
    };

    it.each([
      ['anthropic', '/messages/count_tokens', 'x-api-key'],
      ['google', '/models/some-model:countTokens', 'x-goog-api-key'],
    ])('has %s count what the tools add to a request', (provider, path, header) =>
      counting(async (url, asked) => {
        const { tokenizer, rows } = await counted(provider, url, 'a key\n');
        expect(tokenizer).toBe(`the count of ${provider}`);
        expect(asked.map((each) => [each.url, each.headers[header]])).toEqual(asked.map(() => [path, 'a key']));
        // Once without tools, and for each row with all and with those that say nothing.
        expect(asked).toHaveLength(1 + 2 * rows.length);
        const [{ total = 0, docstring_tokens = 0, schema_overhead = 0 } = {}] = rows;
        const [whole, bare] = asked
          .slice(0, 3)
          .map((each) => JSON.stringify(each.body).length)
          .sort((a, b) => b - a);
        expect(total).toBeGreaterThan(500);
        expect(docstring_tokens + schema_overhead).toBe(total);
        expect(docstring_tokens).toBe((whole ?? 0) - (bare ?? 0));
      }),
    );

    it('says what to set or to leave out', async () => {
      await expect(counted('anthropic', 'http://127.0.0.1:1', undefined)).rejects.toThrow(/Set ANTHROPIC_API_KEY/);
      await expect(command('--provider-count')).rejects.toThrow(/openai-compatible has no endpoint that counts/);
      await expect(counted('google', 'http://127.0.0.1:1', 'key')).rejects.toThrow(/could not be reached to count/);
      const refused = { status: 401, body: '{"error":"bad key"}' };
      await counting(
        async (url) => void (await expect(counted('google', url, 'key')).rejects.toThrow(/401.*bad key/)),
        refused,
      );
      const odd = { status: 200, body: '{"tokens":"many"}' };
      await counting(
        async (url) => void (await expect(counted('anthropic', url, 'key')).rejects.toThrow(/without a number/)),
        odd,
      );
    });
  });

  it('says how it is called', async () => {
    await expect(inProcess(run, {} as Environment)).rejects.toThrow('Name the configuration with --config FILE.');
    await expect(command('--iterations', '0')).rejects.toThrow('from 1 to 1000000');
  });
});
