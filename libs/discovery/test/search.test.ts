import { describe, expect, it } from '@jest/globals';
import { longestPattern } from '@sluice/core';
import { searchTools } from '@sluice/discovery';
import type { OfferedTool } from '@sluice/discovery';

const tools: readonly OfferedTool[] = [
  { name: 'read_file', description: 'Reads a file of the workspace', parameters: {} },
  { name: 'mail', description: '', parameters: { properties: { recipient: { description: 'whom to write to' } } } },
  { name: 'store', description: 'Keeps a text for later, as read_file can read it', parameters: null },
  {
    name: 'clock',
    description: 'The time',
    parameters: { properties: { zone: { items: { properties: { region: {} } } } } },
  },
];
const search = async (query: string, maxResults = 5, alwaysKeep: readonly string[] = []) => {
  const { by, matches, kept } = await searchTools(tools, query, { maxResults, alwaysKeep: new Set(alwaysKeep) });
  return { by, matches: matches.map((at) => tools[at]?.name), kept: kept.map((at) => tools[at]?.name) };
};

describe('the search for tools', () => {
  it.each([
    ['READ.*FILE', 'regex', ['read_file', 'store'], 'without regard to case, name hits first (DS-63, DS-66)'],
    ['^the time$', 'regex', ['clock'], 'by the description (DS-67)'],
    ['recipient', 'regex', ['mail'], 'by a parameter’s name (DS-68)'],
    ['whom.to', 'regex', ['mail'], 'by a parameter’s description (DS-68)'],
    ['region', 'regex', ['clock'], 'by a nested parameter (DS-68)'],
    ['read(', 'keywords', ['read_file', 'store'], 'by words where it is no regular expression (DS-64)'],
    ['(?=read)', 'keywords', ['read_file', 'store'], 'by words where a linear engine cannot have it (DS-64, DS-65)'],
    ['no.such.thing', 'regex', [], 'to nothing (DS-71)'],
    ['no such thing', 'keywords', [], 'to nothing, by its words (DS-71)'],
    [
      'weather reads zones',
      'keywords',
      ['read_file', 'store', 'clock'],
      'several words as words, whatever their endings',
    ],
    ['recipient, clock file', 'keywords', ['clock', 'read_file', 'mail', 'store'], 'words between commas as words'],
    ['fetch times', 'keywords', ['clock'], 'a word itself before one that is related'],
    ['store, save', 'keywords', ['store'], 'a word itself and no related one'],
    ['open, load', 'keywords', ['read_file', 'store'], 'related words where no tool has one itself'],
    ['orkspac', 'regex', ['read_file'], 'one word as a part of a word'],
    ['ads a fil', 'regex', ['read_file'], 'a phrase that has no whole word as it stands'],
    ['Which one is the time?', 'keywords', ['clock'], 'a sentence by its words where it stands in no tool'],
    ['reads?|clock', 'regex', ['read_file', 'clock', 'store'], 'alternatives as a pattern'],
  ])('takes %j as %s and finds %j: %s', async (query, by, matches) => {
    expect(await search(query)).toEqual({ by, matches, kept: [] });
  });

  it('gives the first tools for a blank query (DS-72, XS-15)', async () => {
    expect(await search('  ', 2)).toEqual({ by: 'blank', matches: ['read_file', 'mail'], kept: [] });
  });

  it('gives no more than the cap, and beyond it what is always kept, each once (DS-69, DS-70, XS-9, XS-10)', async () => {
    expect(await search('.', 2, ['clock', 'mail'])).toEqual({
      by: 'regex',
      matches: ['read_file', 'mail'],
      kept: ['clock'],
    });
    expect((await search('read(', 2, ['clock'])).kept).toEqual(['clock']);
    expect((await search('', 1, ['clock', 'unknown'])).kept).toEqual(['clock']);
  });

  it('takes a pattern beyond the limit by its words (DS-65, XS-14)', async () => {
    expect((await search('x'.repeat(longestPattern + 1))).by).toBe('keywords');
  });

  it('is not held up by a hostile pattern: its time grows with the text (DS-65, XS-14)', async () => {
    const hostile = [{ name: 'long', description: 'a'.repeat(50_000), parameters: null }];
    const began = process.cpuUsage();
    const found = await searchTools(hostile, '(a+)+$b', { maxResults: 5, alwaysKeep: new Set() });
    const { user } = process.cpuUsage(began);
    expect(found.matches).toEqual([]);
    // A backtracking engine would not be through in years.
    expect(user).toBeLessThan(20_000_000);
  });

  it('ranks keyword hits by the number of words, then by how well they suit (XS-13)', async () => {
    expect((await search('workspace file [', 5)).matches).toEqual(['read_file', 'store']);
  });

  it('puts the tool that is about the words before the many that hold them', async () => {
    const beside = Array.from({ length: 30 }, (_, at) => ({
      name: `issues_list_${String(at)}`,
      description: `Lists what was said. Who may create an issue may read it. ${'It has pages. '.repeat(at)}`,
      parameters: null,
    }));
    const all = [...beside, { name: 'issues_create', description: 'Create an issue', parameters: null }];
    const { by, matches } = await searchTools(all, 'create an issue', { maxResults: 1, alwaysKeep: new Set() });
    // As a phrase it is in all of them, and stands first in the order of the list.
    expect([by, matches]).toEqual(['keywords', [30]]);
    expect((await searchTools(all, 'create issue', { maxResults: 1, alwaysKeep: new Set() })).matches).toEqual([30]);
  });

  it.each([
    ['查一下 明天 天气', '天气预报', '查询城市明天的天气'],
    ['明日の東京の天気', 'tenki', '東京の天気予報を調べます。'],
    ['พยากรณ์อากาศ วันนี้', 'weather_th', 'บริการพยากรณ์อากาศประจำวัน'],
  ])('splits %j into its words', async (query, name, description) => {
    const all = [
      { name: 'other', description: '其他 ほか อื่น', parameters: null },
      { name, description, parameters: null },
    ];
    const { by, matches } = await searchTools(all, query, { maxResults: 5, alwaysKeep: new Set() });
    expect([by, matches]).toEqual(['keywords', [1]]);
  });

  it('never throws for a schema of any shape', async () => {
    const odd = [
      null,
      7,
      'text',
      [],
      { properties: 7 },
      { properties: { a: null } },
      { anyOf: [7, { properties: { b: {} } }] },
    ];
    const given = odd.map((parameters, at) => ({ name: `t${at}`, description: '', parameters }));
    expect((await searchTools(given, 'b', { maxResults: 5, alwaysKeep: new Set() })).matches).toEqual([6]);
  });
});
