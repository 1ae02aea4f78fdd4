import { describe, expect, it } from '@jest/globals';
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
