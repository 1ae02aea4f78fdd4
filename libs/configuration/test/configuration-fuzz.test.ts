import { describe, expect, it } from '@jest/globals';
import { compileConfiguration, configurationKeys, formatFindings, formatProblems } from '@sluice/configuration';
import type { Compilation } from '@sluice/configuration';
import fc from 'fast-check';
import { sampleInputs } from './sample-inputs.js';

/** Null exactly if there are problems, and every problem can be told. */
function expectWhole({ configuration, problems, findings }: Compilation): void {
  expect(configuration === null).toBe(problems.length > 0);
  for (const problem of problems) {
    expect(problem.found).not.toBe('');
    expect(problem.write).not.toBe('');
  }
  expect(formatProblems(problems).split('\n')).toHaveLength(Math.max(1, problems.length));
  expect(formatFindings(findings).split('\n')).toHaveLength(Math.max(1, findings.length));
  if (configuration !== null) expect(JSON.parse(JSON.stringify(configuration))).toEqual(configuration);
}

const knownKeys = [...new Set(Object.values(configurationKeys).flat())];
const odd = fc.anything({
  withBigInt: true,
  withDate: true,
  withMap: true,
  withSet: true,
  withNullPrototype: true,
  withSparseArray: true,
  withTypedArray: true,
  withObjectString: true,
});
const word = fc.constantFrom(
  'one',
  'two',
  '*',
  '',
  'analysis',
  'whole',
  'mcp-tool',
  'knowledge-query',
  'rules',
  'node',
  'http://localhost:1',
  '__proto__',
  'constructor',
);
const leaf = fc.oneof(
  word,
  fc.integer({ min: -1, max: 20 }),
  fc.boolean(),
  fc.constant(null),
  fc.array(word, { maxLength: 3 }),
);
const key = fc.oneof(fc.constantFrom(...knownKeys), word);
const nested = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'medium' },
    { weight: 2, arbitrary: leaf },
    { weight: 3, arbitrary: fc.dictionary(key, tie('value'), { maxKeys: 5 }) },
    { weight: 1, arbitrary: odd },
  ),
})).value;

describe('compiling whatever is there', () => {
  it('never throws for any value', () => {
    fc.assert(
      fc.property(odd, (raw) => {
        expectWhole(compileConfiguration(raw, sampleInputs));
      }),
      { numRuns: 500 },
    );
  });

  it('never throws for maps of known keys with wrong things in them', () => {
    const file = fc.dictionary(fc.constantFrom<string>(...configurationKeys['']), nested, { maxKeys: 8 });
    fc.assert(
      fc.property(file, (raw) => {
        expectWhole(compileConfiguration(raw, sampleInputs));
      }),
      { numRuns: 1_500 },
    );
  });

  it('never throws for a right file with one value replaced', () => {
    const right = {
      tool: {
        one: { type: 'knowledge-query', group: ['a'], state: 's', available_in_states: ['undefined'] },
        two: { type: 'mcp-tool' },
      },
      group: { b: ['one'] },
      policy: {
        allowed_tools: ['one', 'two'],
        approval: {
          effects: ['state_change'],
          approvers: ['user:a'],
          expires_seconds: 9,
          requester_may_not_approve: true,
        },
        budgets: { calls_per_run: 3, tools: { '*': { calls_per_minute: 1 }, one: { timeout_seconds: 1 } } },
      },
      authorization: {
        groups: { g: ['user:a'] },
        permissions: [{ principals: ['group:g'], tenants: ['*'], tools: ['one'] }],
        delegations: [{ actors: ['agent:a'], subjects: ['group:g'], tenants: ['t'], connections: ['*'] }],
      },
      agents: { default: { instructions: 'x' } },
      model: { provider: 'anthropic', name: 'x', api_key_env: 'KEY' },
      mcp: {
        servers: { analysis: { command: 'node', args: ['x'], env: ['A'] } },
        tools: { two: { server: 'analysis', tool: 'reset-workflow', redaction: ['a'] } },
      },
      knowledge: { load: ['a.nt'] },
      limits: { max_iterations: 3 },
    };
    expect(compileConfiguration(right, sampleInputs).problems).toEqual([]);
    const paths = pathsOf(right);
    fc.assert(
      fc.property(fc.constantFrom(...paths), fc.oneof(leaf, odd), (path, value) => {
        expectWhole(compileConfiguration(replaced(right, path, value), sampleInputs));
      }),
      { numRuns: 1_500 },
    );
  });

  it('takes a cyclic value, as aliases in YAML can make one', () => {
    const cyclic: Record<string, unknown> = {};
    for (const name of [...configurationKeys[''], 'one']) cyclic[name] = cyclic;
    const compiled = compileConfiguration(cyclic, sampleInputs);
    expectWhole(compiled);
    expect(formatProblems(compiled.problems).split('\n')).toContain(
      'tool: found an alias of what it stands in; write what is meant there, without the alias',
    );
    const shared = { groups: ['one'] };
    const twice = compileConfiguration({ group: { a: shared, b: [shared] } }, sampleInputs);
    expect(formatProblems(twice.problems)).not.toContain('an alias');
  });

  it('takes a value that is nested deeper than calls can be', () => {
    const deep = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`) as unknown;
    expectWhole(compileConfiguration({ tool: { one: { type: deep } } }, sampleInputs));
  });
});

function pathsOf(value: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([name, item]) => pathsOf(item, [...path, name]))];
}

function replaced(value: unknown, path: readonly string[], by: unknown): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return by;
  const copy: unknown = structuredClone(value);
  const holder = copy as Record<string, unknown>;
  holder[name] = replaced(holder[name], rest, by);
  return copy;
}
