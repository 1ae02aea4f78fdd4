import { describe, expect, it } from '@jest/globals';
import { agreement } from './agreement.ts';
import { violations } from './check.ts';
import type { Committed, Found, Observed, WebhookEvent } from './observed.ts';

const act = (runId: string, turn: number, more: object = {}) => ({
  iteration: turn + 1,
  action: 'act',
  arguments: JSON.stringify({ run: runId, turn }),
  outcome: 'ok',
  reason: null,
  ...more,
});
const look = { iteration: 1, action: 'now', arguments: '{}', outcome: 'ok', reason: null };

const tool = { id: 'core__now', key: 'now', description: 'Tells the time.', input_schema: '{}' };
const list = { hash: 'h', indexes: [0, 1], since: 1 };
/** What the first run’s records say of its tools, as a former version wrote it, and those of the second. */
const toolsIn = (n: number, iteration: number) =>
  n === 1 ? { list: null, tools: [tool] } : { list, tools: iteration === 1 ? [{ ...tool, description: '' }] : [] };

/**
 * Two runs as they should be: one turn that looks, one that acts, an answer; a call without a model; and a record that
 * was put aside.
 */
function healthy(): Observed {
  const found: Found[] = [];
  const put = (topic: string, key: string, record: Record<string, unknown> | null): void => {
    const offset = found.filter((one) => one.topic === topic).length;
    found.push({ topic, partition: 0, offset, key, record });
  };
  for (const n of [1, 2]) {
    const ids = { request_id: `r-${n}`, session_id: `s-${n}` };
    const key = ids.session_id;
    put('agent.requests', key, ids);
    for (const iteration of [1, 2, 3]) put('agent.toolsets', key, { ...ids, iteration, ...toolsIn(n, iteration) });
    for (const iteration of [1, 2])
      put('agent.tool-calls', key, { ...ids, iteration, list: toolsIn(n, iteration).list });
    put('agent.steps', key, { ...ids, iteration: 1, steps: [look] });
    put('agent.steps', key, { ...ids, iteration: 2, steps: [act(ids.request_id, 1)] });
    put('agent.responses', key, { ...ids, kind: 'answer', iterations: 3, history: [look, act(ids.request_id, 1)] });
  }
  // The others are calls without a model, of which the filter passed the second on.
  for (const n of [3, 4]) {
    const ids = { request_id: `r-${n}`, session_id: `s-${n}` };
    const made = act(ids.request_id, 1, { iteration: 1 });
    if (n === 4) put('agent.requests', ids.session_id, ids);
    put('agent.calls', ids.session_id, ids);
    put('agent.steps', ids.session_id, { ...ids, iteration: 1, steps: [made], call: {} });
    put('agent.responses', ids.session_id, { ...ids, kind: 'answer', iterations: 1, history: [made] });
  }
  put('agent.requests', 'bad', null);
  const runId = 'agent.requests-0-3';
  const spoiled = [{ topic: 'agent.requests', partition: 0, offset: 3, group: 'filter', code: 'undecodable', runId }];
  put('agent.responses', 'bad', { request_id: runId, kind: 'error', error: { code: 'invalid_request' } });
  put('agent.dead-letters', 'bad', { ...spoiled[0], reason: 'No.' });
  const count = (topic: string): number => found.filter((one) => one.topic === topic).length;
  const committed: Committed[] = [
    ['filter', 'agent.requests'],
    ['filter', 'agent.steps'],
    ['agent', 'agent.toolsets'],
    ['executor', 'agent.tool-calls'],
    ['executor', 'agent.calls'],
  ].map(([group = '', topic = '']) => ({
    group,
    topic,
    partition: 0,
    offset: count(topic),
    metadata: '=Az09-_Az09-_',
  }));
  return {
    asked: [1, 2, 3, 4].map((n) => ({
      ...{ runId: `r-${n}`, sessionId: `s-${n}`, repeated: false, isCall: n > 2 },
      topic: n === 3 ? 'agent.calls' : 'agent.requests',
    })),
    spoiled,
    found,
    committed,
    ends: [...new Set(found.map(({ topic }) => topic))].map((topic) => ({ topic, partition: 0, offset: count(topic) })),
    effects: new Map([
      ['r-1/1', 1],
      ['r-2/1', 1],
      ['r-3/1', 1],
      ['r-4/1', 1],
    ]),
    webhooks: [
      ...[1, 2, 3, 4].map((n) => webhookOf('sluice.run.ended', `r-${n}`)),
      webhookOf('sluice.run.failed', runId),
      webhookOf('sluice.dead_letter', '0/0'),
    ],
  };
}

const webhookOf = (type: string, subject: string, id = `evt_${type}_${subject}`): WebhookEvent => ({
  ...{ id, type, subject, isSigned: true },
});
const withWebhook =
  (event: WebhookEvent): Change =>
  (observed) => ({ ...observed, webhooks: [...observed.webhooks, event] });

type Change = (observed: Observed) => Observed;

/** Changes the records of a topic; null takes one away. */
const records =
  (topic: string, change: (record: Record<string, unknown>, index: number) => Record<string, unknown> | null): Change =>
  (observed) => {
    let index = 0;
    const found = observed.found.flatMap((one) => {
      if (one.topic !== topic || one.record === null) return [one];
      const record = change({ ...one.record }, index++);
      return record === null ? [] : [{ ...one, record }];
    });
    return { ...observed, found };
  };
const again =
  (topic: string, offset: number): Change =>
  (observed) => {
    const one = observed.found.find((each) => each.topic === topic && each.offset === offset) as Found;
    return { ...observed, found: [...observed.found, { ...one, offset: 1_000 }] };
  };
const effects =
  (...counts: [string, number][]): Change =>
  (observed) => ({ ...observed, effects: new Map([...observed.effects, ...counts]) });
const offsets =
  (topic: string, change: Partial<Committed>): Change =>
  (observed) => ({
    ...observed,
    committed: observed.committed.map((one) => (one.topic === topic ? { ...one, ...change } : one)),
  });
const step = (more: object): Change =>
  records('agent.steps', (record, index) => (index === 1 ? { ...record, steps: [act('r-1', 1, more)] } : record));
/** Both runs in the session of the first. */
const oneSession: Change = (seen) => ({
  ...seen,
  asked: seen.asked.map((one) => ({ ...one, sessionId: 's-1' })),
  found: seen.found.map((one) =>
    one.record === null || one.key === 'bad'
      ? one
      : { ...one, key: 's-1', record: { ...one.record, session_id: 's-1' } },
  ),
});
const backwards: Change = (seen) => ({
  ...seen,
  found: seen.found.map((one) => (one.topic === 'agent.toolsets' ? { ...one, offset: 5 - one.offset } : one)),
});
const noEffect = effects(['r-1/1', 0]);
const both =
  (...changes: Change[]): Change =>
  (observed) =>
    changes.reduce((changed, change) => change(changed), observed);

describe('the judge of the fault suite', () => {
  it('finds nothing wrong with what is as it should be', () => expect(violations(healthy())).toEqual([]));

  it.each<[string, Change]>([
    ['a request that came twice and was dropped once', (seen) => ({ ...again('agent.requests', 0)(seen), asked: seen.asked.map((one) => ({ ...one, repeated: true })) })],
    ['an effect that nobody knows the outcome of, and that was not done', both(step({ outcome: 'execution', reason: 'outcome_unknown' }), noEffect)],
    ['an effect that nobody knows the outcome of, and that was done', step({ outcome: 'execution', reason: 'outcome_unknown' })],
    ['an effect that is told not to have begun, and has not', both(step({ outcome: 'unavailable', reason: null }), noEffect)],
    ['an effect whose server was away, and that was not done', both(step({ outcome: 'unavailable', reason: 'not_bound' }), noEffect)],
    ['two runs of one session', oneSession],
    ['the same, of which the first request came once more', (seen) => ({ ...again('agent.requests', 0)(oneSession(seen)), asked: oneSession(seen).asked.map((one) => ({ ...one, repeated: true })) })],
    ['runs of different sessions in any order', backwards],
    ['a webhook that came again', withWebhook(webhookOf('sluice.run.ended', 'r-1'))],
    ['runs whose records all have their tools written out', both(records('agent.toolsets', (record) => ({ ...record, list: null, tools: [tool] })), records('agent.tool-calls', (record) => ({ ...record, list: null })))],
  ])('takes %s', (_, change) => expect(violations(change(healthy()))).toEqual([])); // prettier-ignore

  it.each<[string, Change, RegExp]>([
    ['a run without an end', records('agent.responses', (record, index) => (index === 0 ? null : record)), /r-1 has 0 ends/],
    ['requests of a session that were taken in another order', both(oneSession, backwards), /requests of s-1 came as r-1, r-2 and were taken as r-2, r-1/],
    ['a run with two ends', again('agent.responses', 0), /r-1 has 2 ends/],
    ['an end under another key', (seen) => ({ ...seen, found: seen.found.map((one) => (one.topic === 'agent.responses' ? { ...one, key: 'x' } : one)) }), /has the key x/],
    ['an error in place of the answer', records('agent.responses', (record) => ({ ...record, kind: 'error', error: { code: 'dead_lettered' } })), /ended with .*dead_lettered/],
    ['a spoiled request without an end', records('agent.responses', (record) => (record['kind'] === 'error' ? null : record)), /agent.requests-0-3 has 0 ends/],
    ['a spoiled request with two ends', again('agent.responses', 4), /agent.requests-0-3 has 2 ends/],
    ['an answer to a spoiled request', records('agent.responses', (record) => ({ ...record, kind: 'answer' })), /agent.requests-0-3 ended with an answer/],
    ['an end of a spoiled record that is no request', (seen) => ({ ...seen, spoiled: seen.spoiled.map((one) => ({ ...one, runId: null })) }), /agent.requests-0-3 ended and was never asked for/],
    ['an end that nobody asked for', records('agent.responses', (record, index) => (index === 1 ? { ...record, request_id: 'r-9' } : record)), /r-9 ended and was never asked for/],
    ['a gap in the steps', records('agent.steps', (record, index) => (index === 0 ? null : record)), /steps of r-1 are numbered 2/],
    ['a step that came twice', again('agent.steps', 0), /steps of r-1 are numbered 1, 2, 1/],
    ['tools granted twice for a turn', again('agent.toolsets', 1), /record of r-1, turn 2, is on the log 2 times: agent.toolsets-0@1, agent.toolsets-0@1000/],
    ['a turn of the model that came twice', again('agent.tool-calls', 0), /record of r-1, turn 1, is on the log 2 times/],
    ['steps in another order', records('agent.steps', (record, index) => (index < 2 ? { ...record, iteration: 2 - index, steps: [] } : record)), /steps of r-1 are numbered 2, 1/],
    ['a step in the wrong turn', records('agent.steps', (record, index) => (index === 0 ? { ...record, steps: [{ ...look, iteration: 7 }] } : record)), /Turn 1 of r-1 holds steps of the turns 7/],
    ['a history that the steps do not bear out', records('agent.responses', (record) => ({ ...record, history: [] })), /The end of r-1 tells of the steps ; on the log/],
    ['a call that has two records of its step', again('agent.steps', 4), /r-3, turn 1, is on the log 2 times/],
    ['a call that has two ends', again('agent.responses', 2), /r-3 has 2 ends/],
    ['a call that ended without its step', both(records('agent.steps', (record) => (record['call'] ? null : record)), records('agent.responses', (record) => (record['request_id'] === 'r-3' ? { ...record, history: [] } : record))), /The call r-3 has 0 steps/],
    ['a request of a call that was committed and not passed on', records('agent.calls', (record, index) => (index === 1 ? null : record)), /filter has committed agent.requests-0@2, and nothing/],
    ['an effect that was done twice', effects(['r-2/1', 2]), /r-2\/1 was done 2 times/],
    ['an effect that was done twice and called unknown', both(step({ outcome: 'execution', reason: 'outcome_unknown' }), effects(['r-1/1', 2])), /r-1\/1 was done 2 times/],
    ['an effect that is told and was not done', noEffect, /r-1\/1 is told to have been done, and was not/],
    ['an effect that no step tells of', effects(['r-1/2', 1]), /r-1\/2 was done, and no step tells of it/],
    ['an effect that was done and is told not to have begun', step({ outcome: 'unavailable', reason: null }), /told not to have begun, and was done/],
    ['an effect that failed', step({ outcome: 'execution', reason: 'timeout' }), /told to have failed: execution, timeout/],
    ['a failed step', records('agent.steps', (record, index) => (index === 0 ? { ...record, steps: [{ ...look, outcome: 'execution' }] } : record)), /step without an effect failed/],
    ['a spoiled record that was not put aside', records('agent.dead-letters', () => null), /agent.requests-0@3 has 0 dead letters/],
    ['a spoiled record that was put aside twice', again('agent.dead-letters', 0), /agent.requests-0@3 has 2 dead letters/],
    ['a spoiled record that was put aside as something else', records('agent.dead-letters', (record) => ({ ...record, code: 'unexpected' })), /put aside by filter as unexpected/],
    ['a copy that was put aside though it only leads to nothing', (seen) => ({ ...seen, spoiled: seen.spoiled.map((one) => ({ ...one, code: null })) }), /agent.requests-0@3 is a dead letter .* nothing was wrong/],
    ['an honest record that was put aside', records('agent.dead-letters', (record) => ({ ...record, offset: 1 })), /agent.requests-0@1 is a dead letter .* nothing was wrong/],
    ['a group that is stuck', offsets('agent.tool-calls', { offset: 1 }), /executor is at 1 of 4 in agent.tool-calls-0/],
    ['a group that never began', (seen) => ({ ...seen, committed: seen.committed.filter(({ group }) => group !== 'agent') }), /agent is at no place of 6/],
    ['metadata that outlived what it tells of', offsets('agent.steps', { metadata: 'rAQE' }), /still notes “rAQE”/],
    ['the same beside the writer', offsets('agent.steps', { metadata: 'rAQE=Az09-_Az09-_' }), /still notes “rAQE”/],
    ['an end without a webhook', (seen) => ({ ...seen, webhooks: seen.webhooks.slice(1) }), /^There was no webhook of sluice.run.ended of r-1\.$/],
    ['webhooks of an end under two ids', withWebhook(webhookOf('sluice.run.ended', 'r-1', 'evt_2')), /of r-1 under 2 ids/],
    ['a webhook of an end that is not', withWebhook(webhookOf('sluice.run.ended', 'r-9')), /of r-9, which is not on the log/],
    ['a webhook of another kind of end', (seen) => ({ ...seen, webhooks: seen.webhooks.map((one) => ({ ...one, type: 'sluice.run.ended' })) }), /no webhook of sluice.run.failed of agent.requests-0-3/],
    ['a webhook that nobody signed', withWebhook({ ...webhookOf('sluice.dead_letter', '0/0'), isSigned: false }), /sluice.dead_letter of 0\/0 is not signed/],
    ['a list that no turn names', records('agent.toolsets', (record, index) => (index === 3 ? { ...record, list: { ...list, since: 2 } } : record)), /agent.toolsets-0@4 says that turn 1 names its tools, and it does not.*\n.*agent.toolsets-0@5/],
    ['a turn of the model with another list', records('agent.tool-calls', (record, index) => (index === 2 ? { ...record, list: { ...list, hash: 'g' } } : record)), /^agent.tool-calls-0@2 has another list of tools than its Toolset\.$/],
    ['a list where its Toolset has its tools written out', records('agent.tool-calls', (record) => ({ ...record, list })), /agent.tool-calls-0@0 has another list/],
    ['a committed record without outputs', records('agent.tool-calls', (record, index) => (index === 3 ? null : record)), /agent has committed agent.toolsets-0@4, and nothing/],
    ['outputs of what is not committed', offsets('agent.toolsets', { offset: 5 }), /What came of agent.toolsets-0@5 is on the log, and agent has not committed it/],
  ])('finds %s', (_, change, sentence) => {
    const said = violations(change(healthy()));
    expect(said.join('\n')).toMatch(sentence);
  }); // prettier-ignore

  it('finds that it is unknown of more than half of a hundred effects whether they happened', () => {
    for (const unknown of [50, 51]) {
      const of = (turn: number) =>
        act('r-1', turn, turn < unknown ? { outcome: 'execution', reason: 'outcome_unknown' } : {});
      const steps = Array.from({ length: 100 }, (_, turn) => of(turn));
      const record = { request_id: 'r-1', session_id: 's-1', iteration: 1, steps };
      const found = [{ topic: 'agent.steps', partition: 0, offset: 0, key: 's-1', record }];
      const done = new Map(steps.map((_, turn) => [`r-1/${turn}`, 1]));
      const said = violations({ ...healthy(), found, effects: done });
      expect(said.filter((sentence) => /Of 100 effects nobody knows of \d+/.test(sentence))).toHaveLength(unknown - 50);
    }
  });

  it('finds that more than half of a hundred effects were not made', () => {
    for (const made of [50, 49]) {
      const steps = Array.from({ length: 100 }, (_, turn) =>
        act('r-1', turn, turn < made ? {} : { outcome: 'unavailable', reason: 'not_bound' }),
      );
      const record = { request_id: 'r-1', session_id: 's-1', iteration: 1, steps };
      const found = [{ topic: 'agent.steps', partition: 0, offset: 0, key: 's-1', record }];
      const done = new Map(steps.slice(0, made).map((_, turn) => [`r-1/${turn}`, 1]));
      const said = violations({ ...healthy(), found, effects: done });
      expect(said.filter((sentence) => /Of 100 effects \d+ were made/.test(sentence))).toHaveLength(50 - made);
    }
  });

  it('judges offsets and metadata while the work goes on, by what was before and what is after the reading', () => {
    const { found, committed, asked, spoiled } = healthy();
    const half = committed.map((one) =>
      one.topic === 'agent.requests' ? { ...one, offset: 0, metadata: 'rAQE' } : one,
    );
    const without = found
      .filter(({ topic, key }) => topic !== 'agent.toolsets' || key !== 's-2')
      .filter(({ topic }) => topic !== 'agent.responses');
    // Of the requests the second is finished beyond the first, which is not: exactly the other way round than the log
    // has it.
    expect(agreement({ before: half, found: without, after: half, asked, spoiled })).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/What came of agent.requests-0@0 is on the log, and filter has not committed it/),
        expect.stringMatching(/filter has committed agent.requests-0@1, and nothing/),
      ]),
    );
    const nothing = committed.map((one) => ({ ...one, offset: 0 }));
    expect(agreement({ before: nothing, found, after: committed, asked, spoiled })).toEqual([]);
  });
});
