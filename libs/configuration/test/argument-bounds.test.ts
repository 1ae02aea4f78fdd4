import { describe, expect, it } from '@jest/globals';
import {
  compileConfiguration,
  configurationChanges,
  describeConfiguration,
  formatProblems,
} from '@sluice/configuration';
import { claimsOf, compileEvaluator } from '@sluice/core';
import type { Configuration, RuleFacts } from '@sluice/core';
import { sampleInputs } from './sample-inputs.js';

const tool = { write: { type: 'text-completion' }, look: { type: 'knowledge-query' } };
const policy = { allowed_tools: ['*'] };
const inputs = {
  ...sampleInputs,
  files: {
    ...sampleInputs.files,
    read: (path: string) => (path === 'words.txt' ? { text: 'one\n two \r\n\none\n' } : { error: 'there is none' }),
  },
};
const compile = (file: object) => compileConfiguration({ tool, policy, ...file }, inputs);
const problems = (file: object) => formatProblems(compile(file).problems);
const evaluatorOf = (file: object) => {
  const { configuration, problems: found } = compile(file);
  if (configuration === null) throw new Error(formatProblems(found));
  return compileEvaluator(configuration);
};
const facts: RuleFacts = {
  ...{ at: 0, tenant: 'acme', actor: 'user:ann', agent: 'default', channel: 'http', claims: {}, facts: {} },
  ...{ question: '', loads: {}, held: [], succeeded: {}, approved: {}, spent: { tokens: 0, microUsd: null } },
};
const rulesBroken = (file: object, prompt: string, own: Partial<RuleFacts> = {}) =>
  evaluatorOf(file).argumentRules.broken({ toolId: 'core__write', args: { prompt } }, { ...facts, ...own }, 's')
    ?.rule ?? null;

describe('bounds of arguments in a configuration', () => {
  it('stand at rules, entries and agents, and all of them bind', () => {
    const file = {
      tool: { ...tool, write: { ...tool.write, arguments: { prompt: { max_length: 9 } } } },
      agents: { default: { arguments: { write: { prompt: { not_one_of: ['b'] } } } } },
      rules: { short: { tools: ['write'], arguments: { prompt: { pattern: '^[a-z]*$' } } } },
    };
    expect(['a', 'b', 'A', 'abcdefghij'].map((text) => rulesBroken(file, text))).toEqual([
      ...[null, 'agents.default', 'short', 'tool.write'],
    ]);
    // A call that a request names itself is no agent’s.
    expect(rulesBroken(file, 'b', { agent: '' })).toBeNull();
  });

  it.each([
    [{ tenants: ['acme'] }, { tenant: 'other' }],
    [{ actors: ['user'] }, { actor: 'service:x' }],
    [{ channels: ['http'] }, { channel: 'mcp' }],
    [{ states: ['s'] }, undefined],
    [{ agents: ['default'] }, { agent: '' }],
    [{ claims: { role: ['trainee'] } }, { claims: { role: ['boss'] } }],
  ])('bind those that `for` names: %j', (whom, other) => {
    const file = { rules: { r: { tools: ['write'], for: whom, arguments: { prompt: { const: 'a' } } } } };
    expect(rulesBroken(file, 'b')).toBe('r');
    if (other !== undefined) expect(rulesBroken(file, 'b', other)).toBeNull();
    // What is not known is no way around.
    if ('channels' in whom) expect(rulesBroken(file, 'b', { channel: '' })).toBe('r');
  });

  it('`for` scopes the other conditions of its rule as well', () => {
    const rule = { tools: ['write'], for: { tenants: ['acme'] }, when: { actors: ['service'] } };
    const { availability } = evaluatorOf({ rules: { r: rule } });
    expect([facts, { ...facts, tenant: 'other' }].map((one) => availability.closed(one, {}, 's'))).toEqual([1, 0]);
  });

  it('take lists of the configuration and of files', () => {
    const of = (list: string) => ({
      lists: { few: ['one', 3], words: { file: 'words.txt' } },
      rules: { r: { tools: ['write'], arguments: { prompt: { one_of: { list } } } } },
    });
    expect(compile(of('words')).configuration?.lists).toEqual({
      ...{ few: { values: ['one', 3] }, words: { values: ['one', 'two'] } },
    });
    expect(['one', 'two'].map((text) => rulesBroken(of('words'), text))).toEqual([null, null]);
    expect(['one', 'two'].map((text) => rulesBroken(of('few'), text))).toEqual([null, 'r']);
  });

  const asking = (rule: object) => ({ approvers: ['user:ann'], rules: { r: rule } });
  it('may say in a rule on approvals that an argument need not be given', () => {
    const unless = { prompt: { max_length: 9, required: false } };
    const file = { policy: { ...policy, approval: asking({ tools: ['write'], unless }) } };
    expect(compile(file).configuration?.policy.approvalRules).toMatchObject([
      { unless: { prompt: { maxLength: 9, required: false } } },
    ]);
  });

  it('take lists that are looked up: in force is what was found, and their claims go onto the records', () => {
    const url = 'https://lists.example.org/{claims.team}/{user}';
    const of = (how: string) => ({
      lists: { few: { lookup: { url, refresh: '1m' } } },
      rules: { r: { tools: ['write'], arguments: { prompt: { [how]: { list: 'few' } } } } },
    });
    const settings = { url, keyEnv: null, items: '*', refreshMs: 60_000, staleMs: 3_600_000, timeoutMs: 5_000 };
    const { configuration } = compile(of('one_of'));
    expect(configuration?.lists).toEqual({ few: { lookup: settings } });
    expect(claimsOf(configuration as Configuration)).toEqual(['team']);
    const broken = (how: string, found: Readonly<Record<string, string>>) =>
      rulesBroken(of(how), 'a', { facts: found });
    const answers = [{}, { 'lookup/few/a': 'failed' }, { 'lookup/few/a': 'listed' }, { 'lookup/few/a': 'not listed' }];
    expect(answers.map((one) => broken('one_of', one))).toEqual(['r', 'r', null, 'r']);
    expect(answers.map((one) => broken('not_one_of', one))).toEqual(['r', 'r', 'r', null]);
  });

  const looked = (lookup: object, more: object = {}) => ({ lists: { x: { lookup, ...more } } });
  const elsewhere = 'https://lists.example.org/';
  const bound = (prompt: object) => ({ rules: { r: { tools: ['write'], arguments: { prompt } } } });
  it.each<[string, object, string]>([
    ['an unknown argument', { rules: { r: { tools: ['write'], arguments: { promt: { const: 1 } } } } }, 'did you mean'],
    [
      'an unknown argument of an entry',
      { tool: { ...tool, write: { ...tool.write, arguments: { x: { const: 1 } } } } },
      'tool.write.arguments.x',
    ],
    [
      'an unknown argument of an agent’s call',
      { agents: { default: { arguments: { write: { x: { const: 1 } } } } } },
      'unknown argument "x"',
    ],
    [
      'an unknown argument of a rule on approvals',
      { policy: { ...policy, approval: asking({ tools: ['write'], unless: { promt: { const: 'a' } } }) } },
      'policy.approval.rules.r.unless.promt: found the unknown argument "promt"',
    ],
    [
      'an unknown argument of tools with an effect',
      { policy: { ...policy, approval: asking({ effects: ['read_only'], unless: { promt: { const: 'a' } } }) } },
      'policy.approval.rules.r.unless.promt',
    ],
    ['an argument that need not be given', bound({ required: false }), '`true`, or leave it out'],
    ['an unknown tool', { agents: { default: { arguments: { wrote: {} } } } }, 'did you mean `write`'],
    ['an unknown key', bound({ minimun: 1 }), 'did you mean `minimum`'],
    ['no key', bound({}), 'no bound'],
    ['an unknown list', bound({ one_of: { list: 'x' } }), 'unknown list "x"'],
    ['claim and list', bound({ one_of: { list: 'x', claim: 'y' } }), 'exactly one of'],
    ['an empty list', bound({ one_of: [] }), 'an empty list'],
    ['a map as a value', bound({ const: { a: 1 } }), 'a text, a number'],
    ['a pattern that RE2 does not have', bound({ pattern: '(?=a)' }), 'regular expression of RE2'],
    ['a pattern that grows', bound({ pattern: '(a{1000}){1000}' }), 'regular expression of RE2'],
    ['numbers that none is between', bound({ minimum: 5, maximum: 4 }), 'numbers that no argument is between'],
    ['lengths that none has', bound({ min_length: 5, max_length: 4 }), 'not below min_length'],
    ['a host with a scheme', bound({ hosts: ['https://example.org'] }), 'without scheme and port'],
    ['absence beside others', bound({ absent: true, const: 'a' }), '`absent: true` alone'],
    [
      'an empty path',
      { rules: { r: { tools: ['write'], arguments: { 'a//b': { const: 1 } } } } },
      'names with `/` between',
    ],
    ['a file that is not there', { lists: { x: { file: 'no.txt' } } }, 'cannot be read: there is none'],
    ['a lookup beside a file', looked({ url: elsewhere }, { file: 'words.txt' }), 'a lookup beside `file`'],
    ['a lookup without an address', looked({}), 'lists.x.lookup.url: found nothing'],
    ['an unknown place in an address', looked({ url: `${elsewhere}{usr}` }), 'the place "{usr}"'],
    ['a caller as a host', looked({ url: 'https://{tenant}.example.org/' }), 'an address such as'],
    ['a key in place of its variable', looked({ url: elsewhere, key_env: 'sk-0123456789abcdef' }), 'not shown'],
    ['a refresh that never ends', looked({ url: elsewhere, refresh: '10ms' }), 'a duration from `1s` to'],
    [
      'an approval by a list that is looked up',
      {
        ...looked({ url: elsewhere }),
        policy: {
          ...policy,
          approval: {
            approvers: ['user:ann'],
            rules: { r: { tools: ['write'], unless: { prompt: { one_of: { list: 'x' } } } } },
          },
        },
      },
      'policy.approval.rules.r.unless.prompt.one_of.list: found the list "x", which is looked up at calls',
    ],
    ['a list without values', { lists: { x: {} } }, 'no value'],
    [
      'an unknown agent',
      { rules: { r: { tools: ['write'], for: { agents: ['x'] }, arguments: { prompt: { const: 'a' } } } } },
      'unknown name "x"',
    ],
    [
      'nobody',
      { rules: { r: { tools: ['write'], for: {}, arguments: { prompt: { const: 'a' } } } } },
      'no fact of a caller',
    ],
  ])('are refused with %s', (_name, file, text) => {
    expect(problems(file)).toContain(text);
  });
});

describe('bounds in words', () => {
  const described = (file: object) => {
    const { configuration } = compile(file);
    if (configuration === null) throw new Error(problems(file));
    return configuration;
  };
  const amount = (most: number) => ({
    tool: { ...tool, write: { ...tool.write, arguments: { prompt: { max_length: most } } } },
    lists: { words: ['a', 'b'] },
    rules: {
      short: {
        ...{ tools: ['write'], for: { channels: ['mcp'], agents: ['default'] } },
        arguments: { prompt: { required: true, one_of: { list: 'words' } } },
      },
    },
  });

  it('stand at tools and rules, with whom they bind', () => {
    const { tools, rules } = describeConfiguration(described(amount(9)));
    expect(tools.map(({ key, bounds }) => [key, bounds])).toEqual([
      [
        'write',
        [
          { rule: 'tool.write', whom: null, argument: 'prompt', words: ['must have at most 9 characters or items'] },
          {
            ...{ rule: 'short', whom: 'the request came over mcp and the agent is default', argument: 'prompt' },
            words: ['must be given', 'must be one of the list words'],
          },
        ],
      ],
      ['look', []],
    ]);
    expect(rules.map(({ words }) => words)).toEqual([
      [
        'Binds a request where the request came over mcp and the agent is default.',
        'Of a call, the argument prompt must be given and must be one of the list words.',
      ],
    ]);
  });

  it('are named where they are other in another version', () => {
    const changes = configurationChanges(described(amount(9)), described(amount(10)));
    expect(changes).toMatchObject([{ kind: 'tool', name: 'write', part: 'arguments', change: 'changed' }]);
  });
});
