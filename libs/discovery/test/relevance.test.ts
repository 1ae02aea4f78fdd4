import { describe, expect, it } from '@jest/globals';
import { chooseTools, keepBest, keepCount, relevanceOf, tokensOf } from '@sluice/discovery';
import type { RelevanceRequest, OfferedTool } from '@sluice/discovery';

const tool = (name: string, description = '', parameters: unknown = null): OfferedTool => ({
  name,
  description,
  parameters,
});
const asked = (
  query: string,
  more: Partial<Record<'expanded' | 'alwaysKeep' | 'recentlyUsed', string[]>> = {},
): RelevanceRequest => ({
  query,
  expanded: new Set(more.expanded),
  alwaysKeep: new Set(more.alwaysKeep),
  recentlyUsed: new Set(more.recentlyUsed),
});

describe('words that score', () => {
  it.each([
    ['GRAPH', ['graph']],
    ['read_file read-file read.file', ['read', 'file', 'read', 'file', 'read', 'file']],
    ['ls a the', []],
    ['naïve 2026', ['2026']],
  ])(
    'of %j are %j: lower case, letters and digits, no short words and no stop words (DS-51, DS-52, DS-53, XS-4)',
    (text, tokens) => {
      expect(tokensOf(text)).toEqual(tokens);
    },
  );
});

describe('the relevance score', () => {
  it.each([
    ['a tool that a search of the session found (DS-42)', asked('', { expanded: ['search_web'] }), 1_000],
    ['one that is always kept (DS-43)', asked('', { alwaysKeep: ['search_web'] }), 100],
    ['one whose output stands in the history (DS-44)', asked('', { recentlyUsed: ['search_web'] }), 100],
    ['one that the query names, in whatever case (DS-45, XS-2)', asked('SEARCH_WEB'), 50 + 20],
    ['one whose name stands inside a word (XS-2)', asked('xsearch_webx'), 50],
    ['each word of the query in name or description, repeats included (DS-46, XS-3)', asked('web web pages'), 30],
    ['all of it together (DS-47)', asked('search_web', { alwaysKeep: ['search_web'] }), 170],
    ['nothing of it', asked('read'), 0],
  ])('counts %s', (_, given, score) => {
    expect(relevanceOf([tool('search_web', 'Finds pages')], given)).toEqual([score]);
  });

  it('does not count parameters (XS-3)', () => {
    const parameters = { type: 'object', properties: { pages: { description: 'pages' } } };
    expect(relevanceOf([tool('find', '', parameters)], asked('pages'))).toEqual([0]);
  });
});

describe('the number of tools that are kept', () => {
  it.each([
    [100, { minTools: 5, maxTools: 100, targetRatio: 0.29 }, 28],
    [7, { minTools: 1, maxTools: 25, targetRatio: 0.8 }, 5],
    [40, { minTools: 5, maxTools: 25, targetRatio: 0.8 }, 25],
    [6, { minTools: 5, maxTools: 25, targetRatio: 0.8 }, 5],
    [20, { minTools: 10, maxTools: 5, targetRatio: 0.8 }, 10],
  ])('of %d under %j is %d (DS-48, DS-49, DS-50, XS-6, XS-7)', (total, counts, kept) => {
    expect(keepCount(total, counts)).toBe(kept);
  });
});

describe('the choice', () => {
  const counts = { minTools: 2, maxTools: 3, targetRatio: 0.5 };
  const tools = ['send_mail', 'read_file', 'write_file', 'web_search', 'add_note', 'list_notes'].map((name) =>
    tool(name),
  );
  const names = (indexes: readonly number[]): readonly string[] => indexes.map((index) => tools[index]?.name ?? '');

  it('keeps the best, in the request’s order, and defers the rest (DS-38, DS-40, DS-41, XS-5)', () => {
    const { kept, deferred } = chooseTools('relevance', tools, asked('Write that file, then mail it'), counts);
    expect(names(kept)).toEqual(['send_mail', 'read_file', 'write_file']);
    expect([...kept, ...deferred].sort()).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('prefers the earlier tool where scores are equal (DS-39, XS-5)', () => {
    expect(keepBest(tools, [0, 0, 0, 0, 0, 0], 2, () => false)).toEqual([0, 1]);
  });

  it('keeps more than the count by force: what is always kept, and what the session found (DS-38, XS-1)', () => {
    const given = asked('Write that file, then mail it', { alwaysKeep: ['list_notes'], expanded: ['add_note'] });
    const { kept } = chooseTools('relevance', tools, given, { ...counts, maxTools: 2 });
    expect(names(kept)).toEqual(['add_note', 'list_notes']);
    const many = asked('', { alwaysKeep: ['list_notes', 'add_note', 'web_search'] });
    expect(names(chooseTools('relevance', tools, many, { ...counts, maxTools: 2 }).kept)).toHaveLength(3);
  });

  it('does not count force for what was only used before (DS-36, DS-38, XS-1)', () => {
    const given = asked('', { recentlyUsed: ['read_file', 'write_file', 'web_search'] });
    expect(names(chooseTools('relevance', tools, given, { ...counts, maxTools: 2 }).kept)).toEqual([
      'read_file',
      'write_file',
    ]);
  });

  it.each([
    ['without tools (DS-32)', [], counts, 'no_tools'],
    ['with as many as the fewest that are kept (DS-33)', tools, { ...counts, minTools: 6 }, 'few_tools'],
    ['where the count is all of them (DS-34)', tools, { minTools: 2, maxTools: 25, targetRatio: 1 }, 'all_kept'],
  ])('is skipped %s', (_, given, under, skipped) => {
    const choice = chooseTools('relevance', given, asked('mail'), under);
    expect(choice).toMatchObject({ skipped, deferred: [] });
    expect(choice.kept).toHaveLength(given.length);
  });

  it.each(['relevance', 'ranked'] as const)(
    'is the same each time, and a subset of the request (%s; DS-05, DS-39)',
    (strategy) => {
      const given = asked('a note about a file in my mail', { recentlyUsed: ['web_search'] });
      const first = chooseTools(strategy, tools, given, counts);
      expect(chooseTools(strategy, [...tools], given, counts)).toEqual(first);
      expect(new Set([...first.kept, ...first.deferred]).size).toBe(tools.length);
    },
  );
});
