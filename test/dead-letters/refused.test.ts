import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { make, recordNames, recordToJson, topics, redriveHeader } from '@sluice/contracts';
import type { DeadLetter } from '@sluice/contracts';
import { planRedrive } from '@sluice/run';
import type { Content, Letter, PlanFacts } from '@sluice/run';
import { newRequest } from '../../apps/sluice/src/run-request.js';
import { eventually } from '../security/forging.js';
import { startDying } from './dying.js';
import type { Dying } from './dying.js';

const day = 24 * 3_600_000;
const request = newRequest('Who?', { requestId: 'r', sessionId: 's' });
const facts: PlanFacts = { identity: false, isAskerKept: false, now: 10 * day, before: null };

function letter(dead: Partial<DeadLetter>, content?: Content): Letter {
  const topic = dead.topic ?? topics.requests;
  const whole = {
    ...{ topic, partition: 0, offset: 7, group: 'filter', key: 's', value: Buffer.from('?'), headers: {} },
    ...{ timestamp: 9.5 * day, code: 'retries_exhausted', reason: 'It was tried.', attempts: 10, failedAt: 9.6 * day },
    lastFault: null,
    ...dead,
  };
  return { id: '0/1', dead: whole, session: 's', content: content ?? { topic: topics.requests, record: request } };
}

const toolCall = { topic: topics.toolCalls, record: { request, run: {} } } as never as Content;
const end = (requestId: string): Content => ({ topic: topics.responses, record: { requestId } }) as never;
const ofAgent = `agent-${'0'.repeat(32)}`;
const approval = (part: object): Content => ({ topic: topics.approvals, record: make.approval(part) }) as never;

describe('a dead letter is not re-driven', () => {
  it.each<[string, Letter, Partial<PlanFacts>, RegExp]>([
    ['that another than the loop’s services gave up', letter({ group: 'audit' }), {}, /takes no part in the run/],
    ['that is a copy', letter({ topic: topics.steps, code: 'replayed' }), {}, /a copy of a record that was taken/],
    ['that cannot be read still', letter({}, { topic: null, reason: 'It is cut short.' }), {}, /It still cannot be read: It is cut short\./],
    ['whose question is empty', letter({}, { topic: topics.requests, record: { ...request, question: ' ' } }), {}, /Its question is empty/],
    ['whose connections are none', letter({}, { topic: topics.requests, record: { ...request, connections: ['a b'] } }), {}, /connections\[0\] is no id of a connection/],
    ['whose request needs a credential, which nobody kept', letter({}), { identity: true }, /The caller can send it again/],
    ['whose request wanted its answer before now', letter({}, { topic: topics.requests, record: { ...request, deadline: 9 * day } }), {}, /wanted its answer by 1970-01-10T/],
    ['whose turn may have done what is remembered no longer', letter({ topic: topics.toolCalls, group: 'executor', timestamp: 3.5 * day }, toolCall), {}, /remembered for a week only. Ask under a new request_id/],
    ['that is a decision on an approval', letter({ topic: topics.approvals, group: 'executor' }, approval({ decided: {} })), {}, /decide on it \(again\) with "sluice approvals"/],
    ['that is the end of a run that nobody waits for', letter({ topic: topics.responses }, end('r')), {}, /No run goes on with the end/],
  ])('%s', (_, which, known, why) => {
    expect(planRedrive(which, { ...facts, ...known })).toEqual({ kind: 'refused', why: expect.stringMatching(why) });
  }); // prettier-ignore

  it('but is otherwise, so that each refusal above is for its own reason', () => {
    expect(planRedrive(letter({}), facts).kind).toBe('attempt');
    const turn = letter({ topic: topics.toolCalls, group: 'executor', timestamp: 4.5 * day }, toolCall);
    expect(planRedrive(turn, facts)).toMatchObject({
      kind: 'attempt',
      owner: 'agent.tool-calls/0/7',
      since: 4.5 * day,
    });
  });

  it('since its time is over, unless it is of an agent, for whose end a run waits', () => {
    const late = { ...request, deadline: 9 * day };
    for (const topic of [topics.toolsets, topics.toolCalls, topics.steps] as const) {
      const of = (requestId: string): Letter =>
        letter({ topic }, { topic, record: { requestId, request: late, next: late, run: {} } } as never);
      expect(planRedrive(of('r'), facts)).toMatchObject({
        kind: 'refused',
        why: expect.stringMatching(/by 1970-01-10T/),
      });
      expect(planRedrive(of(ofAgent), facts).kind).not.toBe('refused');
    }
  });

  it('where it is an agent’s end: the turn that waits goes on with it, as if it came now, where it was unreadable', () => {
    const of = (code: string): Letter => letter({ topic: topics.responses, group: 'executor', code }, end(ofAgent));
    expect(planRedrive(of('retries_exhausted'), facts).kind).toBe('attempt');
    expect(planRedrive(of('undecodable'), facts).kind).toBe('resume');
  });
});

describe('on the running system', () => {
  let dying: Dying;
  beforeAll(async () => {
    dying = await startDying();
  });
  afterAll(() => dying.close());

  it('a header that is not permitted gets nothing: the copy of a redriven record is put aside, the run is as it was', async () => {
    dying.cutLedger('turn/agent.steps');
    await dying.publish('copied');
    await dying.end('copied');
    dying.mend();
    const id = await dying.letterOf('copied');
    const parts = (await dying.all(topics.steps)).find(({ record }) => record.requestId === 'copied');
    const json = Buffer.from(JSON.stringify(recordToJson(recordNames[topics.steps], parts?.record)));

    // Before anybody permitted it: an ordinary copy of a turn that was taken by nobody is that turn, but the run has
    // ended with it.
    await dying.command('redrive', id);
    await dying.end('copied', 2);
    const before = (await dying.all(topics.deadLetters)).length;
    for (const header of [id, '0/999', 'nonsense'])
      await dying.bus.appendRaw(topics.steps, 'session-of-copied', json, { [redriveHeader]: header });
    const put = await eventually(async () => {
      const letters = (await dying.all(topics.deadLetters)).slice(before);
      return letters.length === 3 ? letters : undefined;
    });
    expect(put.map(({ record }) => record.code)).toEqual(['replayed', 'replayed', 'replayed']);
    expect(await dying.responses('copied')).toHaveLength(2);
    expect([...dying.effects.values()]).toEqual([1, 1]);
  });

  it('undecodable bytes are shown without a credential, refused, and nothing is published', async () => {
    const text = '{"question": 1, "token": "Bearer abc.def", "jwt": "eyJhbGciOiJFZERTQSJ9.eyJhIjoxfQ.c2ln"}';
    await dying.bus.appendRaw(topics.requests, 'session-of-bad', Buffer.from(text), {
      authorization: 'Bearer top-secret',
    });
    const id = await dying.letterOf('bad');
    for (const shown of [await dying.command('show', id), await dying.command('show', id, '--json')]) {
      expect(shown.output).toContain('undecodable');
      expect(shown.output).toContain('question must be a text');
      expect(shown.output).not.toMatch(/abc\.def|eyJ|top-secret/);
    }
    const requests = (await dying.all(topics.requests)).length;
    expect(await dying.command('redrive', id)).toMatchObject({
      code: 1,
      output: expect.stringContaining('still cannot be read'),
    });
    expect((await dying.all(topics.requests)).length).toBe(requests);
  });

  it('lists by topic, code, session and time, in lines and as JSON', async () => {
    dying.cutModel();
    await dying.publish('listed');
    await dying.end('listed');
    dying.mend();
    const id = await dying.letterOf('listed');
    const { output } = await dying.command('list', '--code', 'model_refused', '--session', 'session-of-listed');
    expect(output).toMatch(
      new RegExp(`^${id}  \\S+Z  model_refused  agent\\.toolsets 0/\\d+  session session-of-listed\n.*401`),
    );
    const json = await dying.command('list', '--topic', 'agent.toolsets', '--since', '1h', '--json');
    const parsed = JSON.parse(json.output.trim()) as Record<string, unknown>;
    expect(parsed).toMatchObject({ id, code: 'model_refused', redriven: null, record: { request_id: 'listed' } });
    expect(json.output).not.toContain('eyJ');
    expect((await dying.command('list', '--since', '2999-01-01')).output).toBe('There is no such dead letter.\n');
    await dying.command('redrive', id);
    expect((await dying.command('list', '--session', 'session-of-listed')).output).toContain('re-driven by ');
  });

  it.each([
    [['redrive'], /Name the dead letters by their ids, or by a filter/],
    [['redrive', '0/1', '--all'], /by their ids, or by a filter/],
    [['redrive', '12'], /names no dead letter: an id is partition\/offset/],
    [['show', '0/999'], /There is no dead letter 0\/999/],
    [['list', '--topic', 'agent.nothing'], /There is no topic agent\.nothing/],
    [['list', '--code', 'nothing'], /There is no code nothing/],
    [['list', '--since', 'yesterday'], /--since is "yesterday"; write how long ago/],
    [['mend'], /There is no "mend"; say what to do with dead letters/],
  ])('%j is answered with a sentence', async (args, message) => {
    await expect(dying.command(...args)).rejects.toThrow(message);
  });
});
