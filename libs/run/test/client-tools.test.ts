import { describe, expect, it } from '@jest/globals';
import { compileConfiguration } from '@sluice/configuration';
import { canonicalJson, compileEvaluator, evaluatorFor } from '@sluice/core';
import type { Configuration } from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import { clientToolsProblem } from '@sluice/run';
import { clientsLast } from '../src/client-tools.js';
import { sampleInputs } from '../../configuration/test/sample-inputs.js';

const schema = { type: 'object', properties: { city: { type: 'string' } } };
const tool = (name: string) => ({ name, description: 'Says it.', schema, hash: sha256(canonicalJson(schema)) });
const text = (...tools: readonly object[]) => JSON.stringify({ tools, said: 's' });

const { configuration, problems } = compileConfiguration(
  {
    tool: { own: { type: 'text-completion', group: ['work'] } },
    policy: { allowed_tools: ['own'] },
    agents: {
      default: { client_tools: ['get_*', 'look'], arguments: { client__look: { city: { one_of: ['Bern'] } } } },
      other: { instructions: 'Help.' },
    },
  },
  sampleInputs,
);
if (configuration === null) throw new Error(JSON.stringify(problems));
const base: Configuration = configuration;
const evaluator = compileEvaluator(base);
const request = (clientTools: string | null, agent: string | null = null) => ({ agent, call: null, clientTools });

describe('tools of the client', () => {
  it('are offered beside those of the configuration, whatever groups are asked for', () => {
    const own = evaluatorFor(evaluator, request(text(tool('get_weather'), tool('send'))));
    const facts = { state: null, toolIds: null, calls: {}, connections: [] };
    expect(own.evaluate({ ...facts, groups: [] }).offered.map(({ id }) => id)).toEqual(['client__get_weather']);
    expect(own.configuration.tools.slice(0, -1)).toEqual(base.tools);
    expect(own.byId('client__get_weather')?.spec?.effect).toBe('external_side_effect');
    expect(evaluatorFor(evaluator, request(text(tool('get_weather'), tool('send'))))).toBe(own);
    expect(evaluatorFor(own, request(null)).byId('client__get_weather')).toBeUndefined();
    expect(evaluatorFor(evaluator, request(text(tool('get_weather')), 'other')).byId('client__get_weather')).toBe(
      undefined,
    );
  });

  it('take the place of no tool of the configuration', () => {
    const [first] = base.tools;
    const named = {
      ...base,
      tools: [{ ...(first as (typeof base.tools)[number]), key: 'client__look' }, ...base.tools.slice(1)],
    };
    const own = evaluatorFor(compileEvaluator(named), request(text(tool('look'))));
    expect(own.tool('client__look')?.id).toBe(first?.id);
    expect(clientToolsProblem(request(text(tool('look'))), named)).toMatch(/has the place/);
  });

  it.each([
    ['no text of a door', '{}', /a door wrote/],
    ['a name that is none', text(tool('a b')), /letters/],
    ['one name twice', text(tool('look'), tool('look')), /Rename one/],
    ['a tool that the agent does not take', text(tool('send')), /agents\.default\.client_tools/],
    ['another schema', text({ ...tool('look'), schema: {} }), /another schema/],
    ['too many', text(...Array.from({ length: 129 }, (_, n) => tool(`get_${n}`))), /limit is 128/],
    ['too much', text({ ...tool('look'), description: 'x'.repeat(140_000) }), /bytes/],
  ])('are refused where they are %s', (_, given, message) => {
    expect(clientToolsProblem(request(given), base)).toMatch(message);
  });

  it('pass where the agent takes them', () => {
    expect(clientToolsProblem(request(text(tool('look'), tool('get_weather'))), base)).toBeNull();
    expect(clientToolsProblem(request(null), base)).toBeNull();
    expect(clientToolsProblem({ ...request(text(tool('look'))), call: {} as never }, base)).toMatch(/makes a call/);
  });

  it('are called behind all others of a turn', () => {
    const calls = ['client__a', 'core__x', 'client__b', 'core__y'].map((name) => ({ tool: name }));
    expect(clientsLast(calls).map((call) => call.tool)).toEqual(['core__x', 'core__y', 'client__a', 'client__b']);
  });
});
