import { describe, expect, it } from '@jest/globals';
import type { Configuration, Finding, JsonObject, ToolType } from '@sluice/core';
import { compileConfiguration, formatFindings, formatProblems } from '@sluice/configuration';
import { schemaProblems } from '@sluice/schemas';
import { readCases, readYaml } from './read-cases.js';
import { sampleInputs, sampleTypes, sha256 } from './sample-inputs.js';

interface Refused {
  readonly name: string;
  readonly requirements: string;
  readonly whole?: unknown;
  readonly file?: object;
  readonly tool?: object;
  readonly problems: readonly { readonly path: string; readonly holds: string }[];
  readonly hides?: readonly string[];
}

interface Accepted {
  readonly name: string;
  readonly requirements: string;
  readonly file: unknown;
  readonly tools?: Readonly<Record<string, object>>;
  readonly configuration?: Partial<Configuration>;
}

function compiled(file: unknown): Configuration {
  const { configuration, problems } = compileConfiguration(file, sampleInputs);
  if (configuration === null) throw new Error(formatProblems(problems));
  return configuration;
}

describe('refused files', () => {
  const cases = readCases<readonly Refused[]>('refused.yaml');
  it.each(cases.map((one) => [`${one.name} (${one.requirements})`, one] as const))('%s', (_name, one) => {
    const file = Object.hasOwn(one, 'whole')
      ? one.whole
      : { tool: { one: { type: 'knowledge-query', ...one.tool } }, ...one.file };
    const { configuration, problems } = compileConfiguration(file, sampleInputs);
    expect(configuration).toBeNull();
    expect(problems.map((problem) => problem.path)).toEqual(one.problems.map((problem) => problem.path));
    const lines = formatProblems(problems).split('\n');
    one.problems.forEach((problem, place) => {
      expect(lines[place]).toContain(problem.holds);
    });
    for (const secret of one.hides ?? []) expect(JSON.stringify(problems)).not.toContain(secret);
  });
});

describe('groups that a YAML alias puts into each other', () => {
  it('are refused in a few lines, though they have no end', () => {
    const group: Record<string, unknown> = {};
    for (let i = 0; i < 20; i++) group[`g${String(i)}`] = group;
    const { configuration, problems } = compileConfiguration(
      { tool: { one: { type: 'knowledge-query' } }, group },
      sampleInputs,
    );
    expect(configuration).toBeNull();
    expect(problems.filter(({ found }) => found === 'more than 1000 groups within groups')).toHaveLength(1);
    expect(problems.length).toBeLessThan(1_100);
  });
});

describe('accepted files', () => {
  const cases = readCases<readonly Accepted[]>('accepted.yaml');
  it.each(cases.map((one) => [`${one.name} (${one.requirements})`, one] as const))('%s', (_name, one) => {
    const configuration = compiled(one.file);
    for (const [key, expected] of Object.entries(one.tools ?? {})) {
      expect(configuration.tools.find((tool) => tool.key === key)).toMatchObject(expected);
    }
    expect(configuration).toMatchObject(one.configuration ?? {});
  });
});

describe('findings', () => {
  const cases =
    readCases<readonly { name: string; requirements: string; file: unknown; findings: readonly Finding[] }[]>(
      'findings.yaml',
    );
  it.each(cases.map((one) => [`${one.name} (${one.requirements})`, one] as const))('%s', (_name, one) => {
    const { problems, findings } = compileConfiguration(one.file, sampleInputs);
    expect(formatProblems(problems)).toBe('');
    expect(findings).toEqual(one.findings);
  });
});

describe('the configuration of 5.1', () => {
  const { configuration, findings } = compileConfiguration(readYaml('examples/spec-5.1.yaml'), sampleInputs);

  it('G-49, G-73, G-75, G-76, G-77, G-78, G-79, G-103, XG-20, T-16a, T-22a, K-59: loads unchanged, entry by entry', () => {
    const shown = configuration?.tools.map(({ key, id, type, title, groups, states, target }) => [
      key,
      id,
      type,
      title,
      groups,
      states,
      target,
    ]);
    expect(shown).toEqual([
      [
        'knowledge-query',
        'core__knowledge-query',
        'knowledge-query',
        'Knowledge Graph Query',
        ['read-only', 'knowledge', 'basic'],
        ['undefined', 'research'],
        'analysis',
      ],
      [
        'graph-update',
        'core__graph-update',
        'graph-update',
        'Graph Update',
        ['write', 'knowledge', 'admin'],
        ['analysis', 'modification'],
        null,
      ],
      [
        'text-completion',
        'core__text-completion',
        'text-completion',
        'Text Completion',
        ['read-only', 'text', 'basic'],
        ['*'],
        'undefined',
      ],
      [
        'complex-analysis',
        'mcp__unbound__complex-analysis',
        'mcp-tool',
        'Complex Analysis Tool',
        ['advanced', 'compute', 'expensive'],
        ['analysis'],
        'results',
      ],
      [
        'reset-workflow',
        'mcp__unbound__reset-workflow',
        'mcp-tool',
        'Reset Workflow',
        ['admin'],
        ['analysis', 'results'],
        'undefined',
      ],
    ]);
  });

  it('T-20a, XB-3: without a policy nothing is allowed', () => {
    expect(configuration?.policy).toEqual({
      allowedTools: [],
      approvalEffects: [],
      approvers: [],
      approvalMs: 86_400_000,
      requesterMayNotApprove: false,
      budgets: { callsPerRun: 100, tools: {} },
    });
  });

  it('G-140, XG-22: the cycle is reported and accepted, with the rest that is worth knowing', () => {
    expect(formatFindings(findings).split('\n')).toEqual([
      'cycle tool: The states undefined, analysis and results form a cycle through knowledge-query, text-completion, complex-analysis and reset-workflow; limits.max_iterations ends a run that stays in it.',
      'unreachable_state tool: No tool leads to the state "research"; a request may still start in it.',
      'unreachable_state tool: No tool leads to the state "modification"; a request may still start in it.',
      'unavailable tool.complex-analysis: complex-analysis is not offered: No entry "analysis-server" under mcp.tools names its server and tool.',
      'unavailable tool.reset-workflow: reset-workflow is not offered: No entry "reset-workflow" under mcp.tools names its server and tool.',
      'not_allowed policy.allowed_tools: The policy does not allow knowledge-query, graph-update, text-completion, complex-analysis and reset-workflow, so they are never offered.',
    ]);
  });
});

describe('the version', () => {
  const file = (instructions: string): unknown => ({
    tool: { one: { type: 'knowledge-query' }, two: { type: 'graph-update' } },
    agents: { default: { instructions } },
  });

  it('is the same for the same content, whatever the order of keys that has no meaning', () => {
    const base = compiled({ ...(file('a') as object), policy: { allowed_tools: ['one', 'two'] } });
    const other = compiled({ policy: { allowed_tools: ['core__two', 'one'] }, ...(file('a') as object) });
    expect(base.version).toMatch(/^c-[0-9a-f]{16}$/);
    expect(other.version).toBe(base.version);
  });

  it('is another for other content, tools in another order included', () => {
    const reordered = {
      tool: { two: { type: 'graph-update' }, one: { type: 'knowledge-query' } },
      agents: { default: { instructions: 'a' } },
    };
    expect(new Set([file('a'), file('b'), reordered].map((one) => compiled(one).version)).size).toBe(3);
  });

  it('K-01: has a hash of each tool’s schema, which changes with the schema and nothing else', () => {
    const [type, ...others] = sampleTypes as readonly [ToolType, ...ToolType[]];
    const hashed = (changes: Partial<ToolType>, entry: object = {}): string | undefined => {
      const file = { tool: { it: { type: type.type, ...entry } } };
      const types = [{ ...type, ...changes }, ...others];
      return compileConfiguration(file, { ...sampleInputs, types }).configuration?.tools[0]?.spec?.schemaHash;
    };
    const hash = hashed({});
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(hashed({ description: 'Another.', redaction: { whole: true }, repeatable: !type.repeatable })).toBe(hash);
    expect(hashed({}, { description: 'Another.', group: ['a'], state: 's' })).toBe(hash);
    expect(hashed({ inputSchema: { ...type.inputSchema, properties: { other: { type: 'string' } } } })).not.toBe(hash);
    const reversed = Object.fromEntries(Object.entries(type.inputSchema).toReversed());
    expect(hashed({ inputSchema: reversed })).toBe(hash);
  });

  it('XB-44: pins the schema a server offered', () => {
    const bound = {
      tool: { reset: { type: 'mcp-tool' } },
      mcp: {
        servers: { analysis: { command: 'node' } },
        tools: { reset: { server: 'analysis', tool: 'reset-workflow', redaction: 'whole' } },
      },
    };
    const changed = {
      server: 'analysis',
      tools: [
        {
          name: 'reset-workflow',
          description: 'Resets.',
          inputSchema: { type: 'object', properties: { hard: { type: 'boolean' } } },
          outputSchema: null,
        },
      ],
    };
    const later = compileConfiguration(bound, { ...sampleInputs, offers: [changed] }).configuration;
    expect(later?.version).not.toBe(compiled(bound).version);
    expect(later?.tools[0]?.spec?.schemaHash).toBe(
      sha256('{"properties":{"hard":{"type":"boolean"}},"type":"object"}'),
    );
  });

  it('changes with the bytes of a tool file, which stand beside its tools and no others', () => {
    const file = { tool: { own: { type: 'own' }, 'knowledge-query': { type: 'knowledge-query' } } };
    const withHash = (hash: string): Configuration | null => {
      const own = { ...(sampleTypes[0] as ToolType), type: 'own', file: { path: 'my-tools/own.mjs', hash } };
      return compileConfiguration(file, { ...sampleInputs, types: [...sampleTypes, own] }).configuration;
    };
    expect(withHash('aa')?.tools.map((tool) => tool.file)).toEqual([
      { path: 'my-tools/own.mjs', hash: 'aa' },
      undefined,
    ]);
    expect(withHash('bb')?.version).not.toBe(withHash('aa')?.version);
    expect(withHash('aa')?.version).toBe(withHash('aa')?.version);
  });
});

describe('a call of a configured tool', () => {
  it('may be made again as its type or its binding says, or since it reads only', () => {
    const [base] = sampleTypes as readonly [ToolType];
    const types = (['read_only', 'state_change'] as const).flatMap((effect) =>
      [true, false].map((repeatable) => ({ ...base, type: `${effect}-${String(repeatable)}`, effect, repeatable })),
    );
    const own = Object.fromEntries(types.map(({ type }) => [type, { type }]));
    const bound = ['once', 'again', 'reads'];
    const file = {
      tool: { ...own, ...Object.fromEntries(bound.map((name) => [name, { type: 'mcp-tool' }])) },
      mcp: {
        servers: { analysis: { command: 'node' } },
        tools: {
          once: { server: 'analysis', tool: 'reset-workflow', redaction: 'whole' },
          again: { server: 'analysis', tool: 'optional', redaction: 'whole', idempotent: true },
          reads: { server: 'analysis', tool: 'complex-analysis', redaction: 'whole', effect: 'read_only' },
        },
      },
    };
    const { configuration, problems } = compileConfiguration(file, { ...sampleInputs, types });
    expect(problems).toEqual([]);
    expect(configuration?.tools.map(({ key, repeatable }) => [key, repeatable])).toEqual([
      ['read_only-true', true],
      ['read_only-false', true],
      ['state_change-true', true],
      ['state_change-false', false],
      ['once', false],
      ['again', true],
      ['reads', true],
    ]);
  });
});

describe('input schemas (T-10d, T-26b3)', () => {
  const cases =
    readCases<readonly { name: string; schema: JsonObject; problems: readonly string[] }[]>('input-schemas.yaml');
  it.each(cases.map((one) => [one.name, one] as const))('%s', (_name, one) => {
    expect(schemaProblems(one.schema)).toEqual(one.problems);
  });

  it('refuses what nests without end', () => {
    let schema: JsonObject = { type: 'object' };
    for (let i = 0; i < 20_000; i++) schema = { type: 'object', properties: { a: schema } };
    expect(schemaProblems(schema)).toEqual(['The input schema is nested deeper than 64 levels.']);
  });
});
