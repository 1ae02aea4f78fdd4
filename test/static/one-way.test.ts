import { describe, expect, it } from '@jest/globals';
import { readSources } from './program.js';
import { waysToATool } from './ways-to-a-tool.js';

/** Who reaches for a tool, and why it is no way round the runner. */
const known: Readonly<Record<string, string>> = {
  'libs/core/src/tool/run-tool.ts: exec': 'the runner itself',
  'libs/tools/src/binding/own-tool.ts: execute':
    'hands a contract’s code to its bound tool, whose exec only the runner calls',
  'libs/isolation/src/child.ts: execute':
    'is the other end of that exec, in the tool’s own process, and has nothing else to call',
  'libs/sources/src/mcp-tool.ts: call': 'is the exec of an MCP tool’s bound tool',
  'apps/executor/src/mcp-servers.ts: call':
    'is itself the hub that bound tools are given, one for the servers in force',
  'libs/hub/src/create-hub.ts: tools/call': 'the hub’s message of the kind',
  'libs/hub/src/run-as-task.ts: tools/call': 'the same for a tool that runs as a task, called by the hub alone',
  'libs/mcp/src/client-message.ts: tools/call': 'reads a client’s message of the kind, and sends none',
  'libs/hub/src/load-hub.ts: call': 'the hub, once it is loaded',
  'apps/mcp/src/serve-calls.ts: tools/call': 'answers clients; the call that it makes is a record on the log',
  'apps/mcp/src/task-server.ts: tools/call': 'is where that answer may be a task, and calls nothing',
  'libs/host/src/traces/spans.ts: tools/call': 'names the span of that message, and sends nothing',
};

const probes = {
  'apps/agent/src/probe-one.ts': `
    import type { BoundTool, ToolSource } from '@sluice/core';
    export const direct = (tool: BoundTool) => tool.exec({}, {} as never, {});
    export const kept = ({ getBoundTool }: ToolSource) => getBoundTool('x')?.['exec'];`,
  'apps/gateway/src/probe-two.ts': `
    import type { ToolContract } from '@sluice/tools';
    export function taken({ execute: run }: ToolContract) { return run({}, {} as never, {}); }`,
  'apps/filter/src/probe-three.ts': `
    import type { McpHub } from '@sluice/tools';
    class Mine implements McpHub { discover = async () => []; status = () => []; close = async () => undefined; connect = async () => undefined; call = async () => null; }
    export const other = (mine: Mine) => mine.call();`,
  'libs/tools/src/probe-four.ts': `
    import { Client } from '@modelcontextprotocol/client';
    export const wire = (client: Client) => client.callTool({ name: 'x' });`,
  'libs/host/src/probe-five.ts': `export const message = { method: 'tools/call' };`,
  'apps/audit/src/probe-union.ts': `
    import type { BoundTool } from '@sluice/core';
    type Either = BoundTool | { readonly other: string; exec(text: string): number } | null;
    export const either = (tool: Either) => tool?.exec({} as never, {} as never, {} as never);`,
  'apps/audit/src/probe-alias.ts': `
    import type { BoundTool } from '@sluice/core';
    type Named = BoundTool & { readonly named: string };
    export const both = (tool: Named | Date) => ('exec' in tool ? tool.exec({}, {} as never, {}) : null);`,
  'apps/audit/src/probe-parameter.ts': `
    import type { ToolContract } from '@sluice/tools';
    export const any = <T extends ToolContract | RegExp>(tool: T) => ('execute' in tool ? tool.execute : null);`,
  'apps/audit/src/probe-pick.ts': `
    import type { McpHub } from '@sluice/tools';
    export const some = (hub: Pick<McpHub, 'call'>) => hub.call({} as never, {} as never);`,
  'apps/audit/src/probe-fits.ts': `
    import type { BoundTool } from '@sluice/core';
    interface Runs { exec(...args: readonly unknown[]): unknown }
    export const fits = (tool: BoundTool) => (tool as Runs).exec({});`,
  'apps/audit/src/probe-computed.ts': `
    import type { BoundTool } from '@sluice/core';
    const name = 'exec';
    export const computed = (tool: BoundTool) => tool[name];`,
  'apps/audit/src/probe-assigned.ts': `
    import type { BoundTool } from '@sluice/core';
    let run: BoundTool['exec'];
    export const assigned = (tool: BoundTool) => { ({ exec: run } = tool); return run; };`,
  'apps/audit/src/probe-none.ts': `
    export const none = (text: string, one: { exec(text: string): Date } | RegExp) => [/x/.exec(text), one.exec(text)];`,
  'libs/core/src/probe-secret.ts': `
    import type { ToolInvocationContext } from './tool/types.js';
    const base = { runId: 'r', sessionId: 's', toolCallId: 'c', actorId: 'user:a', tenantId: 't' };
    export const accessToken: ToolInvocationContext = { ...base, accessToken: 'x' };
    export const apiKey: ToolInvocationContext = { ...base, apiKey: 'x' };
    export const refreshToken: ToolInvocationContext = { ...base, refreshToken: 'x' };
    export const headers: ToolInvocationContext = { ...base, headers: {} };
    export const anonymous: ToolInvocationContext = { runId: 'r', sessionId: 's', toolCallId: 'c' };`,
  'libs/core/src/probe-pipeline.ts': `
    import type { ToolPipeline } from './tool/pipeline.js';
    declare const whole: ToolPipeline;
    const { authorize: _authorize, ...without } = whole;
    export const unasked: ToolPipeline = without;
    export const asked: ToolPipeline = whole;`,
  'libs/core/src/probe-closed.ts': `
    import type { ToolInvocationContext } from './tool/types.js';
    export const well: ToolInvocationContext = { runId: 'r', sessionId: 's', toolCallId: 'c', actorId: 'user:a', tenantId: 't', connectionId: 'id' };`,
};

describe('the one way to a tool', () => {
  const sources = readSources(probes);
  const ways = waysToATool(sources);

  it('is runTool: no other module calls a tool’s code or a server’s tools (invariants 1, 25, 31; T-00a, T-01a, T-01c, T-31a, K-33, K-36)', () => {
    expect(ways.filter((way) => !way.includes('/probe-')).sort()).toEqual(Object.keys(known).sort());
  });

  it('is seen to be gone round in each of these, so the test can fail', () => {
    expect(ways.filter((way) => way.includes('/probe-'))).toEqual([
      'apps/agent/src/probe-one.ts: exec',
      'apps/audit/src/probe-alias.ts: exec',
      'apps/audit/src/probe-assigned.ts: exec',
      'apps/audit/src/probe-computed.ts: exec',
      'apps/audit/src/probe-fits.ts: exec',
      'apps/audit/src/probe-parameter.ts: execute',
      'apps/audit/src/probe-pick.ts: call',
      'apps/audit/src/probe-union.ts: exec',
      'apps/filter/src/probe-three.ts: call',
      'apps/gateway/src/probe-two.ts: execute',
      'libs/host/src/probe-five.ts: tools/call',
      'libs/tools/src/probe-four.ts: callTool',
    ]);
  });

  it('asks for authorization: a pipeline without it does not compile, and no other stage comes between it and the tool’s lookup (K-40, F1)', () => {
    const errors = sources.errorsIn('libs/core/src/probe-pipeline.ts');
    expect(errors).toHaveLength(1);
    expect(errors[0]).toContain("'authorize'");
  });

  it('has a context that can hold no secret: what is no reference does not compile (invariants 26, 28, F2; T-28a, T-28b, T-28c, C-14, K-34, K-37)', () => {
    expect(sources.errorsIn('libs/core/src/probe-closed.ts')).toEqual([]);
    const errors = sources.errorsIn('libs/core/src/probe-secret.ts');
    expect(errors).toHaveLength(5);
    ['accessToken', 'apiKey', 'refreshToken', 'headers'].forEach((name, at) =>
      expect(errors[at]).toContain(`'${name}'`),
    );
    expect(errors[4]).toMatch(/actorId, tenantId/);
    const type = sources.typeNamed('libs/core/src/tool/types.ts', 'ToolInvocationContext');
    for (const property of sources.checker.getPropertiesOfType(type)) {
      expect(property.name).not.toMatch(/token|secret|key|password|credential|header|authorization/i);
      const reference = sources.checker.getNonNullableType(sources.checker.getTypeOfSymbol(property));
      expect(sources.checker.typeToString(reference)).toBe('string');
    }
  });
});
