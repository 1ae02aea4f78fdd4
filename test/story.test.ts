import { describe, expect, it } from '@jest/globals';
import type { Incoming } from '@sluice/bus';
import { Elapsed } from '../apps/sluice/src/show/elapsed.js';
import { shortenApart, Story } from '../apps/sluice/src/show/story.js';
import { inOrder, ScriptedModel, startSystem } from './harness/system.js';

const plain = new Proxy({}, { get: () => (text: string) => text }) as ConstructorParameters<typeof Story>[1];

describe('two values that differ', () => {
  const [one, other] = ['a', 'b'].map((end) => `"${'0'.repeat(200)}${end}"`) as [string, string];
  it('are shown up to where they do, and cut behind it', () => {
    expect(shortenApart(one, other, 40)).toEqual([`…${'0'.repeat(12)}a"`, `…${'0'.repeat(12)}b"`]);
    expect(shortenApart('sha 1', 'sha 2', 40)).toEqual(['sha 1', 'sha 2']);
    expect(shortenApart('x', `y${'z'.repeat(90)}`, 40)).toEqual(['x', `y${'z'.repeat(38)}…`]);
  });
});

describe('a tool that takes long', () => {
  const progress = (kind: string) =>
    ({
      topic: 'agent.progress',
      record: { requestId: 'r', iteration: 1, kind, toolCallId: 'c', tool: 'core__slow', notice: null },
    }) as Incoming;

  const watched = (terminal: boolean) => {
    let [shown, now] = ['', 0];
    const say = (text: string): void => void (shown += text);
    const elapsed = new Elapsed(
      { terminal, write: say, print: say, paint: plain },
      () => now,
      () => 80,
    );
    const after = (ms: number): string => {
      now = ms;
      shown = '';
      elapsed.show();
      return shown;
    };
    return { elapsed, after, shown: () => shown };
  };

  it('has its name and its time on one line, which goes before anything else is written', () => {
    const { elapsed, after, shown } = watched(true);
    elapsed.take(progress('tool_call_start'));
    expect(after(999)).toBe('');
    expect(after(1_500)).toBe('\r\u001b[K   running  core__slow 1 s');
    expect(after(61_000)).toBe('\r\u001b[K   running  core__slow 1 min 1 s');
    elapsed.write('next\n');
    expect(shown()).toBe('\r\u001b[K   running  core__slow 1 min 1 s\r\u001b[Knext\n');
    elapsed.take(progress('tool_call_result'));
    expect(after(62_000)).toBe('');
  });

  it('has no such line where there is no terminal', () => {
    const { elapsed, after } = watched(false);
    elapsed.take(progress('tool_call_start'));
    expect(after(5_000)).toBe('');
    elapsed.close();
  });
});

describe('what a person is shown of a run', () => {
  it('has a call of an unknown tool by its name, with its arguments and how it ended (K-18)', async () => {
    const model = new ScriptedModel(inOrder({ calls: [['made__up', '{"a":1}']] }, { calls: [['core__now', '{}']] }));
    const system = await startSystem(
      'tool: { now: { type: get_current_time } }\npolicy: { allowed_tools: [now] }',
      model,
    );
    try {
      await system.ask({});
      let shown = '';
      const story = new Story((text) => (shown += text), plain);
      for (const message of await system.all('agent.toolsets', 'agent.steps', 'agent.responses')) story.tell(message);
      expect(shown).toMatch(/call +made__up \{"a":1\}\n +observed +unavailable There is no tool of that name/);
      expect(shown).toMatch(/call +now \{\}\n +observed +\{"/);
    } finally {
      await system.close();
    }
  });
});
