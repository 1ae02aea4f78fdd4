import { describe, expect, it } from '@jest/globals';
import { compileConfiguration } from '@sluice/configuration';
import { argumentsProblem } from '@sluice/tools';
import { sampleInputs } from '../../configuration/test/sample-inputs.js';

const compiled = (entry: object) =>
  compileConfiguration(
    {
      tool: { write: { type: 'text-completion', ...entry } },
      policy: { allowed_tools: ['write'] },
    },
    { ...sampleInputs, argumentsProblem },
  );

describe('what a configuration says of a tool for MCP clients', () => {
  it('is an icon and examples, and without them the version stays as it was', () => {
    const icon = 'data:image/png;base64,iVBORw0KGgo=';
    const { configuration, problems } = compiled({ icon, examples: [{ prompt: 'Hello' }] });
    expect(problems).toEqual([]);
    expect(configuration?.tools[0]).toMatchObject({ icon, examples: [{ prompt: 'Hello' }] });
    const plain = compiled({}).configuration;
    expect(Object.keys(plain?.tools[0] ?? {})).not.toEqual(expect.arrayContaining(['icon']));
    expect(compiled({ examples: [] }).configuration?.version).toBe(plain?.version);
  });

  it.each([
    ['examples: an argument of the wrong kind (XM-2)', { examples: [{ prompt: 1 }] }, 'tool.write.examples[0]'],
    ['examples: a missing argument (XM-2)', { examples: [{ prompt: 'a' }, {}] }, 'tool.write.examples[1]'],
    ['examples: no map', { examples: ['a'] }, 'tool.write.examples[0]'],
    ['examples: too large', { examples: [{ prompt: 'x'.repeat(5_000) }] }, 'tool.write.examples[0]'],
    ['examples: too many', { examples: Array.from({ length: 9 }, () => ({ prompt: 'a' })) }, 'tool.write.examples'],
    ['icon: over plain http', { icon: 'http://example.com/i.png' }, 'tool.write.icon'],
    ['icon: a script', { icon: 'javascript:alert(1)' }, 'tool.write.icon'],
    ['icon: a page', { icon: 'data:text/html;base64,PGI+' }, 'tool.write.icon'],
    ['icon: too large', { icon: `data:image/png;base64,${'A'.repeat(20_000)}` }, 'tool.write.icon'],
  ])('refuses %s', (_, entry, path) => {
    expect(compiled(entry).problems).toEqual([expect.objectContaining({ path })]);
  });
});
