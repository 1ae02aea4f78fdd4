import { describe, expect, it } from '@jest/globals';
import { pathThrough, layoutStates, wayLabel } from '../src/graph/layout.js';

const state = (name: string, transitions: Record<string, string> = {}) => ({ name, tools: [], transitions });

describe('The graph of states', () => {
  it('places each state once and each way with its tools', () => {
    const { states, ways, width, height } = layoutStates(
      [
        state('undefined', { query: 'found', search: 'found', stay: 'undefined', odd: 'nowhere' }),
        state('found', { back: 'undefined' }),
      ],
      'right',
    );
    expect(states.map(({ state: { name } }) => name)).toEqual(['undefined', 'found']);
    expect(states.every(({ x, y }) => x >= 0 && y >= 0 && x < width && y < height)).toBe(true);
    expect(ways.map(({ from, to, tools }) => `${from} ${to} ${tools.join()}`)).toEqual([
      'undefined found query,search',
      'found undefined back',
    ]);
    expect(pathThrough(ways[0]?.points ?? [])).toMatch(/^M [\d.]+ [\d.]+ Q /);
  });

  it('names two tools at a way and counts the rest', () => {
    expect(wayLabel(['a', 'b'])).toBe('a, b');
    expect(wayLabel(['a', 'b', 'c', 'd'])).toBe('a, b +2');
  });
});
