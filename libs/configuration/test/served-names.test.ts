import { describe, expect, it } from '@jest/globals';
import { compileConfiguration, namesBefore, namingStrategies, servedNames } from '@sluice/configuration';
import type { McpServer } from '@sluice/core';
import type { NamingStrategy } from '@sluice/configuration';
import { sampleInputs, sha256 } from './sample-inputs.js';

function server(id: string, url: string | null = null): McpServer {
  return { id, command: url === null ? 'node' : null, args: [], env: [], url, startMs: 1 };
}

const places = [
  { server: 'filesystem', tool: 'read_file' },
  { server: 'secretnetwork', tool: 'read_file' },
];

function names(
  strategy: NamingStrategy,
  servers: McpServer[],
  given: readonly { server: string; tool: string }[] = places,
  digest = sha256,
) {
  return servedNames(given, { servers, strategy, digest });
}

describe('the names under which MCP clients are served (XB-6, M-60)', () => {
  const servers = [server('filesystem'), server('secretnetwork', 'https://remote.example.com/mcp')];

  it('by server: as the specification writes them (M-61)', () => {
    expect(names('server', servers)).toMatchObject({
      names: ['filesystem___read_file', 'secretnetwork___read_file'],
      problems: [],
    });
  });

  it('by address; what was started here is local (M-62)', () => {
    expect(names('uri', servers).names).toEqual(['local.filesystem:read_file', 'remote.example.com:read_file']);
    const neighbours = [server('filesystem', 'http://HOST:8080/a'), server('secretnetwork', 'http://host:8080/b?c')];
    expect(names('uri', neighbours).names).toEqual(['host:8080/a:read_file', 'host:8080/b?c:read_file']);
  });

  it('at random: the same as long as the server is configured as it is, whatever else is (M-63)', () => {
    const [first, second] = names('random', servers).names;
    expect(first).toMatch(/^[0-9a-f]{6}___read_file$/);
    expect(second).toMatch(/^[0-9a-f]{6}___read_file$/);
    expect(second).not.toBe(first);
    expect(names('random', [...servers, server('another')]).names).toEqual([first, second]);
    expect(names('random', [server('filesystem', 'http://h/'), server('secretnetwork')]).names).not.toContain(first);
  });

  it('at random, longer where two prefixes would be equal', () => {
    const digest = (text: string): string => `000000${sha256(text)}`;
    const [first, second] = names('random', servers, places, digest).names;
    expect(first).not.toBe(second);
    expect(first?.length).toBeGreaterThan('000000___read_file'.length);
  });

  it('stays as it was given, whatever comes beside it, until another strategy is chosen (M-62, M-63)', () => {
    const alone = [server('filesystem', 'http://h/a')];
    const [place] = places;
    for (const strategy of ['uri', 'random'] as const) {
      const [given = ''] = servedNames([place as (typeof places)[0]], {
        servers: alone,
        strategy,
        digest: sha256,
      }).names;
      const before = namesBefore({ tools: [{ mcp: { ...places[0], served: given } }] } as never);
      const beside = [server('filesystem', 'http://h/moved'), server('secretnetwork', 'http://h/b')];
      const later = servedNames(places, { servers: beside, strategy, digest: sha256, before });
      expect(later.problems).toEqual([]);
      expect(later.names[0]).toBe(given);
      expect(later.names[1]).not.toBe(given);
      const others = servedNames(places, { servers: beside, strategy: 'server', digest: sha256, before });
      expect(others.names).toEqual(['filesystem___read_file', 'secretnetwork___read_file']);
    }
  });

  it('never drops a tool: what would have one name is refused, both named (M-64, XB-8)', () => {
    const meeting = [
      { server: 'a', tool: '_b' },
      { server: 'a_', tool: 'b' },
    ];
    const { names: both, problems } = names('server', [server('a'), server('a_')], meeting);
    expect(both).toEqual(['a____b', 'a____b']);
    expect(problems).toEqual([
      {
        path: 'mcp.naming',
        found: 'the name "a____b" for both "_b" of "a" and "b" of "a_"',
        write: 'another strategy (server, uri, random), or another name for one of the servers',
      },
    ]);
    for (const strategy of ['uri', 'random'] as const)
      expect(names(strategy, [server('a'), server('a_')], meeting).problems).toEqual([]);
    const twins = [server('filesystem', 'http://h/mcp'), server('secretnetwork', 'http://h/mcp')];
    expect(names('uri', twins).problems).toHaveLength(1);
  });

  it('hides what a server offers under the name of a bound tool, and refuses two bound tools of that name', () => {
    const [offered, ...bound] = [
      { server: 'a', tool: '__b' },
      { server: 'a_', tool: '_b' },
      { server: 'a__', tool: 'b' },
    ] as const;
    for (const all of [
      [offered, ...bound],
      [...bound, offered],
    ]) {
      const { problems, hidden } = servedNames(all, {
        ...{ servers: ['a', 'a_', 'a__'].map((id) => server(id)), strategy: 'server', digest: sha256 },
        isBrought: (place) => place === offered,
      });
      expect(problems).toMatchObject([{ found: 'the name "a_____b" for both "_b" of "a_" and "b" of "a__"' }]);
      expect([...hidden.keys()]).toEqual([JSON.stringify(['a', '__b'])]);
    }
  });

  it('keeps apart a tool and a server whose names hold the separator (M-64)', () => {
    const apart = [
      { server: 'a', tool: 'b___c' },
      { server: 'ab', tool: 'c' },
    ];
    const found = names('server', [server('a'), server('ab')], apart);
    expect(found).toMatchObject({ names: ['a___b___c', 'ab___c'], problems: [] });
  });
});

describe('mcp.naming', () => {
  const file = (mcp: object) => ({
    tool: { reset: { type: 'mcp-tool' }, complex: { type: 'mcp-tool' } },
    policy: { allowed_tools: ['reset', 'complex'] },
    mcp: {
      servers: { analysis: { command: 'node' } },
      tools: {
        reset: { server: 'analysis', tool: 'reset-workflow', redaction: 'whole' },
        complex: { server: 'analysis', tool: 'complex-analysis', redaction: 'whole' },
      },
      ...mcp,
    },
  });

  it.each([...namingStrategies, undefined])('%s: shapes the served names and never the ids', (naming) => {
    const { configuration, problems } = compileConfiguration(
      file(naming === undefined ? {} : { naming }),
      sampleInputs,
    );
    expect(problems).toEqual([]);
    expect(configuration?.tools.map(({ id }) => id)).toEqual([
      'mcp__analysis__reset-workflow',
      'mcp__analysis__complex-analysis',
    ]);
    const expected = {
      server: /^analysis___reset-workflow$/,
      uri: /^local\.analysis:reset-workflow$/,
      random: /^[0-9a-f]{6}___reset-workflow$/,
    };
    expect(configuration?.tools[0]?.mcp?.served).toMatch(expected[naming ?? 'server']);
  });

  it('is one of the three', () => {
    const { problems } = compileConfiguration(file({ naming: 'prefix' }), sampleInputs);
    expect(problems).toMatchObject([{ path: 'mcp.naming' }]);
  });
});
