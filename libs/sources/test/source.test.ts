import { describe, expect, it } from '@jest/globals';
import { ToolInputError } from '@sluice/core';
import type { BoundTool, JsonObject, ToolSource } from '@sluice/core';
import { bindTool, checkingTools } from '@sluice/tools';
import { builtInTools } from '@sluice/packs';
import { createToolSource } from '@sluice/sources';
import type { McpCallOptions, McpConnectOptions, McpHub } from '@sluice/hub';
import type { ToolContract } from '@sluice/tools';
import { configurationOf, configured, configuredMcp, context, patience } from './configured.js';

const [getCurrentTime, knowledgeQuery] = builtInTools as readonly [ToolContract, ToolContract];
const schema: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: { rows: { type: 'array', items: { type: 'object' } }, top: { type: 'integer', default: 3 } },
  required: ['rows'],
  additionalProperties: false,
};

/** Stands where the servers are: the hub itself has its own tests. */
class RecordingHub implements McpHub {
  readonly calls: { server: string; tool: string; args: JsonObject; options: McpCallOptions }[] = [];
  readonly connects: { server: string; tool: string; options: McpConnectOptions }[] = [];
  discover = async () => [];
  status = () => [];
  close = async () => undefined;
  connect = async (server: string, tool: string, options: McpConnectOptions) => {
    this.connects.push({ server, tool, options });
  };
  call = async (server: string, tool: string, args: JsonObject, options: McpCallOptions) => {
    this.calls.push({ server, tool, args, options });
    return { summary: 'fine', secret: 'hidden' };
  };
}

describe('createToolSource', () => {
  it('binds a tool at its first use, once (G-04, G-63, G-169, G-167, K-44)', () => {
    let bound = 0;
    const counting: ToolContract = {
      ...getCurrentTime,
      get execute() {
        bound += 1;
        return getCurrentTime.execute;
      },
    };
    const tool = configured(getCurrentTime);
    const source = createToolSource(configurationOf([tool]), { contracts: [counting], mcp: new RecordingHub() });
    expect(source.listToolSpecs()).toEqual([tool.spec]);
    expect(bound).toBe(0);
    const first = source.getBoundTool(tool.id);
    expect(source.getBoundTool(tool.id)).toBe(first);
    expect(bound).toBe(1);
  });

  it('knows only what the policy allows (X-8, K-41, K-42)', () => {
    const tools = [configured(getCurrentTime), configured(knowledgeQuery)];
    const source = createToolSource(configurationOf(tools, ['core__get_current_time']), {
      contracts: builtInTools,
      mcp: new RecordingHub(),
    });
    expect(source.getBoundTool('core__knowledge-query')).toBeUndefined();
    expect(source.getBoundTool('core__nothing')).toBeUndefined();
    expect(source.listToolSpecs().map(({ name }) => name)).toEqual(['core__get_current_time']);
  });

  it('does not need the implementation of a tool that is not allowed (K-43)', () => {
    const foreign = configured(knowledgeQuery, { id: 'core__foreign', type: 'foreign' });
    const build = (allowed: string[]) =>
      createToolSource(configurationOf([foreign], allowed), { contracts: [getCurrentTime], mcp: new RecordingHub() });
    expect(build([]).getBoundTool('core__foreign')).toBeUndefined();
    expect(() => build(['core__foreign'])).toThrow(/core__foreign.*"foreign"/);
  });

  it('does not bind a tool without a specification', () => {
    const tool = { ...configuredMcp('s', 't', schema, { whole: true }), spec: null };
    const source = createToolSource(configurationOf([tool]), { contracts: [], mcp: new RecordingHub() });
    expect(source.getBoundTool(tool.id)).toBeUndefined();
  });

  it('refuses two tools with one id (T-16c)', () => {
    const tool = configured(getCurrentTime);
    const build = () =>
      createToolSource(configurationOf([tool, { ...tool, key: 'again' }]), {
        contracts: builtInTools,
        mcp: new RecordingHub(),
      });
    expect(build).toThrow(/core__get_current_time/);
  });
});

describe('a bound tool of our own', () => {
  it('runs through its own methods and keeps to the allowlist (T-27a, T-04b, C-12, C-13, C-17, K-10)', async () => {
    const tool = bindTool(
      getCurrentTime,
      configured(getCurrentTime, { spec: { ...spec(), redaction: { fields: ['time'] } } }),
    );
    const args = await tool.validateInput({});
    const raw = await tool.exec(args, context, { clock: { now: () => 0 } });
    expect(tool.redact(tool.validateOutput(raw))).toEqual({ time: '1970-01-01T00:00:00Z' });
  });

  it('refuses an output of another shape (P-09)', () => {
    expect(() => bindTool(getCurrentTime, configured(getCurrentTime)).validateOutput({ time: 5 })).toThrow();
  });

  it('refuses a connectionId among the arguments as unknown (T-26b1)', () => {
    const tool = bindTool(getCurrentTime, configured(getCurrentTime));
    expect(() => tool.validateInput({ connectionId: 'x' })).toThrow(ToolInputError);
  });
});

describe('redaction (X-20)', () => {
  const redact = (fields: string[], value: Parameters<ReturnType<typeof bindTool>['redact']>[0]) =>
    bindTool(getCurrentTime, configured(getCurrentTime, { spec: { ...spec(), redaction: { fields } } })).redact(value);

  it('applies to each element of an array', () => {
    expect(redact(['a'], [{ a: 1, b: 2 }, { b: 3 }])).toEqual([{ a: 1 }, {}]);
  });

  it.each([['text'], [5], [null], [['text']]])('lets no value without fields pass: %j', (value) => {
    expect(() => redact(['a'], value)).toThrow(/whole/);
  });

  it('allows nothing where the list is empty', () => {
    expect(() => redact([], { a: 1 })).toThrow(/no field/);
  });

  it('lets a scalar pass only as a whole', () => {
    const tool = bindTool(
      getCurrentTime,
      configured(getCurrentTime, { spec: { ...spec(), redaction: { whole: true } } }),
    );
    expect(tool.redact('text')).toBe('text');
  });
});

describe('whether a call may be made again', () => {
  const contract = (effect: 'read_only' | 'state_change') => ({ ...getCurrentTime, effect });
  const mcpTool = (effect: 'read_only' | 'state_change', repeatable: boolean) => {
    const tool = configuredMcp('analysis', 'complex-analysis', schema, { whole: true });
    if (tool.spec === null) throw new Error('no specification');
    const changed = { ...tool, repeatable, spec: { ...tool.spec, effect } };
    return createToolSource(configurationOf([changed]), { contracts: [], mcp: new RecordingHub() }).getBoundTool(
      tool.id,
    );
  };

  it.each([
    ['read_only', false, true],
    ['read_only', true, true],
    ['state_change', false, false],
    ['state_change', true, true],
  ] as const)('is said by its tool, or by its effect: %s, declared %s: %s', (effect, repeatable, expected) => {
    const own = contract(effect);
    expect(bindTool(own, configured(own, { repeatable })).repeatable).toBe(expected);
    expect(mcpTool(effect, repeatable)?.repeatable).toBe(expected);
  });
});

describe('a bound MCP tool', () => {
  const bound = (inputSchema = schema, outputSchema: JsonObject | null = null) => {
    const hub = new RecordingHub();
    const offered = configuredMcp('analysis', 'complex-analysis', inputSchema, { fields: ['summary'] });
    if (offered.mcp === null) throw new Error('no server');
    const tool = { ...offered, mcp: { ...offered.mcp, outputSchema } };
    const source = createToolSource(configurationOf([tool]), { contracts: builtInTools, mcp: hub });
    const found = source.getBoundTool(tool.id);
    if (found === undefined) throw new Error('not bound');
    return { hub, tool: found };
  };

  it('calls its server with key, signal and time limit, and redacts what comes back (M-102, C-12, T-01b)', async () => {
    const { hub, tool } = bound();
    const signal = patience();
    const args = await tool.validateInput({ rows: [] });
    // The server fills in its own defaults.
    expect(args).toEqual({ rows: [] });
    const raw = await tool.exec(args, context, { cancellation: { signal }, idempotency: { key: 'k-1' } });
    expect(tool.redact(tool.validateOutput(raw))).toEqual({ summary: 'fine' });
    expect(hub.calls).toEqual([
      {
        server: 'analysis',
        tool: 'complex-analysis',
        args,
        options: {
          ...{ signal, idempotencyKey: 'k-1', timeoutMs: 5_000, pin: null },
          onAnswer: expect.any(Function),
        },
      },
    ]);
  });

  it('connects to its server for the call, in its time, and calls nothing there', async () => {
    const { hub, tool } = bound();
    const signal = patience();
    await tool.connect?.(context, { cancellation: { signal } }, 700);
    const options = { signal, timeoutMs: 700, pin: null };
    expect(hub.connects).toEqual([{ server: 'analysis', tool: 'complex-analysis', options }]);
    expect(hub.calls).toEqual([]);
    await expect(tool.connect?.(context, {}, 700)).rejects.toThrow('without the capabilities');
  });

  it('holds its results to the output schema that its server promised (P-09)', () => {
    const { tool } = bound(schema, {
      ...{ type: 'object', properties: { summary: { type: 'string' } }, required: ['summary'] },
    });
    expect(tool.validateOutput({ summary: 'fine' })).toEqual({ summary: 'fine' });
    for (const output of [{ summary: 5 }, {}, 'fine', null]) expect(() => tool.validateOutput(output)).toThrow();
    expect(bound().tool.validateOutput('anything')).toBe('anything');
  });

  it('validates arguments like any other tool, without repeating a value (M-75, T-01b)', () => {
    const { tool } = bound();
    const refused = (args: JsonObject) => {
      try {
        void tool.validateInput(args);
      } catch (error) {
        return (error as ToolInputError).problems;
      }
      return [];
    };
    expect(refused({ top: 'hunter2', more: 'hunter2' })).toEqual([
      { path: '/rows', message: 'is required and missing' },
      { path: '/more', message: 'is not an argument of this tool' },
      { path: '/top', message: 'expected an integer, found a string' },
    ]);
    expect(refused({ rows: ['hunter2'] })).toEqual([
      { path: '/rows/0', message: 'expected an object, found a string' },
    ]);
  });

  it('lets nothing pass where the server’s schema cannot be compiled', () => {
    const { tool } = bound({ type: 'object', properties: { a: { type: 'no such type' } } });
    expect(() => tool.validateInput({})).toThrow(/input schema.*cannot be used/);
  });
});

function spec() {
  const found = configured(getCurrentTime).spec;
  if (found === null) throw new Error('no specification');
  return found;
}

/** The two providers of tools, each with one tool, and what it is given and gives. */
const providers: readonly [
  string,
  () => { readonly source: ToolSource; readonly id: string; readonly result: JsonObject },
][] = [
  [
    'our own code',
    () => {
      const tool = configured(getCurrentTime, { spec: { ...spec(), redaction: { fields: ['time'] } } });
      const source = createToolSource(configurationOf([tool]), { contracts: builtInTools, mcp: new RecordingHub() });
      return { source, id: 'core__get_current_time', result: { time: '1970-01-01T00:00:00Z' } };
    },
  ],
  [
    'an MCP server',
    () => {
      const tool = configuredMcp('analysis', 'rank', { type: 'object', properties: {} }, { fields: ['summary'] });
      const source = createToolSource(configurationOf([tool]), { contracts: [], mcp: new RecordingHub() });
      return { source, id: 'mcp__analysis__rank', result: { summary: 'fine' } };
    },
  ],
];

describe.each(providers)('tools of %s (K-56)', (_, provide) => {
  const capabilities = {
    clock: { now: () => 0 },
    cancellation: { signal: patience() },
    idempotency: { key: 'k' },
  };

  it('are listed with the specification that they are bound with, and no others are known', () => {
    const { source, id } = provide();
    expect(source.listToolSpecs().map(({ name }) => name)).toEqual([id]);
    expect(source.getBoundTool(id)).toMatchObject({ id, spec: source.listToolSpecs()[0] });
    expect(source.getBoundTool(`${id}_`)).toBeUndefined();
  });

  it('check what they are given, run, check what they give, and redact it', async () => {
    const { source, id, result } = provide();
    const tool = source.getBoundTool(id) as BoundTool;
    expect(() => tool.validateInput(['no object'])).toThrow(ToolInputError);
    const raw = await tool.exec(await tool.validateInput({}), context, capabilities);
    expect(tool.redact(tool.validateOutput(raw))).toEqual(result);
    expect(tool.effect).toBe(tool.spec.effect);
  });

  it('do not run without a capability that they declare', async () => {
    const tool = provide().source.getBoundTool(provide().id) as BoundTool;
    expect(tool.capabilities.length).toBeGreaterThan(0);
    await expect(Promise.resolve().then(() => tool.exec({}, context, {}))).rejects.toThrow();
  });
});

describe('checkingTools', () => {
  const mcp = configuredMcp('files', 'top', schema, { whole: true });
  const file = configured(getCurrentTime, {
    ...{ id: 'core__own', type: 'own', file: { path: 'own.mjs', hash: '0' } },
  });
  const tools = [configured(getCurrentTime), mcp, file, configured(knowledgeQuery)];
  const source = checkingTools(configurationOf(tools, ['core__get_current_time', mcp.id, file.id]), builtInTools);

  it('check arguments as the bound tools do, those of servers and files by their schemas', async () => {
    const own = source.getBoundTool('core__get_current_time');
    expect(await own?.validateInput({ timezone: 'UTC' })).toEqual(getCurrentTime.parseInput({ timezone: 'UTC' }));
    expect(() => own?.validateInput({ zone: 1 })).toThrow(ToolInputError);
    expect(source.getBoundTool(mcp.id)?.validateInput({ rows: [] })).toEqual({ rows: [] });
    expect(() => source.getBoundTool(mcp.id)?.validateInput({ row: [] })).toThrow('/rows: is required and missing');
    expect(source.getBoundTool(file.id)?.validateInput({ timezone: 'UTC' })).toEqual({ timezone: 'UTC' });
    expect(() => source.getBoundTool(file.id)?.validateInput({ zone: 1 })).toThrow(ToolInputError);
  });

  it('has what the policy allows and nothing that acts', () => {
    expect(source.getBoundTool('core__knowledge-query')).toBeUndefined();
    expect(source.listToolSpecs()).toHaveLength(3);
    for (const { id } of [mcp, file])
      expect(() => source.getBoundTool(id)?.exec({}, context, {})).toThrow('does nothing else');
  });
});
