import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { SignerRole } from '@sluice/core';
import { topics } from '@sluice/contracts';
import type { AgentResponse, Toolset } from '@sluice/contracts';
import type { Incoming, LogReader } from '@sluice/bus';
import { createSignatures, newKeySet, unverified } from '@sluice/identity';
import { anyRecord } from '../../../../test/harness/any-record.js';
import { endSignature, GenuineEnds, signatureOver, signEnd } from '../../src/index.js';

const signatures = createSignatures(newKeySet(1_000));
const signing = { signatures };
const [drawn] = fc.sample(anyRecord('agent.responses'), { numRuns: 1, seed: 3 }) as [AgentResponse];
const end: AgentResponse = { ...drawn, answer: 'yes', recordSignature: null };
const since = 1_000;

function at(offset: number, record: AgentResponse, timestamp = since): Incoming<'agent.responses'> {
  return { topic: topics.responses, partition: 0, offset, key: 's', headers: {}, timestamp, record };
}

describe('the signature over an end of a run', () => {
  it.each<SignerRole>(['filter', 'agent', 'executor'])('is verified where it is the %s’s', async (role) => {
    expect(await endSignature(at(0, await signEnd(end, role, signing)), signatures)).toBe('verified');
  });

  it('is none where a service that ends no run made it, or where it is over another record', async () => {
    const byAudit = await signEnd(end, 'audit', signing);
    const signed = await signEnd(end, 'agent', signing);
    const [other] = fc.sample(anyRecord('agent.toolsets'), { numRuns: 1, seed: 3 }) as [Toolset];
    const recordSignature = await signatureOver(topics.toolsets, other, 'filter', signatures);
    const forged = [
      end,
      byAudit,
      { ...signed, answer: 'no' },
      { ...end, recordSignature },
      { ...end, recordSignature: '' },
    ];
    for (const record of forged) expect(await endSignature(at(0, record), signatures)).toBeNull();
  });

  it('need not be there before ends were signed, or where no keys say since when', async () => {
    expect(await endSignature(at(0, end, since - 1), signatures)).toBe('before_keys');
    // Where producers choose the times of a topic, a time that has passed is no former version’s.
    expect(await endSignature({ ...at(0, end, since - 1), readAt: since + 1 }, signatures)).toBeNull();
    expect(await endSignature(at(0, end), createSignatures({ keys: newKeySet(0).keys }))).toBe('before_keys');
    expect(await endSignature(at(0, end), unverified)).toBe('before_keys');
  });
});

describe('a log without forged ends', () => {
  it('ignores ends that no service signed, says so once, and has everything else', async () => {
    const signed = await signEnd(end, 'executor', signing);
    const others = {
      topic: topics.progress,
      partition: 0,
      offset: 9,
      key: 's',
      headers: {},
      timestamp: since,
      record: {},
    };
    const all = [
      at(1, end),
      at(2, signed),
      others as unknown as Incoming,
      at(3, { ...signed, answer: 'no' }),
      at(4, end, 0),
    ];
    const log = { read: () => all } as unknown as LogReader;
    const told: object[] = [];
    const genuine = new GenuineEnds(log, signatures, { error: (about) => void told.push(about) });
    const offsets = async () => {
      const found: number[] = [];
      for await (const { offset } of genuine.read([topics.responses], { from: 'start' })) found.push(offset);
      return found;
    };
    expect([await offsets(), await offsets()]).toEqual([
      [2, 9, 4],
      [2, 9, 4],
    ]);
    expect(told).toMatchObject([{ offset: 1 }, { offset: 3 }]);
  });
});
