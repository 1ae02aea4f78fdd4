import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Fault } from '@sluice/core';
import { positionOf, topics } from '@sluice/contracts';
import type { AgentResponse } from '@sluice/contracts';
import type { Dead, HandlerContext, Incoming } from '@sluice/bus';
import { AgentRunClaims, endDeadRun, isAgentRunId, runOfRecord } from '@sluice/run';
import type { Runtime } from '@sluice/host';
import type { TestSystem } from '../harness/system.js';
import { research, startAgents } from '../harness/with-agents.js';

const context = { afterCommit: () => undefined } as unknown as HandlerContext;
const whole = {
  value: Buffer.from('?'),
  headers: {},
  timestamp: 0,
  code: 'retries_exhausted',
  reason: 'It was tried.',
};

describe('a dead letter that names an agent’s run', () => {
  let system: TestSystem;
  let runtime: Runtime;
  let honest: Incoming<'agent.responses'>;
  beforeEach(async () => {
    const started = await startAgents({ Go: [{ calls: [research] }], 'Who made it?': [{ answer: 'Ada made it.' }] });
    system = started.opened;
    ({ runtime } = system.embedded);
    // A claim with a value cannot be taken back.
    const { ledger } = runtime;
    const settle = ledger.settle.bind(ledger);
    ledger.settle = (key, ...rest) =>
      key === 'end/run-1' ? Promise.reject(new Error('Cut off.')) : settle(key, ...rest);
    await started.end();
    const end = (await system.all('agent.responses')).find(({ record }) => isAgentRunId(record.requestId));
    if (end === undefined) throw new Error('No agent ended.');
    honest = end;
  });
  afterEach(() => system.close());

  const dead = (message: Incoming): Dead => {
    const { topic, partition, offset, key } = message;
    return { ...whole, topic, partition, offset, key, message, lastFault: null, attempts: 10 };
  };

  it('ends the run that waited if it is the end with which its turn would have gone on', async () => {
    expect(await endDeadRun(dead(honest), context, runtime)).toEqual([]);
    // As it was before the run that waits had ended.
    const { key, owner } = (await runtime.ledger.find('end/run-1')) ?? { key: '', owner: '' };
    await runtime.ledger.release(key, owner);
    const [outgoing] = await endDeadRun(dead(honest), context, runtime);
    expect(outgoing).toMatchObject({ topic: topics.responses, record: { requestId: 'run-1', kind: 'error' } });
  });

  it('ends nothing if it is a copy of that, or another end that was vouched for: the turn went on', async () => {
    expect(await endDeadRun(dead({ ...honest, offset: honest.offset + 100 }), context, runtime)).toEqual([]);
    const other: AgentResponse = { ...honest.record, answer: 'Eve made it.' };
    await new AgentRunClaims(runtime).vouch(other);
    const copy = { ...honest, offset: honest.offset + 100, record: other };
    expect(await endDeadRun(dead(copy), context, runtime)).toEqual([]);
  });

  it('ends nothing if it is a request, though the ledger does not answer: no request begins an agent’s run', async () => {
    const ledger = {
      ...runtime.ledger,
      claim: () => Promise.reject(new Fault('ledger_unreachable', 'Away.', true)),
    };
    const request = async (requestId: string) => {
      const [asked] = await system.all('agent.requests');
      if (asked === undefined) throw new Error('Nobody asked.');
      const message = { ...asked, offset: 99, record: { ...asked.record, requestId } };
      return endDeadRun(dead(message), context, { ...runtime, ledger });
    };
    expect(await request(honest.record.requestId)).toEqual([]);
    expect(await request('of-somebody')).toMatchObject([{ record: { requestId: 'of-somebody', kind: 'error' } }]);
  });

  it('and what the ledger has forgotten counts no longer, swept or not', async () => {
    const run = runOfRecord(honest.record);
    const claims = new AgentRunClaims(runtime);
    expect([await claims.parkedAt(run), await claims.isVouched(honest.record)]).toEqual([expect.anything(), true]);
    expect((await claims.goesOn(run, positionOf(honest))).isOwn).toBe(true);
    const later = { ledger: runtime.ledger, clock: { now: () => Date.now() + 60 * 24 * 3_600_000 } };
    const forgotten = new AgentRunClaims(later);
    expect([await forgotten.parkedAt(run), await forgotten.isVouched(honest.record)]).toEqual([null, false]);
  });
});
