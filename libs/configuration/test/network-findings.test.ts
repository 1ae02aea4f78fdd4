import { describe, expect, it } from '@jest/globals';
import { compileConfiguration } from '@sluice/configuration';
import type { Finding, ToolFile, ToolType } from '@sluice/core';
import { sampleInputs } from './sample-inputs.js';

const [sample] = sampleInputs.types as readonly [ToolType];

/** What is found of a tool file that says and uses this. */
function found(network: ToolFile['network'], networkUses: readonly string[] = [], allowed = ['*']): readonly Finding[] {
  const file = { path: 'my/tool.mjs', hash: 'a hash', ...(network === undefined ? {} : { network }) };
  const own = { ...sample, type: 'own', file, ...(networkUses.length === 0 ? {} : { networkUses }) };
  const tool = { own: { type: 'own' }, other: { type: sample.type } };
  const raw = { tool, policy: { allowed_tools: allowed } };
  const { configuration, findings } = compileConfiguration(raw, {
    ...sampleInputs,
    types: [...sampleInputs.types, own],
  });
  expect(configuration?.tools[0]?.file).toEqual(file);
  return findings.filter(({ kind }) => kind === 'open_network' || kind === 'no_network');
}

describe('what a tool file asks for of a network', () => {
  it('is in the compiled configuration, and all of it is a finding', () => {
    const [open, ...more] = found('open', ['fetch']);
    expect(more).toEqual([]);
    expect(open).toMatchObject({ path: 'my/tool.mjs', message: expect.stringContaining('Name the hosts') });
    expect(found(['api.example.com'], ['fetch'])).toEqual([]);
    expect(found(undefined)).toEqual([]);
  });

  it('is missed where the file uses one, with what it uses', () => {
    expect(found(undefined, ['fetch', 'node:https'])).toMatchObject([
      { message: expect.stringMatching(/^It uses fetch and node:https and declares no network, so its requests fail/) },
    ]);
  });

  it('is another finding where no tool has it', () => {
    const file = { path: 'my/tool.mjs', hash: 'a hash' };
    const own = { ...sample, type: 'own', file, closedUses: ['writing files', 'the environment'] };
    const raw = { tool: { own: { type: 'own' } }, policy: { allowed_tools: ['*'] } };
    const { findings } = compileConfiguration(raw, { ...sampleInputs, types: [...sampleInputs.types, own] });
    expect(findings.filter(({ kind }) => kind === 'closed_to_tools')).toMatchObject([
      {
        path: 'my/tool.mjs',
        message: expect.stringMatching(/^It uses writing files and the environment, which no tool has/),
      },
    ]);
  });

  it('has no finding where its tool is not allowed', () => {
    expect([...found('open', [], ['other']), ...found(undefined, ['fetch'], ['other'])]).toEqual([]);
  });
});
