import { describe, expect, it } from '@jest/globals';
import { runTool } from '@sluice/core';
import type { BoundTool, Redaction, ToolExecResult, ToolInvocation, ToolPipeline } from '@sluice/core';
import { probe, scenarios, secret } from './scenarios.js';

const context = { runId: 'r', sessionId: 's', toolCallId: 'c-1', actorId: 'user:u', tenantId: 't' };

async function run(
  tool: BoundTool,
  call: Partial<ToolInvocation> = {},
  changes: Partial<ToolPipeline> = {},
): Promise<ToolExecResult> {
  probe.seen.length = 0;
  const pipeline: ToolPipeline = {
    source: { getBoundTool: () => tool, listToolSpecs: () => [tool.spec] },
    eligible: () => ({ ok: true }),
    allowed: () => ({ ok: true }),
    authorize: () => Promise.resolve({ ok: true }),
    connection: () => Promise.resolve({ ok: true }),
    authorizeValidated: () => Promise.resolve({ ok: true }),
    hashResult: () => 'hash',
    conceal: (_tool, result) => result,
    bounds: () => Promise.resolve({ ok: true }),
    approval: () => Promise.resolve({ ok: true }),
    rate: () => Promise.resolve({ ok: true }),
    handOver: () => Promise.resolve(null),
    keepWaiting: () => Promise.reject(new Error('The call waits for no one.')),
    answer: () => {
      throw new Error('The call waits for no one.');
    },
    capabilities: () => Promise.resolve({ clock: {} }),
    once: (_tool, _invocation, effect) => effect(),
    cached: () => Promise.resolve({ kind: 'none', keep: () => undefined }),
    keepAnswer: () => Promise.resolve([]),
    keepResult: () => Promise.resolve(null),
    questions: () => [],
    begun: () => Promise.resolve(null),
    onFault: () => undefined,
    onReconciled: () => undefined,
    onStart: () => undefined,
    onParked: () => undefined,
    onResult: () => undefined,
    onCancel: () => () => undefined,
    after: () => () => undefined,
    limits: { argumentBytes: 8_192, resultBytes: 32_768, contentBytes: 32_768 },
    ...changes,
  };
  const signal = new AbortController().signal;
  const args = { word: 'a' };
  const end = await runTool(
    { toolId: tool.id, args, argumentBytes: 12, context, callKey: 'k', timeoutMs: 1_000, signal, ...call },
    pipeline,
  );
  if (end.kind === 'parked') throw new Error('Nothing parks the call.');
  return end.result;
}

const as = (tool: BoundTool): BoundTool => tool;
const outcomeOf = (result: ToolExecResult): string => (result.ok ? 'ok' : result.errorCode);

describe.each(scenarios.map((one) => [one.stage, one.does, one] as const))(
  'the stage %s, for %s',
  (_stage, _does, one) => {
    it('prevents it', async () => {
      const result = await run((one.tool ?? as)(probe.bound()), one.call, one.pipeline);
      expect(outcomeOf(result)).toBe(one.outcome);
      expect(one.harm(probe.seen, JSON.stringify(result))).toBe(false);
      expect(JSON.stringify(result)).not.toContain(secret);
      expect(result.toolCallId).toBe('c-1');
    });

    it('is what prevents it: taken out, it happens', async () => {
      const tool = (one.without.tool ?? as)((one.tool ?? as)(probe.bound()));
      const result = await run(tool, one.call, { ...one.pipeline, ...one.without.pipeline });
      expect(result.ok).toBe(true);
      expect(one.harm(probe.seen, JSON.stringify(result))).toBe(true);
    });
  },
);

describe('what no pipeline runs at all', () => {
  it.each(['accessToken', 'apiKey', 'refreshToken', 'headers', 'authorization'])(
    'a context that holds more than references: %s (T-28a, C-14)',
    async (name) => {
      const given = { ...context, [name]: secret } as ToolInvocation['context'];
      const thrown = await run(probe.bound(), { context: given }).catch((error: unknown) => error);
      expect(String(thrown)).toMatch(new RegExp(`may not hold "${name}"`));
      expect(String(thrown)).not.toContain(secret);
      expect(probe.seen).toEqual([]);
    },
  );

  it.each(['actorId', 'tenantId'])('a call without a principal: without %s (T-F2a)', async (name) => {
    await expect(run(probe.bound(), { context: { ...context, [name]: '' } })).rejects.toThrow(/anonymously/);
    expect(probe.seen).toEqual([]);
  });
});

describe('a tool without an allowlist', () => {
  it.each(['an empty one', 'none at all'])(
    'gives redaction_failed and nothing of its result: %s (E-06, T-04c, X-20)',
    async (how) => {
      const redaction = (how === 'none at all' ? undefined : { fields: [] }) as unknown as Redaction;
      const result = await run(probe.under(redaction));
      expect(result).toMatchObject({ ok: false, errorCode: 'redaction_failed' });
      expect(JSON.stringify(result)).not.toContain(secret);
      expect(probe.seen).toHaveLength(1);
    },
  );
});

describe('the result (P-12, P-14, P-15)', () => {
  it.each([['text'], [7], [false], [null], [['a', 1]], [{ a: { b: [] } }]])(
    'may be any JSON value: %j',
    async (value) => {
      const whole: BoundTool = {
        ...probe.bound(),
        exec: () => Promise.resolve(value),
        validateOutput: (output) => output as never,
        redact: (output) => output,
      };
      expect(await run(whole)).toEqual({ toolCallId: 'c-1', ok: true, value, resultHash: 'hash' });
    },
  );
});
