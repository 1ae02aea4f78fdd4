import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AuditStory } from '../../apps/sluice/src/show/audit-story.js';
import { sessionEntries } from '../../apps/sluice/src/audit/session.js';
import { followRun } from '../../apps/sluice/src/run-request.js';
import { Story } from '../../apps/sluice/src/show/story.js';
import { RunParts } from '../../apps/gateway/src/stream/parts.js';
import { caughtUp } from '../audit/auditing.js';
import type { TestSystem } from '../harness/system.js';
import { planned, planner, startPlans, wholeWorkflow } from '../harness/with-plans.js';

const plain = new Proxy({}, { get: () => (text: string) => text }) as ConstructorParameters<typeof Story>[1];

describe('what is reported of a run that works by a plan', () => {
  let system: TestSystem;
  beforeAll(async () => {
    const { opened, end } = await startPlans(planner([planned(...wholeWorkflow)]));
    system = opened;
    await end();
  });
  afterAll(() => system.close());

  it('to the caller: what was decided in each turn, and why', async () => {
    let shown = '';
    const story = new Story((text) => (shown += text), plain);
    await followRun(system.bus, 'run-1', 0, (message) => story.tell(message));
    expect(shown).toMatch(/strategy +plan: plan\. The run begins with a plan\./);
    expect(shown).toMatch(/strategy +plan: call\. Step 2 of 3 as it was planned\./);
    expect(shown).toMatch(/strategy +plan: answer\. All 3 steps of the plan are done\./);
  });

  it('by the audit, with what each decision rests on', async () => {
    const report = await caughtUp(system.bus, system.embedded.runtime.signatures);
    expect(report.findings).toEqual([]);
    const { entries } = await sessionEntries(system.bus, 'session-1');
    const chosen = entries.filter(({ kind }) => kind === 'calls_chosen').map(({ details }) => details['decision']);
    expect(chosen[1]).toEqual({
      ...{ strategy: 'plan', action: 'call', reason: 'Step 1 of 3 as it was planned.', plan: 1, step: 1 },
    });
    expect(entries.find(({ kind }) => kind === 'tools_granted')?.details).toMatchObject({ strategy: { name: 'plan' } });
    let shown = '';
    const story = new AuditStory((text) => (shown += text), plain);
    for (const entry of entries) story.tell(entry);
    expect(shown).toContain('the plan’s step core__knowledge-query');
    expect(shown).toContain('; plan decided call: Step 3 of 3 as it was planned.');
  });

  it('over HTTP, as it happens', async () => {
    const parts = new RunParts();
    const sent: unknown[] = [];
    await followRun(system.bus, 'run-1', 0, (message) => {
      for (const chunk of parts.of(message))
        if (chunk.type === 'part-start' && chunk.part.type === 'data' && chunk.part.name === 'decision')
          sent.push(chunk.part.data);
    });
    expect(sent).toHaveLength(5);
    expect(sent[1]).toMatchObject({ iteration: 2, action: 'call', plan: 1, step: 1 });
    expect(sent[4]).toMatchObject({ iteration: 5, action: 'answer' });
  });
});
