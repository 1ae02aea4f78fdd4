import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { topics } from '@sluice/contracts';
import type { Topic } from '@sluice/contracts';
import type { Bus, Incoming, ReadOptions } from '@sluice/bus';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { startMcp } from '../../apps/mcp/src/mcp.module.js';
import { followRun } from '../../apps/sluice/src/run-request.js';
import { RunStories } from '../../apps/sluice/src/show/run-stories.js';
import { Sluice } from '../../packages/client/src/client.js';
import type { RunEvent } from '../../packages/client/src/events.js';
import { inOrder, ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { oldClient } from '../mcp/with-mcp.js';
import { post } from './over-http.js';

const configuration = `
tool:
  todo: { type: add_todo, group: [write], state: planned }
  clock: { type: get_current_time, group: [basic] }
policy: { allowed_tools: [todo] }
`;
const call = { tool: 'todo', arguments: '{"task":"Try it"}' };
const plain = new Proxy({}, { get: () => (text: string) => text }) as ConstructorParameters<typeof RunStories>[1];

/**
 * The log as who follows it may have it on Kafka, where the records of a run stand on several topics: before the end of
 * a run only those of these topics, the others behind it. No progress, which is best effort.
 */
function endFirst(bus: Bus, before: readonly Topic[] = [topics.requests, topics.calls]): Bus {
  async function* read(wanted: readonly Topic[], options: ReadOptions): AsyncGenerator<Incoming, void, undefined> {
    const held: Incoming[] = [];
    for await (const message of bus.read(wanted, options)) {
      const isHeld = message.topic !== topics.responses && !before.includes(message.topic);
      if (options.follow === true && message.topic === topics.progress) continue;
      if (options.follow === true && isHeld) held.push(message);
      else {
        yield message;
        if (message.topic === topics.responses) yield* held.splice(0);
      }
    }
  }
  return new Proxy(bus, {
    get: (target, name) => {
      if (name === 'read') return read;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

describe('who follows a run whose end is read before its steps', () => {
  let system: TestSystem;
  /** In the order in which the records were written, and the end first. */
  const gateways: Gateway[] = [];
  beforeAll(async () => {
    const turns = [{ thought: 'I look.', calls: [['core__todo', '{"task":"Try it"}']] }, { answer: 'Found.' }];
    system = await startSystem(configuration, new ScriptedModel(inOrder(...(turns as never[]))));
    const { runtime } = system.embedded;
    for (const bus of [endFirst(runtime.bus, Object.values(topics)), endFirst(runtime.bus)])
      gateways.push(await startGateway({ ...runtime, bus }));
  });
  afterAll(async () => {
    for (const gateway of gateways) await gateway.close();
    await system.close();
  });

  /** What each gateway answers, without what differs between two runs. */
  const both = (path: string, body: object, headers: Readonly<Record<string, string>> = {}) =>
    Promise.all(
      gateways.map(async ({ url }) => {
        const answer = await (await post(`${url}${path}`, body, headers)).text();
        return answer.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|"(token|created|[a-z_]*_at|since)":("[^"]*"|\d+)/g, '');
      }),
    );

  it.each([
    ['todo', 'write'],
    ['todo', 'basic'],
    ['clock', 'basic'],
  ])('has the stream of a call of %s with the group %s, as with its step first', async (tool, group) => {
    const body = { ...{ question: 'Call', group: [group] }, call: { ...call, tool } };
    const streams = await both('/v1/runs', body, { accept: 'text/event-stream' });
    expect(streams[1]).toBe(streams[0]);
    for (const type of ['step-start', 'part-start', 'result', 'step-finish', 'message-finish'])
      expect(streams[1]).toContain(`"type":"${type}"`);
    expect(streams[1]?.split('"type":"result"')).toHaveLength(2);
    const messages = await both('/v1/runs?stream_format=ui-message', body);
    expect(messages[1]).toBe(messages[0]);
    expect(messages[1]).toContain('"type":"finish-step"');
  });

  it('has each event of a call once, of a client', async () => {
    const found = await Promise.all(
      gateways.map(async ({ url }) => {
        const events: RunEvent[] = [];
        const asked = new Sluice({ url }).runs.stream({ question: 'Call', group: ['write'], call });
        for await (const event of asked) if (event.type !== 'run') events.push(event);
        return events;
      }),
    );
    expect(found[1]).toEqual(found[0]);
    expect(found[1]?.map(({ type }) => type)).toEqual([
      'iteration',
      'tool_call',
      'tool_result',
      'iteration_end',
      'text',
      'end',
    ]);
  });

  it('has each turn of a model in a step of its own, so that a door answers with all that was said', async () => {
    const body = { question: 'Look', group: ['*'] };
    const [stream = ''] = (await both('/v1/runs', body, { accept: 'text/event-stream' })).slice(1);
    expect(stream.split('"type":"step-start"')).toHaveLength(3);
    expect(stream.indexOf('I look.')).toBeLessThan(stream.indexOf('"type":"result"'));
    expect(stream.indexOf('"type":"result"')).toBeLessThan(stream.indexOf('Found.'));
    const chat = { model: 'sluice/default', messages: [{ role: 'user', content: 'Look' }] };
    const whole = await both('/openai/v1/chat/completions', chat);
    expect(whole[1]).toContain('I look.\\n\\nFound.');
    expect(whole[1]).toBe(whole[0]);
  });

  it('has the result of a call over MCP', async () => {
    const { runtime } = system.embedded;
    const mcp = await startMcp({ ...runtime, bus: endFirst(runtime.bus) });
    const client = await oldClient(mcp.url);
    try {
      const result = await client.callTool({ name: 'todo', arguments: { task: 'Try it' } });
      expect(JSON.stringify(result)).toContain('Try it');
      expect(result.isError ?? false).toBe(false);
    } finally {
      await client.close();
      await mcp.close();
    }
  });

  it.each([
    ['a call', { call: { ...call, order: null } }],
    ['a model’s run', {}],
  ])('is shown the call of %s once by `sluice call` and `sluice ask`', async (_, more) => {
    const { requestId } = await system.ask({ ...more, group: ['*'] });
    let shown = '';
    const story = new RunStories((text) => (shown += text), plain);
    await followRun(endFirst(system.bus), requestId, 0, (message, within) => story.tell(message, within));
    expect(shown).toMatch(/Iteration 1 +in state undefined\n +call +todo \{"task":"Try it"\}\n +observed [^]*\nAnswer/);
    expect(shown.match(/observed/g)).toHaveLength(1);
  });
});
