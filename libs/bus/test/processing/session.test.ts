import { describe, expect, it } from '@jest/globals';
import type { Incoming } from '@sluice/bus';
import { sessionOf } from '../../src/processing/session.js';
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

  it.each(['requested', 'decided', 'outcome'] as const)('of an approval is that of its member %s', (member) => {
    const record = {
      requested: null,
      decided: null,
      outcome: null,
      [member]: { sessionId: 'session' },
    } as Incoming<'agent.approvals'>['record'];
    expect(sessionOf({ ...place, topic: 'agent.approvals', key: 'key', record })).toBe('session');
  });
});
