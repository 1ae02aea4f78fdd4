import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import * as packs from '@sluice/packs';
import * as sources from '@sluice/sources';
import * as contract from '@sluice/tools';
import { importsOf } from '../arrows.js';

const root = join(import.meta.dirname, '../..');
const files = globSync(['libs/*/src/**/*.ts', 'apps/*/src/**/*.ts'], { cwd: root })
  .map((file) => ({ path: file.replaceAll('\\', '/'), text: readFileSync(join(root, file), 'utf8') }))
  .filter(({ path }) => !path.includes('/probe-'));
const holding = (pattern: RegExp): string[] => files.filter(({ text }) => pattern.test(text)).map(({ path }) => path);

it('each file of the wires has one purpose, and at most 250 lines', () => {
  const long = files.filter(({ path, text }) => path.startsWith('libs/wires/src/') && text.split('\n').length > 251);
  expect(long.map(({ path }) => path)).toEqual([]);
});

it('the version of the program stands in package.json alone', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly version: string };
  const written = new RegExp(`['"\`]${version.replaceAll('.', '\\.')}['"\`]`);
  expect([written.test(`version: '${version}'`), holding(written)]).toEqual([true, []]);
});

/** Files that define tools, or that these share. */
const isOfTools = (path: string): boolean => /^libs\/packs\/src\/(?:general|[a-z]+\/tools)\//.test(path);

describe('where things stand (invariants 2, 6, 9, 14, 24, 33)', () => {
  it('no agent framework is imported anywhere (T-06b)', () => {
    const frameworks = /^(@?langchain|@langchain\/|langgraph|@ai-sdk\/react|ai$|llamaindex|@openai\/agents)/;
    expect(
      files.flatMap(({ path, text }) =>
        importsOf(text)
          .filter((from) => frameworks.test(from))
          .map(() => path),
      ),
    ).toEqual([]);
  });

  it('no library that speaks a model’s API by itself is imported anywhere: the wires are our own', () => {
    const speaking = /^(@ai-sdk\/|ai$|openai$|@anthropic-ai\/|@google\/genai$|@aws-sdk\/client-bedrock)/;
    const importing = files.filter(({ text }) => importsOf(text).some((from) => speaking.test(from)));
    expect(importing.map(({ path }) => path)).toEqual([]);
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      readonly dependencies: Readonly<Record<string, string>>;
    };
    expect(Object.keys(dependencies).filter((name) => speaking.test(name))).toEqual([]);
  });

  it('tools are defined in the library of packs, and those of files in their processes, alone (T-02a, T-24c)', () => {
    const defining = holding(/\bdefine\w*Tool\(/).filter((path) => !path.startsWith('libs/packs/src/'));
    // The first holds the text of the tool that `sluice init` writes.
    expect(defining).toEqual(['apps/sluice/src/starter-files.ts', 'libs/isolation/src/child.ts']);
  });

  it('tools are bound in the libraries of tools and sources and in the executor’s composition root alone (T-02e, T-09a)', () => {
    expect(holding(/\b(?:createToolSource|bindTool|bindMcpTool)\(/).sort()).toEqual([
      'apps/executor/src/toolbox.ts',
      'libs/sources/src/mcp-tool.ts',
      'libs/sources/src/source.ts',
      'libs/tools/src/binding/own-tool.ts',
    ]);
  });

  it('what tools reach the world with is opened in the executor’s composition root alone (T-03c, T-34a)', () => {
    const opening = /\b(?:openEmbeddedKnowledge|openSparqlEndpoint|todosIn|workspacesIn|authOf|clientsOf)\(/;
    const opened = holding(opening).filter((path) => !/^libs\/(?:packs|tools)\/src\//.test(path));
    expect(opened.length).toBeGreaterThan(0);
    expect(opened.filter((path) => !path.startsWith('apps/executor/src/'))).toEqual([]);
    const packs = files.filter(({ path }) => isOfTools(path));
    for (const { text } of packs) expect(text).not.toMatch(opening);
  });

  it('no tool file writes JSON Schema by hand: it is derived in one place (T-14a, T-14b)', () => {
    expect(holding(/toJSONSchema\(/)).toEqual(['libs/tools/src/input-schema.ts']);
    const packs = files.filter(({ path }) => isOfTools(path));
    expect(packs.length).toBeGreaterThan(3);
    for (const { text } of packs) expect(text).not.toMatch(/inputSchema|\btype: 'object'/);
  });

  it('tool files hold no case for a tenant, a role or an environment (T-19c)', () => {
    const packs = files.filter(({ path }) => isOfTools(path));
    for (const { text } of packs) expect(text).not.toMatch(/tenantId|actorId|\brole\b|NODE_ENV/);
  });

  it('the libraries of tools give nothing that runs without being bound (T-24b, T-33a)', () => {
    const contracts = new Set<unknown>(packs.builtInTools);
    const runnable = Object.entries({ ...packs, ...sources, ...contract }).filter(([, value]) => {
      const list: unknown[] = Array.isArray(value) ? value : [value];
      return list.some((one) => typeof one === 'object' && one !== null && 'exec' in one && !contracts.has(one));
    });
    expect(runnable).toEqual([]);
  });
});
