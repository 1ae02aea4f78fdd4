import { describe, expect, it } from '@jest/globals';
import { stemsOf, ToolIndex } from '@sluice/discovery';
import type { OfferedTool } from '@sluice/discovery';

describe('stems', () => {
  it.each([
    ['getCurrentWeather', ['get', 'current', 'weather', 'getcurrentweather']],
    ['HTTPServer', ['http', 'server', 'httpserver']],
    ['read_files', ['read', 'file', 'readfiles']],
    ['What is the weather in München?', ['weather', 'münchen']],
    ['', []],
  ])('of %j are %j', (text, stems) => {
    expect(stemsOf(text)).toEqual(stems);
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

  it('puts a hit in the name before one in the description, and that before one in a parameter', () => {
    expect(order('weather forecast')).toEqual([0, 2, 1]);
    expect(order('weather')[0]).toBe(0);
  });

  it('finds other forms of a word', () => {
    expect(order('listing folders')).toEqual([1]);
  });

  it('gives nothing for words that no tool has, and for no tools', () => {
    expect(order('zebra')).toEqual([]);
    expect([...new ToolIndex([]).scores('weather')]).toEqual([]);
  });
});
