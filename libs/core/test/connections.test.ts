import { describe, expect, it } from '@jest/globals';
import { allowedConnections, CallSecrets, compileEvaluator, effectiveConnections, noCalls } from '@sluice/core';
import { compileConfiguration, formatProblems } from '@sluice/configuration';
import type { ConnectionSettings } from '@sluice/core';
import { sampleInputs, sampleTypes } from '../../configuration/test/sample-inputs.js';

describe('what grant and request both allow (invariant 30; T-30a, T-30c, K-25, K-26, K-27, K-35)', () => {
  it.each([
    ['the same', ['a'], ['a'], ['a']],
    ['a part of the grant', ['a', 'b'], ['b'], ['b']],
    ['more than the grant', ['a'], ['a', 'b'], ['a']],
    ['something else', ['a'], ['b'], []],
    ['nothing of a grant', ['a'], [], []],
    ['something of an empty grant', [], ['a'], []],
    ['all of a grant', ['a', 'b'], ['*'], ['a', 'b']],
    ['one of a grant for all', ['*'], ['a'], ['a']],
    ['all of a grant for all', ['*'], ['*'], ['*']],
    ['all of an empty grant', [], ['*'], []],
    ['without a request’s side', ['*'], null, []],
    ['without a grant’s side', null, ['*'], []],
    ['another case of letters', ['A'], ['a'], []],
  ])('%s', (_, grant, request, effective) => {
    expect(effectiveConnections(grant, request)).toEqual(effective);
  });
});

const crm: ConnectionSettings = { id: 'crm', tenants: ['acme'], adapter: 'environment', variable: 'CRM' };
const mail: ConnectionSettings = { id: 'mail', tenants: ['*'], adapter: 'file', path: 'mail' };
const acme = { tenantId: 'acme', connections: ['*'] };

describe('the connections that a request may use', () => {
  it('are configured, effective, and open to the tenant', () => {
    expect(allowedConnections([crm, mail], acme, ['*'])).toEqual(['crm', 'mail']);
    expect(allowedConnections([crm, mail], { ...acme, tenantId: 'globex' }, ['*'])).toEqual(['mail']);
    expect(allowedConnections([crm, mail], { ...acme, tenantId: '*' }, ['crm'])).toEqual([]);
    expect(allowedConnections([crm, mail], acme, ['other', 'mail'])).toEqual(['mail']);
  });

  it('are none where none is requested, no caller is known, or none is configured', () => {
    expect(allowedConnections([crm], acme, null)).toEqual([]);
    expect(allowedConnections([crm], null, ['*'])).toEqual([]);
    expect(allowedConnections(undefined, acme, ['*'])).toEqual([]);
  });
});

const inputs = {
  ...sampleInputs,
  types: [
    ...sampleTypes,
    { ...(sampleTypes[0] as (typeof sampleTypes)[number]), type: 'find', requiresConnection: true },
  ],
};
const connections = { crm: { adapter: 'environment', variable: 'CRM', tenants: ['acme'], hosts: ['CRM.example:443'] } };
const file = (tool: object, more: object = {}): object => ({
  tool: { find: { type: 'find', ...tool } },
  policy: { allowed_tools: ['*'] },
  connections,
  ...more,
});

describe('a configuration with connections', () => {
  it('has them with their tools and their servers', () => {
    const { configuration, problems } = compileConfiguration(
      {
        tool: { find: { type: 'find', connection: 'crm' }, 'complex-analysis': { type: 'mcp-tool' } },
        policy: { allowed_tools: ['*', 'complex-analysis'].slice(0, 1) },
        connections: {
          ...connections,
          own: { adapter: 'http', url: 'https://broker.example/c', key_env: 'BROKER', tenants: ['*'] },
        },
        mcp: {
          servers: { analysis: { command: 'node', connection: 'own', connection_env: 'TOKEN' } },
          tools: { 'complex-analysis': { server: 'analysis', tool: 'complex-analysis', redaction: 'whole' } },
        },
      },
      inputs,
    );
    expect(formatProblems(problems)).toBe('');
    expect(configuration?.tools.map(({ connection }) => connection)).toEqual(['crm', 'own']);
    const own = { id: 'own', tenants: ['*'], adapter: 'http', url: 'https://broker.example/c', keyEnv: 'BROKER' };
    expect(configuration?.mcpServers).toMatchObject([{ connection: own, connectionEnv: 'TOKEN' }]);
    expect(configuration?.connections).toEqual([{ ...crm, hosts: ['https://crm.example'] }, own]);
  });

  it.each([
    ['an allowed tool that needs one and names none', file({}), 'tool.find.connection', 'which needs one'],
    ['one that there is none of', file({ connection: 'cmr' }), 'tool.find.connection', 'did you mean `crm`?'],
    [
      'a tool that uses none',
      file({ connection: 'crm', type: 'knowledge-query' }),
      'tool.find.connection',
      'a connection of a tool that uses none',
    ],
    [
      'an mcp-tool, whose server names it',
      file({ connection: 'crm', type: 'mcp-tool' }),
      'tool.find.connection',
      'write it at the server',
    ],
  ])('is refused for %s (T-26b2)', (_, raw, path, holds) => {
    const { problems } = compileConfiguration(raw, inputs);
    expect(problems.map((problem) => problem.path)).toEqual([path]);
    expect(formatProblems(problems)).toContain(holds);
  });

  const unnamed = { crm: { adapter: 'environment', variable: 'CRM', tenants: ['acme'] } };
  const withHosts = (hosts: unknown): object =>
    file({ connection: 'crm' }, { connections: { crm: { ...unnamed.crm, hosts } } });
  const server = (url: string): object => ({ servers: { a: { url, connection: 'crm' } } });
  it.each([
    [
      'no hosts, though a tool sends it',
      file({ connection: 'crm' }, { connections: unnamed }),
      'connections.crm.hosts',
      'nothing, though "find" may send the credential anywhere; write the hosts that it may go to',
    ],
    ['an empty list', withHosts([]), 'connections.crm.hosts', 'an empty list'],
    ['a pattern', withHosts(['*.example.com']), 'connections.crm.hosts[0]', 'no path, no pattern'],
    ['a path', withHosts(['a.example', 'b.example/v1']), 'connections.crm.hosts[1]', 'no path, no pattern'],
    ['another scheme', withHosts(['ftp://a.example']), 'connections.crm.hosts[0]', 'a host such as'],
    ['a port that there is none of', withHosts(['a.example:70000']), 'connections.crm.hosts[0]', 'a host such as'],
    [
      'an MCP server elsewhere',
      file({ connection: 'crm' }, { connections, mcp: server('https://mcp.example:8443/mcp') }),
      'connections.crm.hosts',
      'no "https://mcp.example:8443", where the server "a" is',
    ],
  ])('is refused for %s', (_, raw, path, holds) => {
    const { problems } = compileConfiguration(raw, inputs);
    expect(problems.map((problem) => problem.path)).toEqual([path]);
    expect(formatProblems(problems)).toContain(holds);
  });

  it('names no hosts where MCP servers alone use it, which their addresses say, or a tool that is not allowed', () => {
    const servers = { a: { url: 'https://mcp.example/', connection: 'crm' } };
    const alone = file({ type: 'knowledge-query' }, { connections: unnamed, mcp: { servers } });
    const barred = file({ connection: 'crm' }, { connections: unnamed, policy: {} });
    for (const raw of [alone, barred]) expect(compileConfiguration(raw, inputs).problems).toEqual([]);
  });

  it('has hosts as schemes, hosts and ports', () => {
    const written = ['A.example', 'b.example:8443', 'http://localhost:80/', 'https://[::1]:443', 'http://c_d:8080'];
    const { configuration, problems } = compileConfiguration(withHosts(written), inputs);
    expect(formatProblems(problems)).toBe('');
    expect(configuration?.connections?.[0]?.hosts).toEqual([
      ...['https://a.example', 'https://b.example:8443', 'http://localhost', 'https://[::1]', 'http://c_d:8080'],
    ]);
  });

  it('may name a tool without a connection that the policy does not allow', () => {
    expect(compileConfiguration(file({}, { policy: {} }), inputs).problems).toEqual([]);
  });

  it('hides a tool whose connection the request may not use, with that reason', () => {
    const { configuration } = compileConfiguration(file({ connection: 'crm' }), inputs);
    const evaluator = compileEvaluator(configuration as NonNullable<typeof configuration>);
    const facts = { groups: null, state: null, toolIds: null, calls: noCalls };
    const without = evaluator.evaluate({ ...facts, connections: ['other'] });
    expect([without.permitted, without.offered]).toEqual([['find'], []]);
    expect(without.hidden).toEqual([{ key: 'find', reasons: ['connection'] }]);
    expect(evaluator.evaluate({ ...facts, connections: ['crm'] }).offered.map(({ key }) => key)).toEqual(['find']);
  });
});

describe('the secrets of a call', () => {
  const secrets = (...forms: string[]): CallSecrets => {
    const made = new CallSecrets();
    made.add(forms);
    return made;
  };
  const value = (given: unknown, ...forms: string[]): unknown => {
    const result = secrets(...forms).result({ toolCallId: 'c', ok: true, value: given as never });
    return result.ok ? result.value : null;
  };

  it('are taken out of every text of a result, names of members included', () => {
    expect(value({ a: ['x-token-1', { 'token-1': 'token-1token-1' }], n: null, t: true }, 'token-1')).toEqual({
      a: ['x-[hidden]', { '[hidden]': '[hidden][hidden]' }],
      n: null,
      t: true,
    });
    expect(value(12345678.5, '12345678')).toBe('[hidden]');
    expect(value(17, '12345678')).toBe(17);
  });

  it('are taken out of messages, the longer form first', () => {
    const made = secrets('token-1', 'token-1%20more');
    expect(made.text('a token-1%20more b')).toBe('a [hidden] b');
    const failed = { toolCallId: 'c', ok: false, errorCode: 'execution', safeMessage: 'It was token-1.' } as const;
    expect(made.result(failed)).toEqual({ ...failed, safeMessage: 'It was [hidden].' });
    expect(made.wereFound).toBe(true);
  });

  it('change nothing where there are none', () => {
    const result = { toolCallId: 'c', ok: true, value: { a: 'token-1' } } as const;
    const made = secrets();
    expect(made.result(result)).toBe(result);
    expect(secrets('other-secret').result(result)).toEqual(result);
    expect(made.wereFound).toBe(false);
  });
});
