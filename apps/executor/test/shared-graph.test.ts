import { describe, expect, it } from '@jest/globals';
import { builtInTools } from '@sluice/tools';
import { configurationOf, configured } from '../../../libs/tools/test/configured.js';
import { unsharedGraph } from '../src/shared-graph.js';

const contract = (type: string) => {
  const found = builtInTools.find((one) => one.type === type);
  if (found === undefined) throw new Error(`There is no type ${type}.`);
  return found;
};
const [update, query] = [configured(contract('graph-update')), configured(contract('knowledge-query'))];
const endpoint = { load: [], endpoint: 'http://store/query', updateEndpoint: 'http://store/update' };

describe('a graph that executors do not share', () => {
  it('is told of on Kafka, where a tool may change it, with what to do', () => {
    const said = unsharedGraph(configurationOf([update, query]), builtInTools, { bus: 'kafka' });
    expect(said).toMatch(/allows core__graph-update, and .* knowledge\.endpoint .* policy\.allowed_tools/);
  });

  it.each([
    ['the log is in the data folder', configurationOf([update]), 'sqlite'],
    ['the store is shared', { ...configurationOf([update]), knowledge: endpoint }, 'kafka'],
    ['tools only read', configurationOf([query]), 'kafka'],
    ['the policy does not allow it', configurationOf([update], []), 'kafka'],
  ] as const)('is nobody’s affair where %s', (_, configuration, bus) => {
    expect(unsharedGraph(configuration, builtInTools, { bus })).toBeNull();
  });
});
