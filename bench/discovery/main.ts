import { readFileSync } from 'node:fs';
import { relevanceOf, ToolIndex } from '@sluice/discovery';
import type { OfferedTool } from '@sluice/discovery';
import { median, report } from '../measure.js';
import type { Figure } from '../measure.js';

interface Sample {
  readonly tools: Readonly<Record<string, string>>;
  readonly measuring: readonly (readonly [question: string, tool: string])[];
}

const cuts = [1, 5, 10, 25] as const;

/** How well each strategy finds the tool that a question is about, and how long it takes. */
export function benchDiscovery(): Promise<void> {
  const sample = JSON.parse(readFileSync('bench/discovery/metatool.json', 'utf8')) as Sample;
  const tools: readonly OfferedTool[] = Object.entries(sample.tools).map(([name, description]) => ({
    ...{ name, description, parameters: null },
  }));
  const index = new ToolIndex(tools);
  const none = { recentlyUsed: new Set<string>(), expanded: new Set<string>(), alwaysKeep: new Set<string>() };
  const strategies: Readonly<Record<string, (query: string) => ArrayLike<number>>> = {
    relevance: (query) => relevanceOf(tools, { query, ...none }),
    ranked: (query) => index.scores(query),
  };
  const goals: Readonly<Record<string, number>> = { relevance: 0.4, ranked: 0.55 };
  for (const [name, scoresOf] of Object.entries(strategies)) {
    const places = sample.measuring.map(([question, tool]) => placeOf(scoresOf(question), tools, tool));
    const recall = cuts.map((cut): Figure => {
      const value = share(places, (place) => (place < cut ? 1 : 0));
      const goal = cut === 5 ? { goal: { atLeast: goals[name] ?? 0 } } : {};
      return { name: `recall@${cut}`, value, unit: '', ...goal };
    });
    const gain = share(places, (place) => (place < 10 ? 1 / Math.log2(place + 2) : 0));
    report(`${name}: ${sample.measuring.length} questions of MetaTool over ${tools.length} tools`, [
      ...recall,
      { name: 'nDCG@10', value: gain, unit: '' },
    ]);
  }
  timeRanking(sample);
  return Promise.resolve();
}

/** In which place the tool is, from 0; earlier tools come first where scores are equal. */
function placeOf(scores: ArrayLike<number>, tools: readonly OfferedTool[], wanted: string): number {
  const at = tools.findIndex(({ name }) => name === wanted);
  const own = scores[at] ?? 0;
  let place = 0;
  for (let index = 0; index < tools.length; index++) {
    const score = scores[index] ?? 0;
    if (score > own || (score === own && index < at)) place++;
  }
  return place;
}

function share(places: readonly number[], counts: (place: number) => number): number {
  return places.reduce((sum, place) => sum + counts(place), 0) / places.length;
}

function timeRanking({ tools, measuring }: Sample): void {
  const own = Object.entries(tools);
  const many = Array.from({ length: 1_000 }, (_, at): OfferedTool => {
    const [name, description] = own[at % own.length] ?? ['', ''];
    return { name: `${name}_${at}`, description, parameters: { properties: { query: { description } } } };
  });
  const index = new ToolIndex(many);
  const [building, ranking]: [number[], number[]] = [[], []];
  for (const [question] of measuring.slice(0, 200)) {
    const started = performance.now();
    index.scores(question);
    ranking.push(performance.now() - started);
  }
  for (let round = 0; round < 20; round++) {
    const started = performance.now();
    new ToolIndex(many);
    building.push(performance.now() - started);
  }
  report('Ranking 1,000 tools, medians', [
    { name: 'for a question', value: median(ranking), unit: 'ms', goal: { atMost: 1 } },
    { name: 'making the index', value: median(building), unit: 'ms' },
  ]);
}
