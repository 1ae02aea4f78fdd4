import { describe, expect, it } from '@jest/globals';
import { chooseTools, stemsOf, ToolIndex } from '@sluice/discovery';
import type { OfferedTool } from '@sluice/discovery';
import fc from 'fast-check';

describe('stems', () => {
  it.each([
    ['getCurrentWeather', ['get', 'current', 'weather', 'getcurrentweather']],
    ['HTTPServer', ['http', 'server', 'httpserver']],
    ['read_files', ['read', 'file', 'readfiles']],
    ['What is the weather in München?', ['weather', 'münchen']],
    ["It’s the user's file", ['user', 'file']],
    ['查询城市明天的天气', ['查询', '城市', '明天', '的', '天气']],
    ['ファイルをPDFに変換する', ['ファイル', 'を', 'pdf', 'に', '変換', 'する']],
    ['हिन्दी मौसम', ['हिन्दी', 'मौसम']],
    ['', []],
  ])('of %j are %j', (text, stems) => {
    expect(stemsOf(text)).toEqual(stems);
  });

  it('of plain English are those that a text of any script has', () => {
    const pieces = ["'", '’', 's', 're', 'll', 'T', 'don', ' ', '_', 'Xy', '-', '–', '.', '1', '\n', ',', 'getURL'];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces)), (text) => {
        // A word in another script behind it is why it is read the other way.
        expect([...stemsOf(text.join('')), '天']).toEqual(stemsOf(`${text.join('')}\n天`));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('the ranking by BM25F', () => {
  const tools: readonly OfferedTool[] = [
    { name: 'getWeather', description: 'Forecasts for a place', parameters: { properties: { city: {} } } },
    { name: 'listFiles', description: 'Lists what a folder holds', parameters: { properties: { weather: {} } } },
    { name: 'note', description: 'Keeps notes about weather and whatever else comes to mind', parameters: null },
  ];
  const order = (query: string): readonly number[] => {
    const scores = new ToolIndex(tools).scores(query);
    return [0, 1, 2]
      .filter((at) => (scores[at] ?? 0) > 0)
      .sort((one, other) => (scores[other] ?? 0) - (scores[one] ?? 0));
  };

  it('says of a list the same after a list with further words', () => {
    const named = (name: string): OfferedTool => ({ name, description: '', parameters: null });
    const index = new ToolIndex([named('movie'), named('cinema')]);
    const before = index.scores('film');
    expect(before[0]).toBeGreaterThan(0);
    expect(new ToolIndex([named('film')]).scores('film')[0]).toBeGreaterThan(0);
    expect(index.scores('film')).toEqual(before);
    const many = Array.from({ length: 21_000 }, (_, at) => named(`tool${String(at)}`));
    expect(new ToolIndex(many).scores('tool7')[7]).toBeGreaterThan(0);
    expect(index.scores('film')).toEqual(before);
    expect(new ToolIndex([named('movie'), named('cinema')]).scores('film')).toEqual(before);
  });

  it('puts a hit in the name before one in the description, and that before one in a parameter', () => {
    expect(order('weather forecast')).toEqual([0, 2, 1]);
    expect(order('weather')[0]).toBe(0);
  });

  it('finds other forms of a word', () => {
    expect(order('listing folders')[0]).toBe(1);
  });

  it('finds a related word, after the word itself', () => {
    expect(order('temperature today')).toEqual([0, 2, 1]);
    expect(new ToolIndex(tools).parts('temperature today').get('temperatur')?.size).toBe(3);
    const [own = 0, related = 0] = new ToolIndex([
      { name: 'make_invoice', description: '', parameters: null },
      { name: 'create_invoice', description: '', parameters: null },
    ]).scores('make an invoice');
    expect(own).toBeGreaterThan(related);
    expect(related).toBeGreaterThan(0);
  });

  it('has a tool for each sentence of a task', () => {
    const words = 'quarter sales figures region product month revenue margin forecast budget'.split(' ');
    const many = words.map((word) => ({ name: `report_${word}`, description: `Says the ${word}`, parameters: null }));
    const all = [...many, { name: 'convert_pdf', description: 'Makes a PDF', parameters: null }];
    const question = `Give me ${words.slice(0, 9).join(', ')} for each quarter, region and product. Save it as PDF.`;
    const scores = new ToolIndex(all).scores(question);
    const place = scores.filter((score) => score > (scores[10] ?? 0)).length;
    expect(place).toBeLessThan(5);
    const none = new Set<string>();
    const asked = { recentlyUsed: none, expanded: none, alwaysKeep: none };
    const two = `${question} ${words.slice(0, 9).join(' ')}. Report the budget.`;
    const kept = (query: string): readonly (string | undefined)[] =>
      chooseTools('ranked', all, { ...asked, query }, { minTools: 1, maxTools: 8, targetRatio: 1 }).kept.map(
        (at) => all[at]?.name,
      );
    expect(kept(two)).toEqual(expect.arrayContaining(['convert_pdf']));
    expect(kept(two)).toHaveLength(8);
    expect(new ToolIndex(all).bestOfSentences(question)).toEqual([expect.any(Number), 10]);
  });

  it('does not put a very long description into every list', () => {
    const prose =
      'This tool does many things with files, weather, folders, notes and places, and lists them for a user. ';
    const many = Array.from({ length: 60 }, (_, at) => ({
      ...{ name: `tool_${String(at)}`, description: 'Lists the weather of places and folders', parameters: null },
    }));
    const all = [{ name: 'agent', description: prose.repeat(200).slice(0, 18_780), parameters: null }, ...many];
    const scores = new ToolIndex(all).scores('Which weather is there in these folders and places?');
    expect(scores.filter((score) => score > (scores[0] ?? 0)).length).toBeGreaterThan(25);
  });

  it('gives nothing for words that no tool has, and for no tools', () => {
    expect(order('zebra')).toEqual([]);
    expect([...new ToolIndex([]).scores('weather')]).toEqual([]);
  });
});
