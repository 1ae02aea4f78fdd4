import { getEventListeners } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import {
  CallSecrets,
  JsonTooLargeError,
  ToolOutcomeLostError,
  ToolOutput,
  ToolUnavailableError,
  ToolUserError,
} from '@sluice/core';
import type {
  BoundTool,
  JsonObject,
  JsonValue,
  ToolInvocation,
  ToolInvocationContext,
  ToolPipeline,
} from '@sluice/core';
import { invocation, pipeline, resultOf, secret, tool } from './watched-pipeline.js';

const never = (): Promise<never> => new Promise(() => undefined);

describe('what goes from one stage of the pipeline to the next', () => {
  it('is the arguments as they were checked, the capabilities as they were bound, and the references (P-07, P-08, T-32b)', async () => {
    const handed: Record<string, unknown[]> = {};
    const bound = { clock: { now: () => 0 } };
    const checking = tool({
      validateInput: (raw) => ({ ...(raw as object), filled: 'by default' }),
      exec: (...given) => {
        handed['exec'] = given;
        return Promise.resolve(null);
      },
    });
    const made = pipeline(checking, {
      approval: (_tool, _invocation, args) => {
        handed['approval'] = [args];
        return Promise.resolve({ ok: true });
      },
      capabilities: () => Promise.resolve(bound),
      onStart: (_invocation, args) => void (handed['start'] = [args]),
    });
    const call = invocation();
    await resultOf(call, made);
    const args = { a: 1, filled: 'by default' };
    expect(handed).toEqual({ approval: [args], start: [args], exec: [args, call.context, bound] });
    expect(handed['exec']?.[2]).toBe(bound);
    expect(Object.isFrozen(handed['exec']?.[1])).toBe(true);
    expect(call.args).toEqual({ a: 1 });
  });

  it.each(['accessToken', 'headers'])(
    'is nothing where a context holds %s: no stage is asked (T-28a, C-14)',
    async (name) => {
      const made = pipeline(tool());
      const context = { ...invocation().context, [name]: secret } as ToolInvocationContext;
      const thrown = await resultOf(invocation({ context }), made).catch(String);
      expect(thrown).toContain(`may not hold "${name}"`);
      expect(thrown).not.toContain(secret);
      expect(made.seen).toEqual([]);
    },
  );

  it.each(['actorId', 'tenantId'])('is nothing where a context has no %s (T-F2a)', async (name) => {
    const made = pipeline(tool());
    const context = { ...invocation().context, [name]: '' };
    await expect(resultOf(invocation({ context }), made)).rejects.toThrow(/anonymously/);
    expect(made.seen).toEqual([]);
  });

  it('ends with the words and the reason of the stage that refused (P-14)', async () => {
    const refused = { ok: false, code: 'policy_denied', reason: 'no_approver', message: 'Nobody may.' } as const;
    const result = await resultOf(invocation(), pipeline(tool(), { allowed: () => refused }));
    expect(result).toEqual({
      toolCallId: 'c-1',
      ok: false,
      errorCode: 'policy_denied',
      reason: 'no_approver',
      safeMessage: 'Nobody may.',
    });
  });

  it('ends for the system where capabilities fail in a way that is no refusal', async () => {
    const made = pipeline(tool(), { capabilities: () => Promise.reject(new TypeError('a mistake')) });
    await expect(resultOf(invocation(), made)).rejects.toThrow('a mistake');
    expect(made.seen).not.toContain('result');
  });
});

describe('the connection of a tool', () => {
  /** What the ledger does with a call: connects, and claims it where that went well. */
  const claiming: Partial<ToolPipeline> = {
    once: async (_tool, _invocation, effect, _ask, connect) => (await connect?.()) ?? effect(),
  };
  const changing = (changes: Partial<BoundTool>): BoundTool => tool({ effect: 'state_change', ...changes });

  it('comes behind the start that is said of the call, once, and has its context, capabilities and time', async () => {
    const handed: unknown[] = [];
    const connecting = changing({
      connect: async (...given) => {
        handed.push(...given, [...made.seen]);
      },
    });
    const bound = { clock: { now: () => 0 } };
    const made = pipeline(connecting, { ...claiming, capabilities: () => Promise.resolve(bound) });
    const call = invocation();
    expect(await resultOf(call, made)).toMatchObject({ ok: true });
    expect(handed).toEqual([call.context, bound, 1_000, expect.arrayContaining(['rate', 'start'])]);
    expect(made.seen.filter((stage) => stage === 'start')).toHaveLength(1);
  });

  it.each<[string, BoundTool['connect'], object]>([
    ['that is refused', () => Promise.reject(new ToolUnavailableError('Away.')), { errorCode: 'unavailable' }],
    ['that takes longer than the call may', never, { errorCode: 'unavailable' }],
    ['that was lost', () => Promise.reject(new ToolOutcomeLostError('x')), { errorCode: 'execution' }],
  ])('%s leaves no doubt about the effect: its tool does not run', async (_, connect, expected) => {
    const made = pipeline(changing({ connect: connect as never }), claiming);
    const result = await resultOf(invocation({ timeoutMs: 30 }), made);
    expect(result).toMatchObject({ ok: false, ...expected });
    expect(result).not.toMatchObject({ reason: 'outcome_unknown' });
    expect(made.seen).not.toContain('execute');
  });

  it('of a call that is cancelled meanwhile ends it, which was not sent', async () => {
    const onCancel: ToolPipeline['onCancel'] = (_invocation, cancel) => {
      setTimeout(cancel, 5);
      return () => undefined;
    };
    const result = await resultOf(invocation(), pipeline(changing({ connect: never }), { ...claiming, onCancel }));
    expect(result).toMatchObject({ ok: false, errorCode: 'execution', reason: 'cancelled' });
  });

  it('takes its time from that of the call', async () => {
    const times: number[] = [];
    const slow = changing({ connect: () => new Promise((resolve) => void setTimeout(resolve, 50)) });
    const after: ToolPipeline['after'] = (milliseconds) => {
      times.push(milliseconds);
      return () => undefined;
    };
    await resultOf(invocation(), pipeline(slow, { ...claiming, after }));
    expect(times).toEqual([1_000, expect.any(Number)]);
    expect(times[1]).toBeLessThan(960);
    expect(times[1]).toBeGreaterThan(0);
  });
});

describe('what a tool gives that cannot go on', () => {
  const tooLarge = { errorCode: 'execution', reason: 'result_too_large' };
  it.each<[string, Partial<BoundTool>, object]>([
    ['more than its check will copy', { validateOutput: () => raise(new JsonTooLargeError()) }, tooLarge],
    ['more than it will read itself', { exec: () => Promise.reject(new JsonTooLargeError()) }, tooLarge],
    [
      'what is no JSON once it is redacted',
      { redact: () => Number.NaN as JsonValue },
      { errorCode: 'validation', reason: 'output_invalid' },
    ],
  ])('%s has its own code (X-16, L-04)', async (_, changes, expected) => {
    expect(await resultOf(invocation(), pipeline(tool(changes)))).toMatchObject({ ok: false, ...expected });
  });

  const looksBack = new Proxy(new Error(secret), { getPrototypeOf: () => raise(new Error(secret)) });
  const wordless = Object.defineProperty(new ToolUserError(''), 'message', { get: () => raise(new Error(secret)) });
  it.each<[string, unknown]>([
    ['that throws when it is looked at', looksBack],
    ['whose words throw when they are read', wordless],
    ['of more words than a model should read', new ToolUserError('x'.repeat(1_000_000))],
  ])('an error %s is a failure like any other (E-05, E-09)', async (_, error) => {
    const made = pipeline(tool({ exec: () => Promise.reject(error as Error) }));
    const result = await resultOf(invocation(), made);
    expect(result).toMatchObject({ ok: false, errorCode: 'execution' });
    const { length } = result.ok ? '' : result.safeMessage;
    expect(length).toBeGreaterThan(10);
    expect(length).toBeLessThanOrEqual(4_097);
    expect(JSON.stringify(result)).not.toContain(secret);
  });
});

describe('what is taken out of a result because it is a credential', () => {
  /** Puts something else in the place of what the tool gave. */
  const concealing = (value: JsonValue): Partial<ToolPipeline> => ({
    conceal: (_tool, result) => (result.ok ? { ...result, value } : result),
  });

  it('leaves a result that is measured again: what stands in its place may be longer (L-03, X-16)', async () => {
    const limits = { argumentBytes: 8_192, resultBytes: 100, contentBytes: 100 };
    const small = pipeline(tool(), { ...concealing('x'.repeat(98)), limits });
    expect(await resultOf(invocation(), small)).toMatchObject({ ok: true });
    const large = pipeline(tool(), { ...concealing('x'.repeat(99)), limits });
    expect(await resultOf(invocation(), large)).toMatchObject({
      ...{ ok: false, errorCode: 'execution', reason: 'result_too_large', resultHash: 'hash of k {"a":1}' },
    });
  });

  it('leaves a failure whose text is cut again', async () => {
    const made = pipeline(tool({ exec: () => Promise.reject(new ToolUserError('No.')) }), {
      conceal: (_tool, result) => (result.ok ? result : { ...result, safeMessage: 'x'.repeat(20_000) }),
    });
    const result = await resultOf(invocation(), made);
    expect(result.ok ? Infinity : result.safeMessage.length).toBeLessThanOrEqual(4_097);
  });

  it.each<[string, Partial<ToolPipeline>, Partial<BoundTool>, boolean]>([
    ['kept as it came', {}, {}, true],
    ['not kept where it held one', concealing('[hidden]'), {}, false],
    ['not kept where the tool failed', {}, { exec: () => Promise.reject(new Error('x')) }, false],
    ['not kept where it is not of its shape', {}, { validateOutput: () => raise(new Error('x')) }, false],
    ['not kept where the tool has no cache', {}, { cacheMs: undefined } as unknown as Partial<BoundTool>, false],
  ])('is in no cache: an output is %s', async (_, stages, changes, isKept) => {
    const made = pipeline(tool({ cacheMs: 1_000, ...changes }), stages);
    await resultOf(invocation(), made);
    expect(made.seen.includes('keep')).toBe(isKept);
  });
});

describe('the answer beside a value', () => {
  const answer = { content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }] };
  const keptOf = async (given: JsonObject, changes: Partial<BoundTool>, stages: Partial<ToolPipeline> = {}) => {
    const kept: JsonObject[] = [];
    const bound = tool({ exec: () => Promise.resolve(new ToolOutput({ title: 'Sea' }, given)), ...changes });
    const keepAnswer: ToolPipeline['keepAnswer'] = (_invocation, one) => {
      kept.push(one);
      return Promise.resolve([]);
    };
    await resultOf(invocation(), pipeline(bound, { keepAnswer, ...stages }));
    return kept;
  };
  const fields = { spec: { ...tool().spec, redaction: { fields: ['title'] } } };

  it('is kept as it came where the redaction leaves it whole, and else what the tool lets pass', async () => {
    expect(await keptOf(answer, {})).toEqual([answer]);
    expect(await keptOf(answer, fields)).toEqual([]);
    const redactAnswer = (one: JsonObject, value: JsonValue) => ({ ...one, structuredContent: value });
    expect(await keptOf(answer, { ...fields, redactAnswer })).toEqual([
      { ...answer, structuredContent: { title: 'Sea' } },
    ]);
    expect(await keptOf(answer, { ...fields, redactAnswer: () => null })).toEqual([]);
  });

  it('is not kept where it repeats a credential that the value does not have', async () => {
    const secrets = new CallSecrets();
    secrets.add([secret]);
    const conceal: ToolPipeline['conceal'] = (_tool, result) => secrets.result(result);
    const repeating = { content: [{ type: 'text', text: `with ${secret}` }] };
    expect(await keptOf(repeating, {}, { conceal })).toEqual([]);
    expect(secrets.wereFound).toBe(true);
    expect(await keptOf(answer, {}, { conceal })).toEqual([answer]);
  });
});

describe('a result that is larger than a record (X-16)', () => {
  const name = { hash: 'a'.repeat(64), type: 'text/plain', size: 40_000, kind: 'value', name: null };
  const text = 'x'.repeat(40_000);
  const effectful = { effect: 'state_change', repeatable: false } as const;
  const result = (changes: Partial<BoundTool>, limits: Partial<ToolPipeline['limits']>, kept: typeof name | null) => {
    const asked: string[] = [];
    const made = pipeline(tool({ exec: () => Promise.resolve(text), ...changes }), {
      limits: { argumentBytes: 8_192, resultBytes: 32_768, contentBytes: 100_000, ...limits },
      keepResult: (_invocation, type, whole) => {
        asked.push(`${type} ${whole.length}`);
        return Promise.resolve(kept);
      },
    });
    return resultOf(invocation(), made).then((ended) => ({ ended, asked }));
  };

  it('is kept whole, and its first page stands in its place', async () => {
    const { ended, asked } = await result({}, {}, name);
    expect(asked).toEqual(['text/plain 40000']);
    expect(ended).toMatchObject({ ok: true, content: [name], value: { content: 'a'.repeat(16), size: 40_000 } });
  });

  it.each<[string, Partial<BoundTool>, Partial<ToolPipeline['limits']>, RegExp, number]>([
    ['the store does not take it', {}, {}, /could not be kept elsewhere\. Ask for less/, 1],
    ['the store does not take it, after an effect', effectful, {}, /elsewhere\. The call took effect: do not/, 1],
    [
      'content may not be so large',
      effectful,
      { contentBytes: 39_999 },
      /limit of 39999 bytes\. The call took effect/,
      0,
    ],
    ['there is no store', {}, { contentBytes: 0 }, /limit of 32768 bytes\. Ask for less/, 0],
    ['a record has no room for a page', {}, { resultBytes: 2_047 }, /limit of 2047 bytes\. Ask for less/, 0],
  ])('is a failure that says what happened where %s', async (_, changes, limits, message, count) => {
    const { ended, asked } = await result(changes, limits, null);
    expect(ended).toMatchObject({ ok: false, errorCode: 'execution', reason: 'result_too_large' });
    expect(ended.ok ? '' : ended.safeMessage).toMatch(message);
    expect(asked).toHaveLength(count);
  });
});

describe('the end of a call', () => {
  it.each<[string, Partial<BoundTool>]>([
    ['a result', {}],
    ['a failure', { exec: () => Promise.reject(new Error('x')) }],
  ])('ends what the tool still asks of others: %s', async (_, changes) => {
    let signal: AbortSignal | undefined;
    const made = pipeline(tool(changes), {
      capabilities: (_tool, _invocation, own) => {
        signal = own;
        return Promise.resolve({});
      },
    });
    const call = invocation();
    await resultOf(call, made);
    expect(signal?.aborted).toBe(true);
    expect(call.signal.aborted).toBe(false);
  });

  it('reaches the tool where the service gives the record up', async () => {
    const given = new AbortController();
    const reason = new Error('the partition moved');
    let signal: AbortSignal | undefined;
    const made = pipeline(tool({ exec: never }), {
      capabilities: (_tool, _invocation, own) => {
        signal = own;
        return Promise.resolve({});
      },
      onStart: () => given.abort(reason),
    });
    await expect(resultOf(invocation({ signal: given.signal }), made)).rejects.toBe(reason);
    expect(signal?.reason).toBe(reason);
  });

  it('comes before the tool where the record was abandoned before', async () => {
    const made = pipeline(tool());
    const call = invocation({ signal: AbortSignal.abort(new Error('moved')) });
    await expect(resultOf(call, made)).rejects.toThrow('moved');
    expect(made.seen).not.toContain('execute');
    expect(made.seen).not.toContain('result');
  });

  const denied = { ok: false, code: 'policy_denied', message: 'No.' } as const;
  it.each<[string, Partial<BoundTool>, Partial<ToolPipeline>]>([
    ['a result', {}, {}],
    ['a failure', { exec: () => Promise.reject(new Error('x')) }, {}],
    ['a refusal', {}, { rate: () => Promise.resolve(denied) }],
    ['a missing capability', {}, { capabilities: () => Promise.reject(new Error('x')) }],
    ['a ledger that is away', {}, { once: () => Promise.reject(new Error('x')) }],
  ])('leaves no listener and no timer behind: %s', async (_, changes, stages) => {
    let timers = 0;
    const made = pipeline(tool(changes), {
      ...stages,
      after: () => {
        timers++;
        return () => void timers--;
      },
    });
    const call: ToolInvocation = invocation();
    await resultOf(call, made).catch(() => undefined);
    expect(timers).toBe(0);
    expect(getEventListeners(call.signal, 'abort')).toEqual([]);
  });
});

function raise(error: Error): never {
  throw error;
}
