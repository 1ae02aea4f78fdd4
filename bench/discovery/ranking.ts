import { existsSync } from 'node:fs';
import { fused, Meanings, relevanceOf, ToolIndex } from '@sluice/discovery';
import type { OfferedTool } from '@sluice/discovery';
import { createEmbedder } from '@sluice/model';
import { TokenCounter } from '@sluice/tokens';
import { median, report } from '../measure.js';
import type { Figure } from '../measure.js';
import { amongBoth, chatTool, readSample } from './samples.js';
import type { Sample } from './samples.js';

const cuts = [1, 5, 10, 25] as const;

type Goals = Readonly<Record<string, Readonly<Partial<Record<(typeof cuts)[number], number>>>>>;

/** The recall that each strategy is to reach, by the number of tools. */
const goals = {
  metatool: { relevance: { 5: 0.4 }, ranked: { 5: 0.63 }, hybrid: { 5: 0.8 } },
  bfcl: { ranked: { 5: 0.87 }, hybrid: { 5: 0.93 } },
  simple: { ranked: { 1: 0.59 }, hybrid: { 1: 0.6 } },
  among: { ranked: { 1: 0.46 }, hybrid: { 1: 0.48 } },
  steps: { hybrid: { 5: 0.45, 25: 0.65 } },
} satisfies Readonly<Record<string, Goals>>;

/** How well each strategy finds the tools that a question is about, and how long it takes. */
export async function benchRanking(): Promise<void> {
  for (const name of ['metatool', 'bfcl'] as const) {
    const sample = readSample(name);
    const index = new ToolIndex(sample.tools);
    await findTools(sample, index, goals[name]);
    await countTokens(sample, index);
  }
  const others = [
    [readSample('bfcl-simple'), goals.simple],
    [amongBoth('bfcl-simple', 'bfcl'), goals.among],
    [readSample('livemcpbench'), goals.steps],
  ] as const;
  for (const [sample, own] of others) await findTools(sample, new ToolIndex(sample.tools), own);
  timeRanking(readSample('metatool'));
}

type Scores = ArrayLike<number>;

async function findTools({ title, tools, questions }: Sample, index: ToolIndex, goalsOf: Goals): Promise<void> {
  const none = { recentlyUsed: new Set<string>(), expanded: new Set<string>(), alwaysKeep: new Set<string>() };
  const strategies: Readonly<Record<string, (query: string) => Scores | Promise<Scores>>> = {
    relevance: (query) => relevanceOf(tools, { query, ...none }),
    ranked: (query) => index.scores(query),
    ...hybrid(tools, index),
  };
  for (const [strategy, scoresOf] of Object.entries(strategies)) {
    const places: (readonly number[])[] = [];
    for (const [question, right] of questions) {
      const scores = await scoresOf(question);
      places.push(right.map((tool) => placeOf(scores, tools, tool)));
    }
    const recall = cuts.map((cut): Figure => {
      const value = share(places, (place) => (place < cut ? 1 : 0));
      const goal = goalsOf[strategy]?.[cut];
      return { name: `recall@${cut}`, value, unit: '', ...(goal === undefined ? {} : { goal: { atLeast: goal } }) };
    });
    const gain = share(places, (place) => (place < 10 ? 1 / Math.log2(place + 2) : 0));
    // The gain is of a question with one right tool.
    const isOne = questions.every(([, right]) => right.length === 1);
    report(`${strategy}: ${title}`, [...recall, ...(isOne ? [{ name: 'nDCG@10', value: gain, unit: '' }] : [])]);
  }
}

/** A local model as docs/discovery.md gets it; without one there is no measurement of `hybrid`. */
export const modelFolder = 'models';

export function hasModel(): boolean {
  return existsSync(`${modelFolder}/model.onnx`);
}

function hybrid(
  tools: readonly OfferedTool[],
  index: ToolIndex,
): Readonly<Record<string, (query: string) => Promise<Scores>>> {
  if (!hasModel()) return {};
  const settings = { name: null, baseUrl: null, apiKeyEnv: null, region: null, timeoutMs: 120_000 };
  const embedder = createEmbedder({ provider: 'local', folder: modelFolder, ...settings }, () => undefined);
  const meanings = new Meanings(() => 0);
  return {
    hybrid: async (query) => {
      const closeness = await meanings.closeness(() => embedder, tools, query, settings.timeoutMs);
      return fused(index.scores(query), closeness ?? []);
    },
  };
}

/** What a request’s list of tools costs, whole and with the 25 best. */
async function countTokens({ tools, questions }: Sample, index: ToolIndex): Promise<void> {
  const counter = new TokenCounter();
  const texts = tools.map((tool) => JSON.stringify(chatTool(tool)));
  const count = async (list: readonly string[]): Promise<number> => (await counter.count(list, 'gpt-5')).tokens;
  const kept: number[] = [];
  for (const [question] of questions.slice(0, 100)) {
    const scores = index.scores(question);
    const best = texts.map((_, at) => at).sort((one, other) => (scores[other] ?? 0) - (scores[one] ?? 0));
    kept.push(await count(best.slice(0, 25).map((at) => texts[at] ?? '')));
  }
  report(`Tokens of the ${tools.length} tools in a request`, [
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

/** A question that needs several tools counts once: by the share of its tools that are found. */
function share(places: readonly (readonly number[])[], counts: (place: number) => number): number {
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  return mean(places.map((own) => mean(own.map(counts))));
}

function timeRanking({ tools, questions }: Sample): void {
  const many = manyTools(tools, 1_000);
  const index = new ToolIndex(many);
  const [building, ranking]: [number[], number[]] = [[], []];
  for (const [question] of questions.slice(0, 200)) {
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

/** So many tools with these descriptions and a parameter each, under names of their own. */
export function manyTools(tools: readonly OfferedTool[], count: number): readonly OfferedTool[] {
  return Array.from({ length: count }, (_, at): OfferedTool => {
    const { name = '', description = '' } = tools[at % tools.length] ?? {};
    const query = { type: 'string', description };
    return { name: `${name}_${at}`, description, parameters: { type: 'object', properties: { query } } };
  });
}
