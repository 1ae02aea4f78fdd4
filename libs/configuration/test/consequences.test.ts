import { describe, expect, it } from '@jest/globals';
import { withoutConsequences } from '../src/misspelt.js';
import { unknownName } from '../src/problems.js';

const broken = { path: 'tool', found: 'the text "both"', write: 'a map of keys and values' };

describe('a name that is unknown because its section cannot be read', () => {
  it('is no mistake of its own', () => {
    const follows = { path: 'policy.allowed_tools[0]', ...unknownName('tool', 'a "b"'), write: 'another name' };
    expect(withoutConsequences([broken, follows], { tool: 'both' })).toEqual([broken]);
    expect(withoutConsequences([broken, follows], { tool: { 'a "b"': 3 } })).toEqual([broken]);
  });

  it('is known by its kind, not by how the mistake is worded', () => {
    const { unknown: _, ...worded } = { path: 'a', ...unknownName('tool', 'b'), write: 'another name' };
    expect(withoutConsequences([broken, worded], { tool: 'both' })).toEqual([broken, worded]);
    const other = { path: 'a', found: 'something else', write: 'it', unknown: { kind: 'tool', name: 'b' } } as const;
    expect(withoutConsequences([broken, other], { tool: 'both' })).toEqual([broken]);
  });
});
