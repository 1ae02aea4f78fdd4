import { describe, expect, it } from '@jest/globals';
import {
  faultText,
  ToolAnswerUnreadableError,
  ToolConnectionDeniedError,
  ToolConnectionUnreachableError,
  ToolFailedError,
  ToolInputError,
  ToolOutcomeLostError,
  ToolTimeoutError,
  ToolUnavailableError,
  ToolUserError,
} from '@sluice/core';
import type { BoundTool, JsonValue, ToolExecResult, ToolPipeline } from '@sluice/core';
import { invocation, pipeline, resultOf, secret, tool } from './watched-pipeline.js';

describe('the pipeline (spec/tool-use.md §2b)', () => {
  it('goes through its stages in the one order (P-13)', async () => {
    const made = pipeline(tool());
    const resultHash = 'hash of k {"a":1}';
    expect(await resultOf(invocation(), made)).toEqual({ toolCallId: 'c-1', ok: true, value: { a: 1 }, resultHash });
    expect(made.seen).toEqual([
      'eligible',
      'policy',
      'lookup',
      'authorize',
      'connection',
      'validate input',
      'authorize validated',
      'bounds',
      'approval',
      'rate',
      'capabilities',
      'once',
      'start',
      'execute',
      'validate output',
      'hash',
      'redact',
      'conceal',
      'result',
    ]);
  });

  it.each([
    ['denied', new ToolConnectionDeniedError('None for you.'), 'authz_denied', 'connection_denied'],
    ['out of reach', new ToolConnectionUnreachableError('Not now.'), 'unavailable', 'connection_unreachable'],
  ])(
    'tells a credential that is %s apart, before the tool runs or in it (P-06a, X-22)',
    async (_, error, errorCode, reason) => {
      const before = pipeline(tool(), { capabilities: () => Promise.reject(error) });
      expect(await resultOf(invocation(), before)).toMatchObject({ ok: false, errorCode, reason });
      expect(before.seen).not.toContain('execute');
      const during = pipeline(tool({ exec: () => Promise.reject(error) }));
      expect(await resultOf(invocation(), during)).toMatchObject({ ok: false, errorCode, reason });
    },
  );

  it.each([{ actorId: '' }, { tenantId: '' }, { tenantId: ' ' }, { tenantId: undefined as unknown as string }])(
    'makes no call of an unknown caller: %j',
    async (missing) => {
      const made = pipeline(tool());
      const call = invocation();
      const end = resultOf({ ...call, context: { ...call.context, ...missing } }, made);
      await expect(end).rejects.toThrow('names its actor and its tenant');
      expect(made.seen).toEqual([]);
    },
  );

  it('takes no connectionId as an argument where the tool is bound to a connection, however open its schema is', async () => {
    const given = { ...invocation(), args: { connectionId: 'other' } };
    const bound = pipeline(tool({ requiresConnection: true }));
    expect(await resultOf(given, bound)).toMatchObject({
      ok: false,
      errorCode: 'validation',
      safeMessage: expect.stringMatching(/Leave connectionId out/),
    });
    expect(bound.seen).not.toContain('execute');
    expect(await resultOf(given, pipeline(tool()))).toMatchObject({ ok: true });
  });

  it('asks for the limit per minute after everything else that can refuse, and claims nothing beyond it (XB-32)', async () => {
    const over = { ok: false, code: 'unavailable', reason: 'rate_limited', message: 'Try again in 7 s.' } as const;
    const made = pipeline(tool(), { rate: () => Promise.resolve(over) });
    expect(await resultOf(invocation(), made)).toMatchObject({ ok: false, reason: 'rate_limited' });
    expect(made.seen.slice(-2)).toEqual(['approval', 'result']);
    const wrong = pipeline(
      tool({
        validateInput: () => {
          throw new ToolInputError([]);
        },
      }),
    );
    await resultOf(invocation(), wrong);
    expect(wrong.seen).not.toContain('rate');
  });

  const denied = (code: 'unavailable' | 'policy_denied' | 'authz_denied') =>
    ({ ok: false, code, message: 'No.' }) as const;
  it.each([
    ['an ineligible tool', { eligible: () => denied('policy_denied') }, 'policy_denied'],
    [
      'an unknown tool, whatever the policy (P-01)',
      { eligible: () => denied('unavailable'), allowed: () => denied('policy_denied') },
      'unavailable',
    ],
    ['what the policy does not allow (P-02)', { allowed: () => denied('policy_denied') }, 'policy_denied'],
    ['what is not authorized (P-03)', { authorize: () => Promise.resolve(denied('authz_denied')) }, 'authz_denied'],
    [
      'a connection that is not granted (P-04a)',
      { connection: () => Promise.resolve(denied('policy_denied')) },
      'policy_denied',
    ],
    [
      'a capability out of reach (X-22)',
      { capabilities: () => Promise.reject(new ToolUnavailableError('The broker is away.')) },
      'unavailable',
    ],
  ] as const)(
    'refuses %s before anything runs, with one result event (X-7, X-21, E-02, E-03, P-14)',
    async (_, changes, code) => {
      const made = pipeline(tool(), changes as Partial<ToolPipeline>);
      const result = await resultOf(invocation(), made);
      expect(result).toMatchObject({ ok: false, errorCode: code, toolCallId: 'c-1' });
      expect(made.seen).not.toContain('execute');
      expect(made.seen).not.toContain('start');
      expect(made.seen.filter((name) => name === 'result')).toHaveLength(1);
    },
  );

  it('says unavailable for a tool that is not bound (X-8)', async () => {
    expect(await resultOf(invocation(), pipeline(undefined))).toMatchObject({ ok: false, errorCode: 'unavailable' });
  });

  it('names the paths of bad arguments and starts nothing (P-05)', async () => {
    const made = pipeline(
      tool({
        validateInput: () => {
          throw new ToolInputError([{ path: '/a', message: 'must be a text' }]);
        },
      }),
    );
    expect(await resultOf(invocation(), made)).toMatchObject({
      errorCode: 'validation',
      safeMessage: expect.stringContaining('/a: must be a text'),
    });
    expect(made.seen).not.toContain('start');
  });

  it.each([
    ['an exception’s text', new Error(secret), 'The tool failed.'],
    ['no exception’s text but a declared one', new ToolUserError('No such file: notes.txt'), 'No such file: notes.txt'],
  ])('passes on %s, under the code of a tool that failed (E-05, E-09, P-08, XB-27)', async (_, error, text) => {
    const result = await resultOf(invocation(), pipeline(tool({ exec: () => Promise.reject(error) })));
    expect(result).toMatchObject({ errorCode: 'execution', safeMessage: expect.stringContaining(text) });
    expect(JSON.stringify(result)).not.toContain(secret);
  });

  it.each([
    [
      'what the tool says itself',
      new ToolUserError('No such file.'),
      { reason: 'user_error', safeMessage: 'No such file.' },
    ],
    [
      'what broke beneath a tool that reads',
      new ToolFailedError('The disk is full.'),
      { safeMessage: 'The disk is full. Try again or use another tool.' },
    ],
    [
      'why an answer was lost, where it was not the connection',
      new ToolAnswerUnreadableError(secret),
      { safeMessage: 'The answer could not be read. Try again or use another tool.' },
    ],
  ])('tells apart %s (M-33, M-34)', async (_, error, expected) => {
    const reading = tool({ effect: 'read_only', exec: () => Promise.reject(error) });
    expect(await resultOf(invocation(), pipeline(reading))).toEqual({
      ...{ toolCallId: 'c-1', ok: false, errorCode: 'execution' },
      ...expected,
    });
    const changing = tool({ effect: 'state_change', exec: () => Promise.reject(new ToolFailedError('Full.')) });
    expect(await resultOf(invocation(), pipeline(changing))).toMatchObject({
      safeMessage: 'Full. Find out whether it took effect before you call it again.',
    });
  });

  it('turns an exception thrown before the first await into a result as well', async () => {
    const throwing = tool({
      exec: () => {
        throw new Error(secret);
      },
    });
    expect(await resultOf(invocation(), pipeline(throwing))).toMatchObject({ errorCode: 'execution' });
  });

  it.each<[string, Partial<BoundTool>, string[]]>(
    [
    ['throws', { exec: () => Promise.reject(new Error(secret)) }, ['execution']],
    ['tells the model', { exec: () => Promise.reject(new ToolUserError('Ask for less.')) }, []],
    ['cannot be reached, by a cause', { exec: () => Promise.reject(new ToolUnavailableError('No.', { cause: new Error(secret) })) }, ['execution']],
    ['checks badly', { validateInput: () => { throw new RangeError(secret); } }, ['arguments']],
    ['refuses arguments', { validateInput: () => { throw new ToolInputError([{ path: '/a', message: 'no' }]); } }, []],
    ['gives another shape', { validateOutput: () => { throw new Error(secret); } }, ['output']],
    ['cannot be redacted', { redact: () => { throw new Error(secret); } }, ['redaction']],
    ['throws a proxy', { exec: () => Promise.reject(new Proxy(new Error(), { getPrototypeOf: () => { throw new Error(); } })) }, ['execution']],
  ] /* prettier-ignore */,
  )('tells the operator what a tool did that %s, and the model nothing of it', async (_does, changes, at) => {
    const faults: [string, unknown][] = [];
    const heard = {
      onFault: (_tool: unknown, _call: unknown, part: string, error: unknown) => void faults.push([part, error]),
    };
    const result = await resultOf(invocation(), pipeline(tool(changes), heard));
    expect(result.ok).toBe(false);
    expect(JSON.stringify(result)).not.toContain(secret);
    expect(faults.map(([part]) => part)).toEqual(at);
    for (const [, error] of faults) expect(typeof faultText(error)).toBe('string');
  });

  it('says of a fault its kind, its code, what was denied, what caused it and where', () => {
    const cause = Object.assign(new Error('denied'), {
      code: 'ERR_ACCESS_DENIED',
      permission: 'FileSystemWrite',
      resource: '/x',
    });
    expect(faultText(new TypeError('It broke.', { cause }))).toMatch(
      /^TypeError: It broke\.; caused by Error: denied \[ERR_ACCESS_DENIED\] \[FileSystemWrite \/x\] \(at /,
    );
    expect(faultText('a text')).toBe('It is no Error: a text');
    expect(faultText(new Error('x'.repeat(9_000)))).toHaveLength(2_000);
  });

  it('refuses output of the wrong shape without showing it (P-09, X-5)', async () => {
    const wrong = tool({
      validateOutput: () => {
        throw new Error(secret);
      },
    });
    const result = await resultOf(invocation(), pipeline(wrong));
    expect(result).toMatchObject({ errorCode: 'validation', reason: 'output_invalid' });
    expect(JSON.stringify(result)).not.toContain(secret);
  });

  it('keeps a hash of what the tool gave, also of what is then taken out or withheld, and none where it gave nothing (XB-26)', async () => {
    const resultHash = 'hash of k {"a":1}';
    const redacting = (redact: BoundTool['redact']) => resultOf(invocation(), pipeline(tool({ redact })));
    expect(await redacting(() => ({}))).toMatchObject({ ok: true, value: {}, resultHash });
    const withheld = redacting(() => {
      throw new Error('secret');
    });
    expect(await withheld).toMatchObject({ errorCode: 'redaction_failed', resultHash });
    const failing = tool({ exec: () => Promise.reject(new Error('no')) });
    expect(await resultOf(invocation(), pipeline(failing))).not.toHaveProperty('resultHash');
    let deep: JsonValue = 1;
    for (let level = 0; level < 500_000; level++) deep = [deep];
    const burrowing = tool({ exec: () => Promise.resolve(deep), redact: () => 'fine' });
    expect(await resultOf(invocation(), pipeline(burrowing))).toEqual({ toolCallId: 'c-1', ok: true, value: 'fine' });
  });

  it('withholds what cannot be redacted (E-06, P-10)', async () => {
    const broken = tool({
      redact: () => {
        throw new Error(secret);
      },
    });
    const result = await resultOf(invocation(), pipeline(broken));
    expect(result).toMatchObject({ errorCode: 'redaction_failed' });
    expect(JSON.stringify(result)).not.toContain(secret);
  });

  it.each([
    [64, true],
    [65, false],
    [4_000, false],
  ])('takes arguments nested %i levels deep: %s', async (levels, ok) => {
    const args = JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`) as JsonValue;
    const result = await resultOf(invocation({ args }), pipeline(tool()));
    expect(result).toMatchObject(ok ? { ok } : { errorCode: 'validation' });
  });

  it('does not run a tool whose check of the arguments breaks', async () => {
    const made = pipeline(
      tool({
        validateInput: () => {
          throw new RangeError(secret);
        },
      }),
    );
    const result = await resultOf(invocation(), made);
    expect(result).toMatchObject({ errorCode: 'validation' });
    expect(JSON.stringify(result)).not.toContain(secret);
    expect(made.seen).not.toContain('execute');
  });

  it.each([
    [8_192, true],
    [8_193, false],
  ])('takes arguments of %i bytes: %s (L-02, E-04)', async (argumentBytes, ok) => {
    expect(await resultOf(invocation({ argumentBytes }), pipeline(tool()))).toMatchObject({ ok });
  });

  it.each([
    [32_768, true],
    [32_769, false],
  ])('passes a redacted result of %i bytes: %s, and cuts nothing (L-03, L-06, X-6, X-16)', async (bytes, ok) => {
    // The quotes count: the limit is on the JSON text. An umlaut is two bytes.
    const value = `ü${'x'.repeat(bytes - 4)}`;
    const result = await resultOf(invocation(), pipeline(tool({ exec: () => Promise.resolve(value) })));
    expect(result.ok).toBe(ok);
    if (!result.ok) expect(result).toMatchObject({ errorCode: 'execution', reason: 'result_too_large' });
  });

  it.each([
    ['read_only', true, 'timeout'],
    // A new call of the model's has another key, so that the tool could not know it again.
    ['state_change', true, 'outcome_unknown'],
    ['state_change', false, 'outcome_unknown'],
  ] as const)('cuts a tool that hangs (E-08, L-05): %s, repeatable %s, says %s', async (effect, repeatable, reason) => {
    const hanging = tool({ effect, repeatable, exec: () => new Promise(() => undefined) });
    const result = await resultOf(invocation({ timeoutMs: 10 }), pipeline(hanging));
    expect(result).toMatchObject({ errorCode: 'execution', reason });
  });

  it.each([
    ['read_only', undefined],
    ['state_change', 'outcome_unknown'],
  ] as const)('knows that a lost answer may hide an effect: %s says %s', async (effect, reason) => {
    const lost = () => Promise.reject(new ToolOutcomeLostError(secret));
    const result = await resultOf(invocation(), pipeline(tool({ effect, repeatable: true, exec: lost })));
    expect(result).toMatchObject({ errorCode: 'execution', ...(reason === undefined ? {} : { reason }) });
    expect(JSON.stringify(result)).not.toContain(secret);
  });

  it.each([
    ['read_only', 'timeout'],
    ['state_change', 'outcome_unknown'],
  ] as const)('knows a tool that measured its time by itself: %s says %s', async (effect, reason) => {
    const late = () => Promise.reject(new ToolTimeoutError(secret));
    const result = await resultOf(invocation(), pipeline(tool({ effect, exec: late })));
    expect(result).toMatchObject({ errorCode: 'execution', reason });
  });

  it('aborts the tool’s signal when its time is up', async () => {
    let signal: AbortSignal | undefined;
    const made = pipeline(tool({ exec: () => new Promise(() => undefined) }), {
      capabilities: (_tool, _invocation, given) => {
        signal = given;
        return Promise.resolve({});
      },
    });
    await resultOf(invocation({ timeoutMs: 10 }), made);
    expect(signal?.aborted).toBe(true);
  });

  it('throws, and writes no end, when the service gives the record up', async () => {
    const given = new AbortController();
    const made = pipeline(tool({ exec: () => new Promise(() => undefined) }));
    const running = resultOf(invocation({ signal: given.signal }), made);
    setTimeout(() => given.abort(new Error('moved')), 5);
    await expect(running).rejects.toThrow('moved');
    expect(made.seen).not.toContain('result');
  });

  it('lets a fault of the system through (a ledger out of reach is no refusal)', async () => {
    const made = pipeline(tool(), { once: () => Promise.reject<ToolExecResult>(new Error('ledger away')) });
    await expect(resultOf(invocation(), made)).rejects.toThrow('ledger away');
  });
});
