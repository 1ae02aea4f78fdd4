import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { localPrincipal } from '@sluice/core';
import { make, positionOf, topics } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import { createLog, openRuntime, readEnvironment, RunAccess } from '@sluice/host';
import type { OpenRuntime } from '@sluice/host';
import { claimRequest } from '@sluice/run';

describe('a call without a model, before a record of it names its caller', () => {
  const ids = { requestId: 'r', sessionId: 's' };
  const { tenantId: tenant } = localPrincipal;
  const folder = mkdtempSync(join(tmpdir(), 'sluice-access-'));
  let open: OpenRuntime;
  const requests: Incoming<'agent.calls'>[] = [];
  beforeAll(async () => {
    open = await openRuntime(readEnvironment({ SLUICE_DATA: folder, SLUICE_PORT: '0' }), createLog('silent'));
    const { bus } = open.runtime;
    const call = { tool: 't', arguments: '{}', order: null };
    const record = { ...make.agentRequest({ question: 'Q' }), ...ids, call };
    await bus.publish([1, 2].map(() => ({ topic: topics.calls, key: 's', record })));
    for await (const message of bus.read([topics.calls], { from: 'start', onUndecodable: () => undefined }))
      requests.push(message);
  });
  afterAll(async () => {
    await open.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const progress = {
    ...{ topic: topics.progress, partition: 0, offset: 0, key: 's', headers: {}, timestamp: 1 },
    record: { ...ids, tenantId: tenant, iteration: 1, kind: 'tool_progress', toolCallId: 'call-0' },
  } as unknown as Incoming;

  it('is the caller’s whose request has the run’s id, and no other’s', async () => {
    const [first, second] = requests;
    if (first === undefined || second === undefined) throw new Error('They are not there.');
    const access = (own: Incoming): RunAccess =>
      new RunAccess(
        localPrincipal,
        { requestId: 'r', isSender: (request) => Promise.resolve(positionOf(request) === positionOf(own)) },
        open.runtime,
      );
    const [early, owner, other, late] = [access(first), access(first), access(second), access(first)];
    expect(await early.concerns(first)).toBe(true);
    expect(await early.concerns(progress)).toBe(true);
    // Nothing has taken it so far.
    expect(early.of(progress)).toBe('keep');
    await claimRequest({ requestId: 'r', tenant }, positionOf(first), open.runtime);
    expect(await early.concerns(progress)).toBe(true);
    expect(early.of(progress)).toBe('tell');

    expect([await owner.concerns(first), await owner.concerns(second)]).toEqual([true, false]);
    await owner.concerns(progress);
    expect([owner.of(progress), owner.isTheirs]).toEqual(['tell', true]);
    expect([await other.concerns(first), await other.concerns(second)]).toEqual([false, true]);
    await other.concerns(progress);
    expect([other.of(progress), other.isTheirs]).toEqual(['keep', false]);
    // Who has not seen the request looks it up.
    await late.concerns(progress);
    expect(late.of(progress)).toBe('tell');
  });
});
