import { describe, expect, it } from '@jest/globals';
import { beginRun, localPrincipal, nextIteration } from '@sluice/core';
import type { Step } from '@sluice/core';
import { make } from '@sluice/contracts';
import type { AgentRequest } from '@sluice/contracts';
import { continuationClaims, grantClaims, grantLifeMs, isReturned, judgeContinuation, judgeGrant } from '@sluice/run';
import type { Continuation, GrantedTurn } from '@sluice/run';

const limits = { maxIterations: 10, runMs: 60_000, historyBytes: 1_000 };
const principal = { ...localPrincipal, actorId: 'user:alice', groups: ['read-only'] };
const begun = beginRun({ maxIterations: null, deadline: null }, ['read-only'], 'undefined', limits, principal, 0);
const run = nextIteration(begun, { eligible: ['a'], filteredByGroup: ['b'], filteredByState: [] });
const step: Step = make.agentStep({
  action: 'a',
  arguments: '{}',
  observation: 'found',
  state: 'analysis',
  toolCallId: 'c',
  iteration: 1,
  startedAt: 1,
  endedAt: 2,
});
const request: AgentRequest = make.agentRequest({
  question: 'Q',
  requestId: 'r',
  sessionId: 's',
  group: ['read-only'],
});

const turn: GrantedTurn = {
  requestId: 'r',
  sessionId: 's',
  iteration: 1,
  request,
  run,
  groups: ['read-only'],
  state: 'undefined',
  tools: ['core__a'],
  list: null,
  toolChoice: null,
  configVersion: 'c-1',
};

describe('a grant', () => {
  const claims = grantClaims(turn, 1_000);
  const judge = (changed: Partial<GrantedTurn>, now = 1_001) => judgeGrant(claims, { ...turn, ...changed }, now);

  it('names everything it is for, and expires', () => {
    expect(claims).toEqual({
      request: 'r',
      session: 's',
      iteration: 1,
      tenant: 'local',
      actor: 'user:alice',
      connections: ['*'],
      groups: ['read-only'],
      state: 'undefined',
      tools: ['core__a'],
      config: 'c-1',
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      exp: 1_000 + grantLifeMs,
    });
  });

  it('is valid for exactly its turn, until it expires', () => {
    expect(judge({})).toEqual({ kind: 'valid' });
    expect(judge({}, 999 + grantLifeMs)).toEqual({ kind: 'valid' });
    expect(judge({}, 1_000 + grantLifeMs)).toEqual({ kind: 'expired' });
  });

  it.each<[string, Partial<GrantedTurn>, string]>([
    ['another session', { sessionId: 't' }, 'session'],
    ['another run', { requestId: 'q' }, 'request'],
    ['another iteration', { iteration: 2 }, 'iteration'],
    ['more tools', { tools: ['core__a', 'core__b'] }, 'tools'],
    ['a choice of tools (K-07)', { toolChoice: 'none' }, 'choice'],
    ['other groups', { groups: ['read-only', 'write'] }, 'groups'],
    ['no groups', { groups: [] }, 'groups'],
    ['another state', { state: 'analysis' }, 'state'],
    ['another configuration', { configVersion: 'c-2' }, 'config'],
    ['another tenant', { run: { ...run, principal: { ...principal, tenantId: 'other' } } }, 'digest, tenant'],
    ['another actor', { run: { ...run, principal: { ...principal, actorId: 'user:bob' } } }, 'actor, digest'],
    ['a subject', { run: { ...run, principal: { ...principal, subjectId: 'user:bob' } } }, 'digest, subject'],
    ['other connections', { run: { ...run, principal: { ...principal, connections: [] } } }, 'connections, digest'],
    ['more permitted groups', { run: { ...run, principal: { ...principal, groups: ['*'] } } }, 'digest'],
    ['a later deadline', { run: { ...run, deadline: run.deadline + 1 } }, 'digest'],
    ['fewer iterations used', { run: { ...run, iteration: 0 } }, 'digest'],
    ['another question', { request: { ...request, question: 'q' } }, 'digest'],
    ['other requested groups', { request: { ...request, group: ['*'] } }, 'digest'],
    ['no requested groups in place of none named', { request: { ...request, group: [] } }, 'digest'],
    ['an invented step', { request: { ...request, history: [step] } }, 'digest'],
  ])('is forged for %s', (_, changed, names) => {
    expect(judge(changed)).toEqual({ kind: 'forged', why: `The record and its grant differ in ${names}.` });
  });

  it('of a turn with a list names that for its tools, and who asks in its digest alone', () => {
    const listed: GrantedTurn = { ...turn, tools: [], list: { hash: 'h', indexes: [0, 3], since: 1 } };
    const short = grantClaims(listed, 1_000);
    expect(short).toEqual({
      ...{ request: 'r', session: 's', iteration: 1, groups: ['read-only'], state: 'undefined', config: 'c-1' },
      list: expect.stringMatching(/^[\w-]{43}$/),
      digest: expect.stringMatching(/^[\w-]{43}$/),
      exp: 1_000 + grantLifeMs,
    });
    const differing = (changed: Partial<GrantedTurn>) => judgeGrant(short, { ...listed, ...changed }, 1_001);
    expect(differing({ list: { hash: 'h', indexes: [0, 3], since: 2 }, tools: ['core__b'] })).toEqual({
      kind: 'valid',
    });
    for (const [changed, names] of [
      [{ list: { hash: 'g', indexes: [0, 3], since: 1 } }, 'list'],
      [{ list: { hash: 'h', indexes: [0, 4], since: 1 } }, 'list'],
      [{ run: { ...run, principal: { ...principal, tenantId: 'other' } } }, 'digest'],
      [{ run: { ...run, principal: { ...principal, actorId: 'user:bob' } } }, 'digest'],
      [{ run: { ...run, principal: { ...principal, subjectId: 'user:bob' } } }, 'digest'],
      [{ run: { ...run, principal: { ...principal, connections: [] } } }, 'digest'],
      [{ groups: [] }, 'groups'],
      [{ list: null, tools: ['core__a'] }, 'actor, connections, digest, list, tenant, tools'],
    ] as const)
      expect(differing(changed)).toEqual({ kind: 'forged', why: `The record and its grant differ in ${names}.` });
    expect(isReturned(short, listed)).toBe(true);
    expect(isReturned(short, { ...listed, run: { ...run, deadline: 0 } })).toBe(false);
  });

  it('that is not signed is forged, and so is a record that does not say who asks', () => {
    expect(judgeGrant(null, turn, 1_001)).toMatchObject({ kind: 'forged' });
    const nobody = { ...turn, run: { ...run, principal: null } };
    expect(judgeGrant(grantClaims(nobody, 0), nobody, 1)).toMatchObject({ kind: 'forged' });
  });

  it('without a time of expiry has expired', () => {
    const lasting = Object.entries(claims).filter(([name]) => name !== 'exp');
    expect(judgeGrant(Object.fromEntries(lasting), turn, 0)).toEqual({ kind: 'expired' });
  });

  it('lets the agent count its tokens, and nothing else', () => {
    expect(judge({ run: { ...run, inputTokens: 9, outputTokens: 7 } })).toEqual({ kind: 'valid' });
  });

  it('holds after the wire: null is absent, and half a surrogate pair becomes what UTF-8 makes of it', () => {
    const odd = { ...turn, sessionId: 's\ud800', request: { ...request, question: 'half \udc00' } };
    const after = { ...odd, sessionId: 's\ufffd', request: { ...request, question: 'half \ufffd' } };
    expect(judgeGrant(grantClaims(odd, 0), after, 1)).toEqual({ kind: 'valid' });
  });
});

describe('a continuation', () => {
  const next = { ...request, state: 'analysis', history: [step] };
  const record: Continuation = { requestId: 'r', sessionId: 's', iteration: 1, next, run };
  const claims = continuationClaims(record);
  const unsigned = (changed: Partial<Continuation>) => judgeContinuation(null, { ...record, ...changed });
  const altered = (changed: Partial<Continuation>) => judgeContinuation(claims, { ...record, ...changed });

  it('goes on as it was signed', () => expect(altered({})).toEqual({ kind: 'signed' }));

  it.each<[string, Partial<Continuation>, string]>([
    ['wider groups (XG-26)', { next: { ...next, group: ['read-only', 'write'] } }, 'groups_widened'],
    ['every group (XG-26)', { next: { ...next, group: ['*'] } }, 'groups_widened'],
    ['the default groups in place of its own (XG-26)', { next: { ...next, group: null } }, 'groups_widened'],
    ['another state than the recorded one (XG-14)', { next: { ...next, state: 'results' } }, 'state_altered'],
    ['no state in place of the recorded one (XG-14)', { next: { ...next, state: null } }, 'state_altered'],
    ['a history without its steps', { next: { ...next, history: [] } }, 'continuation_invalid'],
    ['another step', { next: { ...next, history: [{ ...step, observation: 'lost' }] } }, 'continuation_invalid'],
    ['fewer groups', { next: { ...next, group: [] } }, 'continuation_invalid'],
    ['another run', { requestId: 'q' }, 'continuation_invalid'],
    ['another session', { sessionId: 't' }, 'continuation_invalid'],
    ['another iteration', { iteration: 2 }, 'continuation_invalid'],
    ['more time', { run: { ...run, deadline: 1e15 } }, 'continuation_invalid'],
    ['another principal', { run: { ...run, principal: localPrincipal } }, 'continuation_invalid'],
  ])('is forged with %s', (_, changed, code) => expect(altered(changed)).toMatchObject({ kind: 'forged', code }));

  it.each<[string, Partial<Continuation>, string]>([
    ['is invalid as it stands', {}, 'continuation_invalid'],
    ['shows wider groups by what its run began with', { next: { ...next, group: ['*'] } }, 'groups_widened'],
    ['shows another state by its last step', { next: { ...next, state: 'results' } }, 'state_altered'],
    ['shows another state by how its run began', { next: { ...next, history: [] } }, 'state_altered'],
  ])('that is not signed %s', (_, changed, code) => expect(unsigned(changed)).toMatchObject({ kind: 'forged', code }));
});
