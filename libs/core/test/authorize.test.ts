import { describe, expect, it } from '@jest/globals';
import { authorize, recordedDenial } from '@sluice/core';
import type { AuthorizationAnswer, AuthorizationPort } from '@sluice/core';

const tool = { id: 'core__x', effect: 'state_change' } as const;
const context = {
  runId: 'run',
  sessionId: 's',
  toolCallId: 'c',
  actorId: 'agent:a',
  subjectId: 'user:s',
  tenantId: 't',
  connectionId: 'k-1',
};

function answering(answer: AuthorizationAnswer | Error) {
  const asked: unknown[][] = [];
  const port: AuthorizationPort = {
    check: (...given) => {
      asked.push(given);
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    },
  };
  return { port, asked };
}

const unexpected = (error: unknown): never => {
  throw error;
};
const yes = { allowed: true } as const;

describe('authorization of a call', () => {
  it('asks for actor, subject, action, resource and context (T-F1a)', async () => {
    const { port, asked } = answering(yes);
    expect(await authorize([port], 'tool.execute', tool, context, unexpected)).toEqual({ ok: true });
    expect(await authorize([port], 'connection.use', tool, context, unexpected)).toEqual({ ok: true });
    const rest = { tenantId: 't', runId: 'run', effect: 'state_change' };
    expect(asked).toEqual([
      ['agent:a', 'user:s', 'tool.execute', { type: 'tool', id: 'core__x' }, rest],
      ['agent:a', 'user:s', 'connection.use', { type: 'connection', id: 'k-1' }, rest],
    ]);
  });

  it.each([
    ['permission', 'not_permitted'],
    ['delegation', 'not_delegated'],
  ] as const)('without the %s is authz_denied, %s (E-03, T-F1b, K-38, K-39)', async (missing, reason) => {
    const { port } = answering({ allowed: false, missing });
    const verdict = await authorize([port], 'tool.execute', tool, context, unexpected);
    expect(verdict).toMatchObject({ ok: false, code: 'authz_denied', reason });
    // A refusal tells the model nothing of who is who.
    expect(JSON.stringify(verdict)).not.toMatch(/agent:a|user:s/);
  });

  it('that cannot be had is unavailable, and the reason stays inside (X-4, X-22)', async () => {
    const { port } = answering(new Error('policies at host-7 are gone'));
    const faults: unknown[] = [];
    const verdict = await authorize([port], 'tool.execute', tool, context, (error) => faults.push(error));
    expect(verdict).toMatchObject({ ok: false, code: 'unavailable', reason: 'authorizer_unreachable' });
    expect(JSON.stringify(verdict)).not.toContain('host-7');
    expect(faults).toHaveLength(1);
  });

  it('tells an authorizer of the call, of its arguments where it looks at them, and again where these differ', async () => {
    const [plain, looking] = [answering(yes), answering(yes)];
    const ports = [plain.port, { ...looking.port, looksAtArguments: (id: string) => id === tool.id }];
    const of = { claims: { accounts: ['a-1'] }, facts: { note: 'x' } };
    const about = (amount: number, before?: number) => ({
      ...{ ...of, arguments: () => ({ amount }) },
      ...(before === undefined ? {} : { before: () => ({ amount: before }) }),
    });
    for (const call of [about(1), about(1, 1), about(2, 1)])
      expect(await authorize(ports, 'tool.execute', tool, context, unexpected, call)).toEqual({ ok: true });
    const rest = { tenantId: 't', runId: 'run', effect: 'state_change', ...of };
    expect(plain.asked.map((given) => given[4])).toEqual([rest]);
    expect(looking.asked.map((given) => given[4])).toEqual([
      { ...rest, arguments: { amount: 1 } },
      { ...rest, arguments: { amount: 2 } },
    ]);
    const other = { ...tool, id: 'core__y' };
    await authorize(ports, 'tool.execute', other, context, unexpected, about(3));
    expect(looking.asked.at(-1)?.[4]).toEqual(rest);
  });

  it.each([
    [null, 'The caller is not permitted to use the tool core__x with these arguments. Change them, use another tool,'],
    ['amount', 'use the tool core__x with this value of its argument “amount”. Change it, use another tool,'],
  ])('says whether it is denied for arguments (%s), and replay reads it off the step again', async (argument, said) => {
    for (const missing of ['permission', 'delegation'] as const)
      for (const action of ['tool.execute', 'connection.use'] as const) {
        const denial = { allowed: false, missing, argument } as const;
        const verdict = await authorize([answering(denial).port], action, tool, context, unexpected);
        if (verdict.ok) throw new Error('It is denied.');
        if (missing === 'permission' && action === 'tool.execute') expect(verdict.message).toContain(said);
        const step = { outcome: verdict.code, reason: verdict.reason ?? null, observation: verdict.message };
        expect(recordedDenial(step, action)).toEqual(denial);
      }
  });

  it('that cannot say whether it looks at arguments is unavailable', async () => {
    const port = { ...answering(yes).port, looksAtArguments: unexpected };
    const call = { claims: {}, facts: {}, arguments: () => ({}) };
    const verdict = await authorize([port], 'tool.execute', tool, context, () => undefined, call);
    expect(verdict).toMatchObject({ ok: false, reason: 'authorizer_unreachable' });
  });

  it('needs every authorizer’s yes', async () => {
    const no = answering({ allowed: false, missing: 'permission' }).port;
    const all = answering(yes).port;
    for (const ports of [
      [no, all],
      [all, no],
    ])
      expect(await authorize(ports, 'tool.execute', tool, context, unexpected)).toMatchObject({ code: 'authz_denied' });
  });
});
