import { describe, expect, it } from '@jest/globals';
import { compileConfiguration, formatProblems, placeOf, serversOfPatterns } from '@sluice/core';
import type { McpOffer, Pins } from '@sluice/core';
import { sampleInputs } from './sample-inputs.js';

const offered = (...names: string[]): readonly McpOffer[] => [
  {
    server: 'disk',
    tools: names.map((name) => ({
      ...{ name, description: `Does ${name}.`, outputSchema: null },
      inputSchema: { type: 'object', properties: {}, additionalProperties: false },
    })),
  },
];
const all = offered('read_file', 'read_media', 'write_file', 'list_directory');

const file = (tools: unknown, allowed: unknown = ['files'], more: object = {}, entry: object = {}) => ({
  tool: { files: { type: 'mcp-tool', group: ['files'], ...entry } },
  mcp: {
    servers: { disk: { command: 'serve' } },
    tools: { files: { server: 'disk', tools, effect: 'read_only', redaction: 'whole', ...more } },
  },
  policy: { allowed_tools: allowed },
});
const compile = (raw: unknown, offers: readonly McpOffer[] = all, pins?: Pins) =>
  compileConfiguration(raw, { ...sampleInputs, offers, ...(pins === undefined ? {} : { pins }) });
const compiled = (...given: Parameters<typeof compile>) => {
  const { configuration, problems } = compile(...given);
  if (configuration === null) throw new Error(formatProblems(problems));
  const allowed = new Set(configuration.policy.allowedTools);
  return configuration.tools.map(({ key, id, mcp }) => [key, allowed.has(id), mcp?.pin !== null] as const);
};

describe('an entry that brings in many tools of a server', () => {
  it('is one tool each, by name and by pattern, each pinned by itself', () => {
    expect(compiled(file(['read_*', 'list_directory']))).toEqual([
      ['files/list_directory', true, true],
      ['files/read_file', true, true],
      ['files/read_media', true, true],
    ]);
  });

  it.each([
    [['files'], ['files/list_directory', 'files/read_file', 'files/read_media', 'files/write_file']],
    [['files/read_*'], ['files/read_file', 'files/read_media']],
    [['files/*_file'], ['files/read_file', 'files/write_file']],
    [['files/read_file'], ['files/read_file']],
    [['mcp__disk__read_file'], ['files/read_file']],
    [['*'], []],
    [[], []],
  ])('is allowed by %j: exactly %j', (allowed, wanted) => {
    expect(compiled(file(['*'], allowed)).flatMap(([key, is]) => (is ? [key] : []))).toEqual(wanted);
  });

  it('takes nothing that a server adds later, until somebody compiles by will', () => {
    const { configuration } = compile(file(['read_*']));
    const pins = new Map(
      configuration?.tools.map(({ mcp }) => [placeOf(mcp as NonNullable<typeof mcp>), mcp?.pin ?? '']),
    );
    const later = offered('read_file', 'read_media', 'read_secrets');
    expect(compiled(file(['read_*']), later, pins).map(([key]) => key)).toEqual([
      'files/read_file',
      'files/read_media',
    ]);
    expect(compiled(file(['read_*']), later).map(([key]) => key)).toContain('files/read_secrets');
    const away: McpOffer[] = [{ server: 'disk', error: 'It is away.' }];
    expect(compiled(file(['read_*']), away, pins).map(([key]) => key)).toEqual(['files/read_file', 'files/read_media']);
  });

  it('is none while nobody knows what the server offers, and no mistake', () => {
    expect(compiled(file(['read_*'], ['files', 'files/read_file']), [])).toEqual([]);
    expect(serversOfPatterns(file(['read_*']))).toEqual(['disk']);
    expect(serversOfPatterns(file(['read_file']))).toEqual([]);
  });

  it.each([
    ['a pattern that matches nothing', file(['delete_*']), 'mcp.tools.files.tools[0]: found the pattern "delete_*"'],
    [
      'an allowed tool that is not among them',
      file(['read_*'], ['files/write_file']),
      'the unknown tool "files/write_file"',
    ],
    ['an empty list', file([]), 'mcp.tools.files.tools: found an empty list'],
    ['no list', file('read_*'), 'mcp.tools.files.tools: found the text "read_*"'],
    ['what is no name', file([7]), 'mcp.tools.files.tools[0]: found the number 7'],
    ['tool and tools', file(['read_*'], ['files'], { tool: 'x' }), 'found both `tool` and `tools`'],
    [
      'one description for all',
      file(['*'], ['files'], {}, { description: 'x' }),
      'tool.files.description: found one text',
    ],
  ])('is refused with %s', (_, raw, said) => {
    expect(formatProblems(compile(raw).problems)).toContain(said);
  });
});

describe('more tools than some providers take in one request', () => {
  const entries = (count: number, group: string, more: object = {}) =>
    Array.from({ length: count }, (_, at) => ({
      name: `${group}-${String(at)}`,
      type: 'knowledge-query',
      group: [group],
      ...more,
    }));
  const found = (tool: readonly object[], allowed: readonly string[] = ['*']) =>
    compile({ tool, policy: { allowed_tools: allowed } }).findings.flatMap(({ kind, message }) =>
      kind === 'many_tools' ? [message] : [],
    );

  it('are a finding that names the groups and their number', () => {
    expect(found([...entries(129, 'big'), ...entries(3, 'small')])).toEqual([
      'A turn can be offered 132 tools of the group "*" and 129 tools of the group "big", and some providers take no more than 128 in one request: split the group, or allow fewer tools.',
    ]);
  });

  it.each([
    ['as many as all take', entries(128, 'a'), ['*']],
    ['more than are allowed', entries(200, 'a'), ['a-1']],
    [
      'more than there are in one state',
      [
        ...entries(100, 'a', { available_in_states: ['here'] }),
        ...entries(100, 'b', { available_in_states: ['there'] }),
      ],
      ['*'],
    ],
  ])('are none with %s', (_, tool, allowed) => {
    expect(found(tool, allowed)).toEqual([]);
  });
});
