import { describe, expect, it } from '@jest/globals';
import type { Configuration } from '@sluice/core';
import { entriesSince } from '@sluice/run';
import { make } from '@sluice/contracts';
import { approvalEnds, approvalWaits, configurationRefused, deadLetter, endOfRun } from '../src/events.js';
import type { Happened } from '../src/events.js';
import {
  isWanted,
  mostTextCharacters,
  notificationKey,
  notificationOf,
  receiverEntries,
  vouchKey,
} from '../src/wanted.js';

const end = make.agentResponse({
  requestId: 'r',
  sessionId: 's',
  kind: 'answer',
  endedAt: 5,
  answer: 'Yes',
  question: 'Q',
});
const requested = make.approvalRequested({
  ...{ approvalId: 'a', requestId: 'r', sessionId: 's', tool: 'core__t', argumentsHash: 'h', tenantId: 'acme' },
  ...{ topic: 'agent.tool-calls', partition: 0, offset: 0, expiresAt: 9, requestedAt: 3, arguments: '{"private":1}' },
});
const ended = endOfRun(end) as Happened;

describe('an event', () => {
  it('has an id that follows from its record alone', () => {
    expect(endOfRun({ ...end })?.id).toBe(ended.id);
    expect(ended.id).toMatch(/^evt_[0-9a-f]{40}$/);
    // Another attempt at the run ends again.
    expect(endOfRun({ ...end, endedAt: 6 })?.id).not.toBe(ended.id);
    expect(endOfRun({ ...end, tenantId: 'acme' })?.id).not.toBe(ended.id);
  });

  it('of an approval says nothing of arguments', () => {
    const outcome = make.approvalOutcome({
      ...{ approvalId: 'a', requestId: 'r', sessionId: 's', decision: 'refuse', decidedBy: 'user:ann', at: 4 },
      reason: 'private',
    });
    const both = [approvalWaits(requested), approvalEnds(outcome, requested)];
    expect(JSON.stringify(both)).not.toContain('private');
    expect(both.map(({ outcome: how, tenantId }) => [how, tenantId])).toEqual([
      ['', 'acme'],
      ['refuse', 'acme'],
    ]);
  });

  it('of a record that cannot be read is of no tenant', () => {
    const letter = {
      ...{ topic: 'agent.requests', partition: 0, offset: 7, group: 'filter', key: '', value: Buffer.from('x') },
      ...{
        headers: {},
        timestamp: 1,
        code: 'undecodable',
        reason: 'private',
        attempts: 1,
        failedAt: 2,
        lastFault: null,
      },
    };
    const happened = deadLetter(letter, '0/3', null);
    expect(happened).toMatchObject({ subject: '0/3', outcome: 'undecodable', tenantId: null, requestId: '' });
    expect(JSON.stringify(happened)).not.toContain('private');
  });
});

describe('a subscription', () => {
  const events = ['run.ended', 'approval.waiting'] as const;
  it.each([
    [{ events }, true],
    [{ events: ['run.failed'] as const }, false],
    [{ events, tenants: ['acme'] }, false],
    [{ events, outcomes: ['incomplete'] }, false],
    [{ events, outcomes: ['answer'] }, true],
  ])('%j wants an answer of no tenant: %s', (subscription, wants) => {
    expect(isWanted(ended, subscription)).toBe(wants);
  });

  it('of agents wants what their runs say, and nothing of no run', () => {
    const support = { ...end, agent: 'support' };
    const research = { ...requested, agent: 'research' };
    const all = [end, support].map((one) => endOfRun(one) as Happened);
    const happened = [...all, approvalWaits(research), configurationRefused('c', 'unsigned', 1)];
    const wanted = (...agents: readonly string[]): readonly boolean[] =>
      happened.map((one) => isWanted(one, { events: [...events, 'configuration.refused'], agents }));
    expect(wanted('default')).toEqual([true, false, false, false]);
    expect(wanted('support', 'research')).toEqual([false, true, true, false]);
    expect(happened.map(({ data }) => data['agent'])).toEqual(['default', 'support', 'research', undefined]);
  });

  it('of a tenant and of outcomes wants what waits there', () => {
    expect(isWanted(approvalWaits(requested), { events, tenants: ['acme'], outcomes: ['refuse'] })).toBe(true);
  });

  it('has texts only where it includes them, up to a length', () => {
    const long = endOfRun({ ...end, answer: 'a'.repeat(mostTextCharacters + 1) }) as Happened;
    const data = (include: readonly ('question' | 'answer')[]): Record<string, unknown> =>
      JSON.parse(notificationOf(long, { id: 'one', include }, {}).data) as Record<string, unknown>;
    expect(Object.keys(data([]))).toEqual(expect.not.arrayContaining(['question', 'answer', 'link']));
    expect(data(['answer'])).toMatchObject({ answer: 'a'.repeat(mostTextCharacters), answer_is_cut: true });
    expect(data(['question'])).toMatchObject({ question: 'Q' });
  });

  it('has a line for each run, and a digest for each notification', () => {
    const one = notificationOf(ended, { id: 'one', include: [] }, {});
    expect(notificationKey(one)).toBe('one/r');
    expect(vouchKey({ ...one })).toBe(vouchKey(one));
    expect(vouchKey({ ...one, data: '{}' })).not.toBe(vouchKey(one));
  });
});

describe('what happened before a subscription was there', () => {
  const configuration = (version: string, ...ids: readonly string[]): Configuration =>
    ({ version, notify: { privateHosts: [], subscriptions: ids.map((id) => ({ id })) } }) as unknown as Configuration;
  const applied = (at: number, one: Configuration) => ({ version: one.version, appliedAt: at, read: () => one });
  const since = (one: Configuration, all: readonly ReturnType<typeof applied>[]) =>
    entriesSince(one, all, receiverEntries);
  const [a, b, none] = [configuration('a', 'x'), configuration('b', 'x', 'y'), configuration('n')];

  it('is not sent: it counts from the first of the configurations in a row that have it', () => {
    expect([...since(b, [applied(1, a), applied(2, none), applied(3, a), applied(4, b)])]).toEqual([
      ['x', 3],
      ['y', 4],
    ]);
  });

  it('nor is it where a configuration in between cannot be read', () => {
    const unread = {
      ...{ version: 'u', appliedAt: 2 },
      read: () => {
        throw new Error('A former shape.');
      },
    };
    expect([...since(a, [applied(1, a), unread, applied(3, a)])]).toEqual([['x', 3]]);
  });
});
