import { describe, expect, it } from '@jest/globals';
import { compileConfiguration } from '@sluice/configuration';
import fc from 'fast-check';
import { sampleInputs } from './sample-inputs.js';

const wire = /^[A-Za-z0-9_-]{1,64}$/;
const odd = fc.string({ unit: fc.constantFrom('a', 'Z', '0', '_', '-', ':', '.', '/', ' ', 'ü', '\n', '*', '"'), minLength: 1, maxLength: 70 }); // prettier-ignore

function compiled(file: unknown) {
  const { configuration, problems } = compileConfiguration(file, sampleInputs);
  return { tools: configuration?.tools ?? null, problems };
}

describe('the ids of tools (T-16b, T-22a, XB-5, XB-7)', () => {
  it('hold letters, digits, _ and - alone behind core__, whatever the key; a key that gives none is refused by name', () => {
    fc.assert(
      fc.property(odd, (key) => {
        const { tools, problems } = compiled({ tool: { [key]: { type: 'knowledge-query' } } });
        if (tools === null) {
          expect(problems.length).toBeGreaterThan(0);
          return;
        }
        expect(tools[0]?.id).toMatch(wire);
        expect(tools[0]?.id).toBe(`core__${key.replace(/[^A-Za-z0-9_-]/gu, '_')}`);
        expect(tools[0]?.spec?.name).toBe(tools[0]?.id);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    [58, true],
    [59, false],
  ])('have 64 characters at most, so that a key of %i is taken: %s', (length, taken) => {
    const { tools, problems } = compiled({ tool: { ['k'.repeat(length)]: { type: 'knowledge-query' } } });
    expect(tools !== null).toBe(taken);
    if (!taken) expect(problems.map(({ found }) => found).join()).toContain('65 characters');
  });

  it.each(['get:time', 'get.time', 'get time'])('make no other separator of what stands in a key: %j', (key) => {
    expect(compiled({ tool: { [key]: { type: 'knowledge-query' } } }).tools?.[0]?.id).toBe('core__get_time');
  });

  it.each(['an:alysis', 'an.alysis', 'an__alysis', 'an alysis'])('cannot begin with a server of the name %j', (id) => {
    const file = { tool: { one: { type: 'knowledge-query' } }, mcp: { servers: { [id]: { command: 'node' } } } };
    const { tools, problems } = compiled(file);
    expect(tools).toBeNull();
    expect(problems.map(({ found }) => found).join()).toContain(JSON.stringify(id));
  });

  it('of a server’s tools hold its name and the tool’s between double underscores, and what does not fit is not offered', () => {
    fc.assert(
      fc.property(odd, (name) => {
        const offers = [
          { server: 's-1', tools: [{ name, description: 'd', inputSchema: { type: 'object' }, outputSchema: null }] },
        ];
        const tools = { one: { server: 's-1', tool: name, redaction: 'whole' } };
        const file = { tool: { one: { type: 'mcp-tool' } }, mcp: { servers: { 's-1': { command: 'node' } }, tools } };
        const { configuration } = compileConfiguration(file, { ...sampleInputs, offers });
        for (const tool of configuration?.tools ?? []) {
          expect(tool.id).toBe(`mcp__s-1__${name.replace(/[^A-Za-z0-9_-]/gu, '_')}`);
          if (tool.spec !== null) expect(tool.id).toMatch(wire);
        }
      }),
      { numRuns: 300 },
    );
  });
});
