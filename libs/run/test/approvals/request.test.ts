import { describe, expect, it } from '@jest/globals';
import type { Evaluator } from '@sluice/core';
import { approvalRequest } from '@sluice/run';
import type { LoggedTurn } from '@sluice/run';

const judge = (version: string, approvalMs: number) =>
  ({ configuration: { version, policy: { approvalMs } } }) as unknown as Evaluator;
const call = { toolCallId: 'c-1', tool: 'core__write', arguments: '{}', argumentsBytes: null, providerData: null };
const asking = {
  ...{ approvalId: 'a-1', toolCallId: 'c-1', effect: 'state_change' as const, arguments: '{}' },
  ...{ requestedBy: 'user:ann', onBehalfOf: null, tenantId: 'acme' },
};

describe('how long an approval is waited for', () => {
  it.each([
    ['as the granting configuration says where that is shorter', 1_000, 5_000, 9_000, 1_100],
    [
      'as the configuration in force says where that is shorter: it may have become so since',
      5_000,
      1_000,
      9_000,
      1_100,
    ],
    ['no longer than the run may last', 5_000, 5_000, 700, 700],
  ])('%s', (_, granted, inForce, deadline, expiresAt) => {
    const record = { ...{ calls: [call], run: { deadline } }, requestId: 'r', sessionId: 's', iteration: 1 };
    const turn = { topic: 'agent.tool-calls', partition: 0, offset: 7, record } as unknown as LoggedTurn;
    const judges = { granting: judge('c-1', granted), inForce: judge('c-2', inForce) };
    expect(approvalRequest(turn, 0, asking, [], judges, 100)).toMatchObject({
      ...{ requestedAt: 100, expiresAt, inForceVersion: 'c-2' },
    });
  });
});
