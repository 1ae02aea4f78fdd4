import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RecommendedGroup } from '@sluice/discovery';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { calls, workflowConfiguration } from '../harness/configurations.js';
import { eventually } from '../harness/eventually.js';
import { inOrder, ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';

const settings = 'agents: { default: { tool_discovery: { strategy: ranked, recent: true } } }';

describe('groups that are recommended', () => {
  let system: TestSystem;
  let gateway: Gateway;
  beforeAll(async () => {
    const model = new ScriptedModel(inOrder({ calls: [calls.update] }));
    system = await startSystem(workflowConfiguration({ limits: settings }), model);
    gateway = await startGateway(system.embedded.runtime);
  });
  afterAll(async () => {
    await gateway.close();
    await system.close();
  });

  it('go by what runs of the tenant called, where that is kept (G-175)', async () => {
    const recommended = async () => {
      const response = await fetch(`${gateway.url}/v1/groups/recommended?question=entities`);
      const { groups } = (await response.json()) as { readonly groups: readonly RecommendedGroup[] };
      return groups;
    };
    const other = await fetch(`${gateway.url}/v1/groups/recommended?question=${encodeURIComponent('明天的天气')}`);
    const { groups: none, note } = (await other.json()) as { readonly groups: unknown; readonly note: string };
    expect([none, note]).toEqual([[], expect.stringMatching(/ask in the language of the descriptions/)]);
    const before = await recommended();
    expect(before[0]?.name).toBe('knowledge');
    expect(before.flatMap(({ tools }) => tools.map(({ called }) => called)).every((called) => called === 0)).toBe(true);
    await system.ask({ group: ['write'], state: 'analysis' });
    const after = await eventually(recommended, (groups) => groups[0]?.name === 'write');
    expect(after[0]?.tools).toMatchObject([{ key: 'graph-update', called: 1 }]);
    expect(after.map(({ name }) => name).toSorted()).toEqual(before.map(({ name }) => name).toSorted());
    expect(await recommended()).toEqual(after);
  });
});
