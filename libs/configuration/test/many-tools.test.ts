import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { compileConfiguration, formatProblems, pinKeyOf, serversOfPatterns } from '@sluice/configuration';
import type { JsonObject, McpOffer } from '@sluice/core';
import type { Pins } from '@sluice/configuration';
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

  it('takes nothing that a server adds later, until an operator compiles', () => {
    const { configuration } = compile(file(['read_*']));
    const pins = new Map(
      configuration?.tools.map(({ mcp }) => [pinKeyOf(mcp as NonNullable<typeof mcp>), mcp?.pin ?? '']),
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

  it('has its groups while it is unknown what the server offers', () => {
    const raw = {
      ...file(['read_*'], ['files', 'load'], {}),
      rules: { nightly: { groups: ['files'], time: { zone: 'UTC', from: '22:00', until: '06:00' } } },
      group_fallbacks: { files: ['other'], other: ['files'] },
      agents: { default: { deferred_groups: ['files'] } },
    };
    const tool = { ...raw.tool, load: { type: 'load_toolset', group: ['other'] } };
    const [known] = sampleInputs.types;
    const types = [...sampleInputs.types, { ...(known as NonNullable<typeof known>), type: 'load_toolset' }];
    for (const offers of [[], all])
      expect(compileConfiguration({ ...raw, tool }, { ...sampleInputs, types, offers }).problems).toEqual([]);
    const misspelt = { ...raw, tool, agents: { default: { deferred_groups: ['flies'] } } };
    expect(compileConfiguration(misspelt, { ...sampleInputs, types, offers: [] }).problems).toHaveLength(1);
  });

  it('is none while it is unknown what the server offers, and no mistake', () => {
    expect(compiled(file(['read_*'], ['files']), [])).toEqual([]);
    // What the file names is there and hidden, so that a server that is away makes no unknown name.
    expect(compiled(file(['read_*'], ['files', 'files/read_file']), [])).toEqual([['files/read_file', true, false]]);
    expect(serversOfPatterns(file(['read_*']))).toEqual(['disk']);
    expect(serversOfPatterns(file(['read_file']))).toEqual([]);
  });

  it.each([
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

describe('what a server offers', () => {
  const away: McpOffer[] = [{ server: 'disk', error: 'It did not start.' }];
  const found = (raw: unknown, offers?: readonly McpOffer[]) =>
    compile(raw, offers).findings.flatMap(({ kind, path, message }) =>
      ['missing_tools', 'unavailable', 'unfit_example'].includes(kind) ? [`${kind} ${path}: ${message}`] : [],
    );
  const there = (raw: unknown, offers: readonly McpOffer[]) =>
    compiled(raw, offers).flatMap(([key, , isThere]) => (isThere ? [key] : []));

  it('is missing where it cannot be asked, or has nothing that a pattern matches, and that is a finding', () => {
    expect(found(file(['*']), away)).toEqual([
      'missing_tools mcp.servers.disk: The server "disk" could not be asked what it offers, so none of the tools that patterns in mcp.tools match is known or offered: It did not start.',
    ]);
    expect(found(file(['delete_*']))).toEqual([
      'missing_tools mcp.tools.files.tools[0]: No tool of the server "disk" has the pattern "delete_*"; `sluice mcp list disk` shows what it offers.',
    ]);
  });

  it('hides a tool without a name, and those whose names are one to models, and no other', () => {
    const offers = offered('', 'x y', 'x_y', 'fine');
    expect(there(file(['*']), offers)).toEqual(['files/fine']);
    expect(found(file(['*']), offers)).toEqual([
      expect.stringContaining('files/x y is not offered: Its id `mcp__disk__x_y` is also that of "files/x_y"'),
      expect.stringContaining('files/x_y is not offered: Its id'),
      'unavailable mcp.servers.disk: The server "disk" offers a tool without a name: not offered, its author has to mend that.',
    ]);
  });

  it('is in one entry: what the file names goes before patterns, and what two patterns match is in neither', () => {
    const raw = (one: readonly string[], two: readonly string[]) => {
      const { mcp, tool, ...rest } = file(one, ['files', 'more']);
      const more = { server: 'disk', tools: two, effect: 'external_side_effect', redaction: 'whole' };
      return {
        ...{ ...rest, tool: { ...tool, more: { type: 'mcp-tool', group: ['more'] } } },
        mcp: { ...mcp, tools: { ...mcp.tools, more } },
      };
    };
    expect(there(raw(['*'], ['write_file']), all)).toEqual([
      'files/list_directory',
      'files/read_file',
      'files/read_media',
      'more/write_file',
    ]);
    expect(there(raw(['read_*'], ['*_file']), all)).toEqual(['files/read_media', 'more/write_file']);
  });

  it.each([
    ['a rule', { rules: { night: { tools: ['files/read_file'], time: { zone: 'UTC', days: ['mon'] } } } }],
    ['a group', { group: { reading: ['files/read_file'] } }],
  ])('may lack a tool that %s names', (_, more) => {
    for (const offers of [offered('other'), away, []]) {
      const { problems } = compile({ ...file(['*'], ['files', 'files/read_file', 'files/read_*']), ...more }, offers);
      const unknown = formatProblems(problems)
        .split('\n')
        .filter((line) => line.includes('unknown'));
      expect(unknown).toEqual([]);
    }
  });

  it('leaves out an example that its schema does not take', () => {
    const argumentsProblem = () => 'n is missing';
    const raw = file(['read_file'], ['files'], {}, { examples: [{ n: 1 }] });
    const { configuration, findings } = compileConfiguration(raw, { ...sampleInputs, offers: all, argumentsProblem });
    expect(configuration?.tools[0]).not.toHaveProperty('examples');
    expect(findings).toContainEqual({
      kind: 'unfit_example',
      path: 'tool["files/read_file"].examples[0]',
      message: 'The example is left out: it has arguments that the tool refuses (n is missing).',
    });
  });

  it.each([
    ['that its schema takes', null, [{ n: 1 }]],
    ['but none that its schema refuses', 'n is missing', undefined],
  ])('gives clients the example that its description ends with, %s (M-13, M-73)', (_, problem, examples) => {
    const offers = all.map((offer) =>
      'tools' in offer
        ? { ...offer, tools: offer.tools.map((tool) => ({ ...tool, description: 'Reads. Example: { "n": 1 }.' })) }
        : offer,
    );
    const given = { ...sampleInputs, offers, argumentsProblem: () => problem };
    const { configuration, findings } = compileConfiguration(file(['read_file'], ['files']), given);
    expect(configuration?.tools[0]?.examples).toEqual(examples);
    expect(findings.filter(({ kind }) => kind === 'unfit_example')).toEqual([]);
  });

  it('refuses no configuration, whatever it is: each of the good tools is there', () => {
    const odd = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 80 }),
      fc.constantFrom(
        '',
        ' ',
        '*',
        '__proto__',
        'constructor',
        'a b',
        'a_b',
        'a.b',
        'a/b',
        '../x',
        '\n',
        'x'.repeat(300),
      ),
    );
    const anyMap = fc.dictionary(fc.string(), fc.jsonValue()) as fc.Arbitrary<JsonObject>;
    const tool = fc.record({
      name: odd,
      description: fc.oneof(fc.string(), fc.constant('x'.repeat(100_000))),
      inputSchema: fc.oneof(
        fc.constant({}),
        anyMap,
        fc.constant<JsonObject>({ type: 'array' }),
        fc.constant<JsonObject>({ type: 'object', properties: { a: { $ref: '#/nowhere' } } }),
      ),
      outputSchema: fc.oneof(fc.constant(null), anyMap),
    });
    const bothServers = fc.tuple(fc.array(tool, { maxLength: 6 }), fc.array(tool, { maxLength: 6 }));
    fc.assert(
      fc.property(bothServers, fc.constantFrom('server', 'uri', 'random'), ([one, other], naming) => {
        const [good] = offered('a-good-tool');
        if (good === undefined || 'error' in good) throw new Error('There is no offer.');
        const { mcp, tool: entries, ...rest } = file(['*'], ['files', 'more']);
        const more = { server: 'disk_', tools: ['*'], effect: 'read_only', redaction: 'whole' };
        const raw = {
          ...{ ...rest, tool: { ...entries, more: { type: 'mcp-tool', group: ['more'] } } },
          mcp: { naming, servers: { ...mcp.servers, disk_: { command: 'serve' } }, tools: { ...mcp.tools, more } },
        };
        const offers = [
          { server: 'disk', tools: [...one, ...good.tools] },
          { server: 'disk_', tools: other },
        ];
        expect(there(raw, offers)).toContain('files/a-good-tool');
      }),
      { numRuns: 100 },
    );
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
