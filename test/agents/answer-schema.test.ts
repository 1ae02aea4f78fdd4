import { afterEach, describe, expect, it } from '@jest/globals';
import { replayed } from '../replay/replaying.js';
import { ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';

let system: TestSystem | undefined;
afterEach(async () => {
  await system?.close();
  system = undefined;
});

const configuration = `
model: { provider: openai-compatible, name: scripted, base_url: 'http://127.0.0.1:9' }
tool:
  now: { type: get_current_time, group: [clock] }
  done: { type: mark_complete, group: [clock] }
  help: { type: agent, description: Helps, group: [helpers], agent: { agent: triage, group: [clock] } }
policy:
  allowed_tools: [now, done, help]
  allowed_agents: [help]
agents:
  triage:
    answer_schema: { type: object, properties: { queue: { enum: [sales, support] } }, required: [queue], additionalProperties: false }
`; // prettier-ignore

const number = JSON.stringify({ type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] });

describe('an answer with a schema', () => {
  it('is asked for with the schema, checked, asked for again with the faults, and given as JSON', async () => {
    const answers = ['It is 1.', '{"n":"one"}', '```json\n{"n": 12345678901234567890}\n```'];
    const model = new ScriptedModel(() => ({ answer: answers.shift() ?? '' }));
    const opened = (system = await startSystem(configuration, model));
    const end = await opened.ask({ requestId: 'held', answerSchema: number });
    expect(end).toMatchObject({ kind: 'answer', structured: '{"n":12345678901234567890}' });
    expect(end.answer).toContain('```');
    // The tokens of all replies count.
    expect(end.run).toMatchObject({ iteration: 1, inputTokens: 3, outputTokens: 3 });
    expect(model.asked.map(({ answerSchema }) => answerSchema)).toEqual(Array(3).fill(JSON.parse(number)));
    expect(model.asked[0]?.instructions).toContain(number);
    expect(model.asked[1]?.instructions).toContain('it is no JSON text');
    expect(model.asked[2]?.instructions).toContain('/n: expected an integer, found a string');
    expect(end.model?.askedAgain).toContain('/n: expected an integer');

    model.script = () => ({ answer: 'Free text.' });
    expect(await opened.ask({ requestId: 'free' })).toMatchObject({ answer: 'Free text.', structured: null });
    const failed = await opened.ask({ requestId: 'failed', answerSchema: number });
    expect(failed.error).toMatchObject({ code: 'answer_invalid' });
    expect(failed.error?.message).toContain('it is no JSON text');
    expect(failed.run).toMatchObject({ inputTokens: 3, outputTokens: 3 });

    const found = await replayed(opened.bus, null);
    expect(found.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
    expect(new Set(found.map(({ requestId }) => requestId)).size).toBe(3);
  });

  it('is held to the agent’s schema, which the request’s own goes before, and the caller’s answer is not', async () => {
    const model = new ScriptedModel(({ history, tools, answerSchema }) => {
      if (answerSchema === undefined)
        return history.length === 0 ? { calls: [[tools[0]?.id ?? '', '{"question":"Where?"}']] } : { answer: 'Sent.' };
      return { answer: JSON.stringify('required' in answerSchema && JSON.stringify(answerSchema).includes('queue') ? { queue: 'sales' } : { n: 7 }) }; // prettier-ignore
    });
    const opened = (system = await startSystem(configuration, model));
    expect((await opened.ask({ requestId: 'own', agent: 'triage' })).structured).toBe('{"queue":"sales"}');
    expect((await opened.ask({ requestId: 'asked', agent: 'triage', answerSchema: number })).structured).toBe(
      '{"n":7}',
    );
    const calling = await opened.ask({ requestId: 'calling', group: ['helpers'] });
    expect([calling.answer, calling.structured]).toEqual(['Sent.', null]);
    expect(calling.history[0]?.observation).toBe('{"queue":"sales"}');
    const found = await replayed(opened.bus, null);
    expect(found.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
  });

  it('comes behind a summary that would end other runs', async () => {
    const model = new ScriptedModel(({ history }) =>
      history.length === 0 ? { calls: [['core__done', '{"summary":"All done."}']] } : { answer: '{"n":1}' },
    );
    const opened = (system = await startSystem(configuration, model));
    const end = await opened.ask({ requestId: 'done', group: ['clock'], answerSchema: number });
    expect([end.structured, end.iterations, end.history.length]).toEqual(['{"n":1}', 2, 1]);
    expect((await replayed(opened.bus, null)).filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
  });

  it('is refused where the schema is none, where no model is asked, and where the model is that of rules', async () => {
    const opened = (system = await startSystem(configuration, new ScriptedModel(() => ({ answer: 'Never.' }))));
    const refused = async (request: Parameters<TestSystem['ask']>[0]) => (await opened.ask(request)).error?.message;
    expect(await refused({ answerSchema: '{' })).toContain('answer_schema is no JSON');
    const call = { tool: 'now', arguments: '{}', order: null };
    expect(await refused({ answerSchema: number, call })).toContain('Leave one of both out');
    await opened.close();
    const ruled = configuration.replace(/^model:.*\n/m, '').replace(/^agents:[\s\S]*/m, '');
    const other = (system = await startSystem(ruled.replaceAll(/^ {2}help:.*\n/gm, '').replaceAll(', help', '').replace('[help]', '[]'), new ScriptedModel(() => ({ answer: '{}' })))); // prettier-ignore
    const end = await other.ask({ requestId: 'ruled', answerSchema: number });
    expect(end.error?.message).toContain('The built-in model `rules` gives no answers by a schema');
  });
});
