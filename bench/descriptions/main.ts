import { existsSync, readFileSync } from 'node:fs';
import { Meanings } from '@sluice/discovery';
import { createEmbedder } from '@sluice/model';
import { definitionText, TokenCounter } from '@sluice/tokens';
import { median } from '../measure.js';
import { askModel, modelOfEnvironment } from './ask-model.js';
import { byMeaning, byWords, choose } from './chooser.js';
import type { Chosen } from './chooser.js';
import { costOf } from './cost.js';
import type { Count } from './cost.js';
import { play } from './job.js';
import { approachesOver, atFirst, mostShown, offeredBy, sent } from './sending.js';
import type { Approach, Closeness, Labelled } from './sending.js';
import { asTable } from './table.js';

/** Tokens are counted as gpt-oss and newer models of OpenAI count them. */
const countedFor = 'gpt-oss-120b';
const counter = new TokenCounter();

/** The folder of a local model, as docs/discovery.md gets it; without one nothing goes by meanings. */
const folder = 'models';

interface Labels {
  readonly questions: readonly Labelled[];
  /** The tools that each job calls, in order. */
  readonly jobs: Readonly<Record<string, readonly string[]>>;
}

/**
 * The ways to describe the built-in tools to a model, side by side: what they cost, and whether the right tool is
 * still found.
 */
export async function benchDescriptions(): Promise<void> {
  const { questions, jobs } = JSON.parse(readFileSync('bench/descriptions/questions.json', 'utf8')) as Labels;
  const tools = [...new Set(questions.map(({ tool }) => tool))];
  const closeness = localCloseness();
  const approaches = approachesOver(tools, closeness !== null);
  const near: Closeness = closeness ?? (() => Promise.resolve(null));
  console.log(`\n${tools.length} tools; tokens for ${countedFor}; a selection keeps ${mostShown}`);
  for (const [name, keys] of Object.entries(jobs)) {
    const steps = keys.flatMap((key) => questions.find(({ tool }) => tool === key) ?? []);
    console.log(`\nA job of ${steps.length} calls of ${name} (${new Set(keys).size})\n`);
    const head = ['tokens a request', 'the job', 'of full', 'cacheable', 'the job at cache prices', 'extra calls'];
    console.log(asTable([['approach', ...head], ...(await jobRows(approaches, steps, near))]));
  }
  console.log('\nBefore a question’s first call\n');
  const rows: (readonly string[])[] = [];
  for (const approach of approaches) {
    const { share, ms } = await isSent(approach, questions, near);
    rows.push([approach.name, share, ms.toFixed(2)]);
  }
  console.log(asTable([['approach', 'its tool is sent', 'added, ms'], ...rows]));
  await onTheWire(approaches[0]);

  const model = await modelOfEnvironment(process.env);
  const choosers: Chooser[] = [
    { name: 'words', ask: (approach, question) => choose(approach, question, { ranking: byWords, closeness: near }) },
  ];
  if (closeness !== null)
    choosers.push({
      name: 'words and meanings',
      ask: (approach, question) => choose(approach, question, { ranking: byMeaning(near), closeness: near }),
    });
  if (model !== null)
    choosers.push({ name: model.name, ask: (approach, question) => askModel(model, approach, question, near) });
  console.log(`\nThe right tool is chosen, of ${questions.length} questions, and extra calls for a question\n`);
  console.log(asTable(await chosenRows(approaches, choosers, questions)));
  if (closeness === null) console.log(`There is no embedding model in ${folder}: nothing was chosen by meanings.`);
  if (model === null)
    console.log('No key of a model is set (ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY): none was asked.');
}

/** What a job costs, by each approach. */
async function jobRows(
  approaches: readonly Approach[],
  steps: readonly Labelled[],
  closeness: Closeness,
): Promise<readonly (readonly string[])[]> {
  const rows: (readonly string[])[] = [];
  let full = 0;
  for (const approach of approaches) {
    const played = await play(approach, steps, closeness);
    const texts = played.requests.flatMap(({ definitions, left }) => [...definitions, ...left]);
    const { perRequest, job, cacheable, priced } = costOf(played, await counting(texts));
    if (full === 0) full = job;
    const figures = [whole(perRequest), whole(job), percent(job / full), percent(cacheable), whole(priced)];
    rows.push([approach.name, ...figures, String(played.extraCalls)]);
  }
  return rows;
}

interface Chooser {
  readonly name: string;
  readonly ask: (approach: Approach, question: string) => Promise<Chosen>;
}

/** A row for each approach but the provider’s search, which happens at the provider. */
async function chosenRows(
  approaches: readonly Approach[],
  choosers: readonly Chooser[],
  questions: readonly Labelled[],
): Promise<readonly (readonly string[])[]> {
  const languages = ['en', 'de'];
  const head = choosers.flatMap(({ name }) => [...languages.map((language) => `${name}, ${language}`), 'calls']);
  const rows = [['approach', ...head]];
  for (const approach of approaches.filter(({ search }) => search !== 'provider')) {
    const row = [approach.name];
    for (const { ask } of choosers) {
      const asked: { readonly language: string; readonly isRight: boolean; readonly extraCalls: number }[] = [];
      for (const { language, question, tool } of questions) {
        const chosen = await ask(approach, question);
        asked.push({ language, isRight: chosen.tool === tool, extraCalls: chosen.extraCalls });
      }
      for (const one of languages) {
        const those = asked.filter(({ language }) => language === one);
        row.push(percent(those.filter(({ isRight }) => isRight).length / those.length));
      }
      row.push((asked.reduce((sum, { extraCalls }) => sum + extraCalls, 0) / asked.length).toFixed(1));
    }
    rows.push(row);
  }
  return rows;
}

/**
 * How often the first request for a question has its tool, and what the approach adds to a request in time, at the
 * median.
 */
async function isSent(
  approach: Approach,
  questions: readonly Labelled[],
  closeness: Closeness,
): Promise<{ readonly share: string; readonly ms: number }> {
  let found = 0;
  const times: number[] = [];
  for (const { question, tool } of questions) {
    // The vectors of tools are there after the first request; that of a new question never is.
    const started = performance.now();
    const { tools } = await sent(approach, atFirst(`${question} `), closeness);
    times.push(performance.now() - started);
    if (tools.some(({ id }) => approach.evaluator.byId(id)?.key === tool)) found++;
  }
  return { share: percent(found / questions.length), ms: median(times) };
}

/** A provider that searches is sent every definition, marked, whatever stands in the model’s context. */
async function onTheWire(approach: Approach | undefined): Promise<void> {
  if (approach === undefined) return;
  const marked = offeredBy(approach).map((tool) => `${definitionText(tool).slice(0, -1)},"defer_loading":true}`);
  const { tokens } = await counter.count(marked, countedFor);
  console.log(`A provider that searches is sent ${whole(tokens)} tokens of definitions, which its model does not see.`);
}

/** Counts at once what was counted before: each text once. */
async function counting(texts: readonly string[]): Promise<Count> {
  const known = new Map<string, number>();
  for (const text of new Set(texts)) known.set(text, (await counter.count([text], countedFor)).tokens);
  return (text) => known.get(text) ?? 0;
}

function localCloseness(): Closeness | null {
  if (!existsSync(`${folder}/model.onnx`)) return null;
  const settings = { name: null, baseUrl: null, apiKeyEnv: null, region: null, timeoutMs: 120_000 };
  const embedder = createEmbedder({ provider: 'local', folder, ...settings }, () => undefined);
  const meanings = new Meanings(() => 0);
  return (tools, question) => meanings.closeness(() => embedder, tools, question, settings.timeoutMs);
}

const whole = (value: number): string => Math.round(value).toLocaleString('en-US');
const percent = (share: number): string => `${Math.round(share * 100)} %`;
