import { describe, expect, it } from '@jest/globals';
import { recordFromJson } from '@sluice/contracts';
import type { AgentRequest } from '@sluice/contracts';
import { createSeals, keysFor, newKeySet } from '@sluice/identity';
import { Credentials, isSealed } from '../src/credentials.js';

const keys = newKeySet(1);
const door = new Credentials(createSeals(keysFor('gateway', keys)));
const filter = new Credentials(createSeals(keysFor('filter', keys)));
const request = (more: object = {}) =>
  recordFromJson('AgentRequest', { question: 'Q', request_id: 'r', session_id: 's', ...more }) as AgentRequest;
const ann = { tenantId: 'acme', actorId: 'user:ann', subjectId: null, groups: ['*'], connections: [] };
const bearer = 'Bearer e30.e30.secret';

const came = (topic: string, record: object, headers: Readonly<Record<string, string>>) =>
  ({ topic, record, headers, partition: 0, offset: 0, key: 's', timestamp: 1 }) as never;

describe('a credential on its way over Kafka', () => {
  it('is read by the verifier, and by no other', async () => {
    const headers = await door.headersFor({ topic: 'agent.requests', record: request() }, bearer, ann);
    expect(isSealed(headers)).toBe(true);
    expect(JSON.stringify(headers)).not.toContain('secret');
    expect(await filter.of(came('agent.requests', request(), headers))).toBe(bearer);
    expect(await door.of(came('agent.requests', request(), headers))).toBeUndefined();
    expect(await new Credentials(null).of(came('agent.requests', request(), headers))).toBeUndefined();
  });

  it('proves nothing on another record: a changed one, one of another run, or of another topic', async () => {
    const headers = await door.headersFor({ topic: 'agent.requests', record: request() }, bearer, ann);
    for (const more of [{ question: 'Another' }, { request_id: 'r2' }, { session_id: 's2' }, { group: ['*'] }])
      expect(await filter.of(came('agent.requests', request(more), headers))).toBeUndefined();
    const cancellation = { requestId: 'r', sessionId: 's', reason: '', askedAt: 1, mustExist: false, outcome: null };
    expect(await filter.of(came('agent.cancellations', cancellation, headers))).toBeUndefined();
  });

  it('may be sealed by a producer itself, which leaves the digest out', async () => {
    const text = JSON.stringify({ authorization: bearer, topic: 'agent.requests', request_id: 'r' });
    const authorization = `Sealed ${(await createSeals(keys).seal('filter', text)) ?? ''}`;
    expect(await filter.of(came('agent.requests', request(), { authorization }))).toBe(bearer);
    expect(await filter.of(came('agent.requests', request({ request_id: 'r2' }), { authorization }))).toBeUndefined();
  });

  it('of producers and former versions may stand in clear, and is read as before', async () => {
    expect(await filter.of(came('agent.requests', request(), { Authorization: bearer }))).toBe(bearer);
    expect(await new Credentials(null).headersFor({ topic: 'agent.requests', record: request() }, bearer, ann)).toEqual(
      {
        authorization: bearer,
      },
    );
    expect(await door.headersFor({ topic: 'agent.requests', record: request() }, undefined, ann)).toEqual({});
  });
});
