import { describe, expect, it } from '@jest/globals';
import { Story } from '../apps/sluice/src/show/story.js';
import { inOrder, ScriptedModel, startSystem } from './harness/system.js';

const plain = new Proxy({}, { get: () => (text: string) => text }) as ConstructorParameters<typeof Story>[1];

describe('what a person is shown of a run', () => {
  it('has a call of a tool that nobody knows by its name, with its arguments and how it ended (K-18)', async () => {
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
