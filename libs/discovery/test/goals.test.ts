import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { discoveryStrategies } from '@sluice/core';
import { chooseTools, searchResultText, searchTools } from '@sluice/discovery';

interface Sample {
  readonly tools: Readonly<Record<string, string>>;
  readonly measuring: readonly (readonly [question: string, tool: string])[];
}

const sample = JSON.parse(readFileSync('bench/discovery/metatool.json', 'utf8')) as Sample;
const tools = Object.entries(sample.tools).map(([name, description]) => ({ name, description, parameters: null }));
const none = { recentlyUsed: new Set<string>(), expanded: new Set<string>(), alwaysKeep: new Set<string>() };

describe('what discovery is for', () => {
  it('keeps the needed tool of three questions in four, and leaves seven tools in eight out (DS-03, DS-131)', () => {
    const questions = sample.measuring.slice(0, 200);
    const kept = questions.map(([query, tool]) => {
      const choice = chooseTools('ranked', tools, { query, ...none }, { minTools: 5, maxTools: 25, targetRatio: 0.8 });
      expect(choice.kept).toHaveLength(25);
      return choice.kept.some((at) => tools[at]?.name === tool);
    });
    // The others have descriptions that share no word with the question: docs/discovery.md says so.
    expect(kept.filter(Boolean).length / kept.length).toBeGreaterThan(0.7);
    expect(readFileSync('docs/discovery.md', 'utf8')).toContain('no better than the names and descriptions');
  });

  it('has the four strategies of the document, and others beside them (DS-06)', () => {
    const ofTheDocument = ['passthrough', 'relevance', 'tool-search', 'api'];
    expect(discoveryStrategies).toEqual(expect.arrayContaining(ofTheDocument));
    const page = readFileSync('docs/discovery.md', 'utf8');
    const table = /^## Strategies\n([\s\S]*?)^`relevance`/m.exec(page)?.[1] ?? '';
    expect([...table.matchAll(/^\| `([^`]+)`/gm)].map(([, name]) => name).sort()).toEqual(
      [...discoveryStrategies].sort(),
    );
  });

  it('says to use other words where a pattern misses what was meant (DS-132)', async () => {
    const query = 'gets?_the_forecast$';
    expect((await searchTools(tools, query, { maxResults: 5, alwaysKeep: new Set() })).matches).toEqual([]);
    expect(searchResultText(query, [])).toMatch(/Search again with other or fewer words/);
  });
});
