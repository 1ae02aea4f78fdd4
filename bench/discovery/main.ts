import { existsSync, readFileSync } from 'node:fs';
import { fused, Meanings, relevanceOf, ToolIndex } from '@sluice/discovery';
import { TokenCounter } from '@sluice/tokens';
import type { OfferedTool } from '@sluice/discovery';
import { createEmbedder } from '@sluice/model';
import { median, report } from '../measure.js';
import type { Figure } from '../measure.js';

interface Sample {
  readonly tools: Readonly<Record<string, string>>;
  readonly measuring: readonly (readonly [question: string, tool: string])[];
}

const cuts = [1, 5, 10, 25] as const;

/** How well each strategy finds the tool that a question is about, and how long it takes. */
export async function benchDiscovery(): Promise<void> {
  const sample = JSON.parse(readFileSync('bench/discovery/metatool.json', 'utf8')) as Sample;
  const tools: readonly OfferedTool[] = Object.entries(sample.tools).map(([name, description]) => ({
    ...{ name, description, parameters: null },
  }));
  const index = new ToolIndex(tools);
  const none = { recentlyUsed: new Set<string>(), expanded: new Set<string>(), alwaysKeep: new Set<string>() };
  const strategies: Readonly<Record<string, (query: string) => Scores | Promise<Scores>>> = {
    relevance: (query) => relevanceOf(tools, { query, ...none }),
    ranked: (query) => index.scores(query),
    ...hybrid(tools, index),
  };
  const goals: Readonly<Record<string, number>> = { relevance: 0.4, ranked: 0.55, hybrid: 0.75 };
  for (const [name, scoresOf] of Object.entries(strategies)) {
    const places: number[] = [];
    for (const [question, tool] of sample.measuring) places.push(placeOf(await scoresOf(question), tools, tool));
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
  await countTokens(tools, index, sample);
  timeRanking(sample);
}

type Scores = ArrayLike<number>;

/** A local model as docs/discovery.md gets it; without one there is no measurement of `hybrid`. */
const folder = 'models';

function hybrid(
  tools: readonly OfferedTool[],
  index: ToolIndex,
): Readonly<Record<string, (query: string) => Promise<Scores>>> {
  if (!existsSync(`${folder}/model.onnx`)) return {};
  const settings = { name: null, baseUrl: null, apiKeyEnv: null, region: null, timeoutMs: 120_000 };
  const embedder = createEmbedder({ provider: 'local', folder, ...settings }, () => undefined);
  const meanings = new Meanings(() => 0);
  return {
    hybrid: async (query) => {
      const closeness = await meanings.closeness(() => embedder, tools, query, settings.timeoutMs);
      return fused(index.scores(query), closeness ?? []);
    },
  };
}

/** What a request’s list of tools costs, whole and with the 25 best. */
async function countTokens(tools: readonly OfferedTool[], index: ToolIndex, { measuring }: Sample): Promise<void> {
  const counter = new TokenCounter();
  const texts = tools.map(({ name, description }) =>
    JSON.stringify({ type: 'function', function: { name, description } }),
  );
  const count = async (list: readonly string[]): Promise<number> => (await counter.count(list, 'gpt-5')).tokens;
  const kept: number[] = [];
  for (const [question] of measuring.slice(0, 100)) {
    const scores = index.scores(question);
    const best = texts.map((_, at) => at).sort((one, other) => (scores[other] ?? 0) - (scores[one] ?? 0));
    kept.push(await count(best.slice(0, 25).map((at) => texts[at] ?? '')));
  }
  report('Tokens of the 199 tools in a request', [
    { name: 'all', value: await count(texts), unit: '' },
    { name: 'the 25 best, median', value: median(kept), unit: '' },
  ]);
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
