import { describe, expect, it } from '@jest/globals';
import type { Evaluator } from '@sluice/core';
import type { ToolCall } from '@sluice/contracts';
import { afterAgents, afterApproval, approvalRequest } from '@sluice/run';
import type { LoggedTurn } from '@sluice/run';

const judge = (version: string, approvalMs: number) =>
  ({
    configuration: { version, policy: { approvalMs }, limits: { parkedMs: 6_000 } },
    byId: (id: string) => (id === 'core__mail' ? { parkedMs: 300 } : {}),
  }) as unknown as Evaluator;
const call = { toolCallId: 'c-1', tool: 'core__write', arguments: '{}', argumentsBytes: null, providerData: null };
const asking = {
  ...{ approvalId: 'a-1', toolCallId: 'c-1', effect: 'state_change' as const, arguments: '{}' },
  ...{ requestedBy: 'user:ann', onBehalfOf: null, tenantId: 'acme' },
  ...{ asks: [], state: 'undefined', bound: '' },
  question: null,
};

describe('how long an approval is waited for', () => {
  const asks = (more: object, granted = 9_000, inForce = 9_000, tool = 'core__write') => {
    const record = {
      ...{ calls: [{ ...call, tool }], requestId: 'r', sessionId: 's', iteration: 1 },
      ...{ run: { deadline: 700, parkedMs: null, parent: null }, request: { deadline: null } },
      ...more,
    };
    const turn = { topic: 'agent.tool-calls', partition: 0, offset: 7, record } as unknown as LoggedTurn;
    return approvalRequest(
      turn,
      0,
      asking,
      [],
      { granting: judge('c-1', granted), inForce: judge('c-2', inForce) },
      100,
    );
  };

  it.each([
    ['as the granting configuration says where that is shorter', {}, 1_000, 5_000, 1_100],
    ['as the configuration in force says where that is shorter: it may have become so since', {}, 5_000, 1_000, 1_100],
    ['beyond the run’s own deadline, since waiting is no time of the run', {}, 5_000, 5_000, 5_100],
    ['no longer than limits.parked_seconds', {}, 9_000, 9_000, 6_100],
    ['no longer than is left of it', { run: { deadline: 700, parkedMs: 5_500, parent: null } }, 9_000, 9_000, 600],
    [
      'not at all where nothing is left of it',
      { run: { deadline: 700, parkedMs: 7_000, parent: null } },
      9_000,
      9_000,
      100,
    ],
    ['never beyond the deadline that the request names', { request: { deadline: 400 } }, 9_000, 9_000, 400],
    [
      'never beyond the deadline that the request of the calling run names',
      {
        run: { deadline: 700, parkedMs: null, parent: { tool: 'core__agent', wantedBy: 450 } },
        request: { deadline: 200 },
      },
      ...[9_000, 9_000, 450],
    ],
    [
      'no longer than the entry of the agent whose run it is says',
      { run: { deadline: 700, parkedMs: null, parent: { tool: 'core__mail', wantedBy: null } } },
      ...[9_000, 9_000, 400],
    ],
  ] as const)('%s', (_, more, granted, inForce, expiresAt) => {
    expect(asks(more, granted, inForce)).toMatchObject({ requestedAt: 100, expiresAt, inForceVersion: 'c-2' });
  });

  it('no longer than the tool’s entry says', () => {
    expect(asks({}, 9_000, 9_000, 'core__mail')).toMatchObject({ expiresAt: 400 });
  });
});

describe('what is asked names the agent as rules do', () => {
  const byId = (id: string) => (id === 'core__research' ? { key: 'research' } : {});
  const judge = { configuration: { version: 'c', policy: {}, limits: {} }, byId } as unknown as Evaluator;
  const named = (request: object, parent: object | null = null) => {
    const run = { deadline: 700, parkedMs: null, parent };
    const record = { calls: [call], requestId: 'r', sessionId: 's', iteration: 1, run, request };
    const turn = { topic: 'agent.tool-calls', partition: 0, offset: 7, record } as unknown as LoggedTurn;
    return approvalRequest(turn, 0, asking, [], { granting: judge, inForce: judge }, 100).agent;
  };

  it.each([
    [{ agent: 'support' }, null, 'support'],
    [{ agent: 'default' }, null, null],
    [{ agent: '' }, null, null],
    [{ agent: 'support', call: {} }, null, null],
    [{ agent: 'support' }, { tool: 'core__research', wantedBy: null }, 'research'],
    [{}, { tool: 'gone', wantedBy: null }, 'gone'],
  ] as const)('%j, called by %j: %s', (request, parent, agent) => {
    expect(named(request, parent)).toBe(agent);
  });
});

describe('a run that waited', () => {
  const turn = (parkedMs: number | null, deadline: number | null = null) =>
    ({ run: { deadline: 700, parkedMs, parent: null }, request: { deadline } }) as unknown as ToolCall;
  const asked = { parkedMs: null, requestedAt: 100, expiresAt: 9_000 };

  it('goes on with the time that it had left', () => {
    expect(afterApproval(turn(null), asked, 5_100).run).toMatchObject({ deadline: 5_700, parkedMs: 5_000 });
  });
  it('counts what it waited before in the same turn once', () => {
    const again = { ...asked, parkedMs: 5_000, requestedAt: 5_200 };
    expect(afterApproval(turn(null), again, 6_200).run).toMatchObject({ deadline: 6_700, parkedMs: 6_000 });
    expect(afterApproval(turn(5_000), again, 6_200).run).toMatchObject({ deadline: 1_700, parkedMs: 6_000 });
  });
  it('gains no time from an outcome that came late, or whose clock went back', () => {
    expect(afterApproval(turn(null), asked, 20_000).run).toMatchObject({ deadline: 9_600, parkedMs: 8_900 });
    expect(afterApproval(turn(null), asked, 50).run).toMatchObject({ deadline: 700, parkedMs: null });
  });
  it('ends by when the request wants its answer', () => {
    expect(afterApproval(turn(null, 5_200), asked, 5_100).run).toMatchObject({ deadline: 5_200, parkedMs: 5_000 });
  });
  it('waits as long as the longest of its agents that ran side by side', () => {
    const ended = [{ parkedMs: 400 }, { parkedMs: null }, { parkedMs: 2_000 }];
    expect(afterAgents(turn(300), ended).run).toMatchObject({ deadline: 2_400, parkedMs: 2_000 });
    expect(afterAgents(turn(300), [{ parkedMs: null }]).run).toMatchObject({ deadline: 700, parkedMs: 300 });
  });
});
