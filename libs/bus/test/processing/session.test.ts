import { describe, expect, it } from '@jest/globals';
import type { Incoming } from '@sluice/bus';
import { isKnownTenant, sessionOf, tenantOf } from '../../src/processing/session.js';
import { requestRecord } from '../contract/harness.js';

const place = { partition: 0, offset: 7, headers: {}, timestamp: 0 };

function aRequest(key: string, sessionId: string | null, requestId: string | null): Incoming {
  return { ...place, topic: 'agent.requests', key, record: { ...requestRecord(sessionId, 'x'), requestId } };
}

describe('the session whose lane a record runs in', () => {
  it.each([
    ['the session it names', aRequest('key', 'session', 'request'), 'session'],
    ['else its key', aRequest('key', null, 'request'), 'key'],
    ['else the run it names', aRequest('', null, 'request'), 'request'],
    ['else a lane of its own', aRequest('', '', null), 'agent.requests/0/7'],
  ])('of a request is %s', (_, message, session) => expect(sessionOf(message)).toBe(session));

  it('of a request is that of its sender alone: a caller with another credential has another session of that name', () => {
    const of = (headers: Readonly<Record<string, string>>) =>
      sessionOf({ ...aRequest('key', 'session', 'request'), headers } as Incoming);
    expect(of({ authorization: 'Bearer a' })).toBe(of({ Authorization: 'Bearer a', traceparent: '00-1' }));
    expect(new Set([of({}), of({ authorization: 'Bearer a' }), of({ authorization: 'Bearer b' })]).size).toBe(3);
  });

  it('of one call beside the others of its session is its run, of the same sender and user', () => {
    const call = { tool: 'now', arguments: '{}', order: 'none' };
    const requested = (requestId: string, order: string | null) => {
      const record = { ...requestRecord('session', 'x'), requestId, call: { ...call, order } };
      return sessionOf({ ...place, topic: 'agent.requests', key: 'session', record });
    };
    const lanes = ['one', 'two'].map((requestId) => requested(requestId, 'none'));
    expect(new Set([...lanes, requested('one', null), requested('two', '')])).toEqual(new Set([...lanes, 'session']));
    const principal = { tenantId: 'acme', actorId: 'user:ann', subjectId: null };
    const of = (topic: string, requestId: string, more: object) => {
      const record = { requestId, sessionId: 'session', run: { principal }, ...more };
      return sessionOf({ ...place, topic, key: 'session', record } as unknown as Incoming);
    };
    for (const [topic, more] of [
      ['agent.toolsets', { request: { call } }],
      ['agent.tool-calls', { request: { call } }],
      ['agent.steps', { next: { call } }],
    ] as const) {
      expect(of(topic, 'one', more)).toBe(of('agent.toolsets', 'one', { request: { call } }));
      expect(of(topic, 'one', more)).not.toBe(of(topic, 'two', more));
      expect(of(topic, 'one', { request: { call: null }, next: { call: null } })).not.toContain('one');
    }
  });

  it.each(['toolsets', 'tool-calls', 'steps', 'responses'])(
    'of a record of agent.%s is that of the run’s user',
    (topic) => {
      const of = (tenantId: string, actorId: string, subjectId: string | null) => {
        const asked = { request: { call: null }, next: { call: null } };
        const record = { sessionId: 'session', run: { principal: { tenantId, actorId, subjectId } }, ...asked };
        return sessionOf({ ...place, topic: `agent.${topic}`, key: 'key', record } as unknown as Incoming);
      };
      expect(of('local', 'user:local', null)).toBe('session');
      expect(of('acme', 'client:desk', 'user:ann')).toBe(of('acme', 'user:ann', null));
      const sessions = [
        of('acme', 'user:ann', null),
        of('other', 'user:ann', null),
        of('acme', 'user:bob', null),
        'session',
      ];
      expect(new Set(sessions).size).toBe(4);
    },
  );

  it('of an end that does not say whose it is, is the one that it names', () => {
    const record = { sessionId: 'session', run: null };
    expect(sessionOf({ ...place, topic: 'agent.responses', key: 'key', record } as unknown as Incoming)).toBe(
      'session',
    );
  });

  it.each(['requested', 'decided', 'outcome', 'escalated'] as const)(
    'of an approval is its run’s, by its member %s',
    (member) => {
      const record = {
        requested: null,
        decided: null,
        outcome: null,
        escalated: null,
        standing: null,
        [member]: { approvalId: 'a-1', requestId: 'run-1', sessionId: 'session' },
      } as Incoming<'agent.approvals'>['record'];
      expect(sessionOf({ ...place, topic: 'agent.approvals', key: 'key', record })).toBe('run-1');
    },
  );
});

describe('the tenant in whose turn a record is handled', () => {
  it('of a request is what a door said, else whose credential it has, else one for all', () => {
    const of = (headers: Readonly<Record<string, string>>) =>
      tenantOf({ ...aRequest('key', 'session', 'request'), headers } as Incoming);
    expect(of({ 'sluice-tenant': 'acme', authorization: 'Bearer a' })).toBe('acme');
    expect(of({ authorization: 'Bearer a' })).toBe('unknown Bearer a');
    expect(of({})).toBe('unknown ');
    expect(['acme', 'unknown Bearer a', 'unknown ', ''].map(isKnownTenant)).toEqual([true, false, false, false]);
  });

  it('of a record of a run is that of the run', () => {
    const run = { principal: { tenantId: 'acme', actorId: 'user:ann', subjectId: null } };
    const of = (topic: string, record: object) =>
      tenantOf({ ...place, topic, key: 'k', record } as unknown as Incoming);
    for (const topic of ['agent.toolsets', 'agent.tool-calls', 'agent.steps'])
      expect([topic, of(topic, { run }), of(topic, { run: { principal: null } })]).toEqual([topic, 'acme', 'unknown ']);
  });
});
