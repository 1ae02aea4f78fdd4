import { parseArgs } from 'node:util';
import { triableStrategies } from '@sluice/core';
import type { TriableStrategy } from '@sluice/core';
import { chooseTools, Meanings, readTools, relevanceParts, searchTools, sharedStems } from '@sluice/discovery';
import type { RelevanceRequest, OfferedTool } from '@sluice/discovery';
import { createEmbedder } from '@sluice/model';
import { readText } from '../read-text.js';
import type { CommandContext } from './command-context.js';

export const usage = `sluice discovery try --tools FILE [--strategy ${triableStrategies.join('|')}] [--model FOLDER]
    [--max N] [--min N] [--ratio R] [--keep NAME]… [--used NAME]… [--json] QUESTION
  Says which tools of the file a model would be shown for the question, with their scores and what these come from. The
  file holds tools as a model API or an MCP server writes them. Of tool-search the question is the query that a model
  would search with. hybrid needs the folder of a local embedding model, as docs/discovery.md says. Nothing is sent
  anywhere.`;

interface Line {
  readonly name: string;
  readonly kept: boolean;
  readonly score: number | null;
  readonly why: readonly string[];
}

export async function run(args: readonly string[], surroundings: CommandContext): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      tools: { type: 'string' },
      strategy: { type: 'string', default: 'ranked' },
      model: { type: 'string' },
      max: { type: 'string', default: '25' },
      min: { type: 'string', default: '5' },
      ratio: { type: 'string', default: '0.8' },
      keep: { type: 'string', multiple: true, default: [] },
      used: { type: 'string', multiple: true, default: [] },
      json: { type: 'boolean', default: false },
    },
  });
  const [action, question, ...surplus] = positionals;
  if (action !== 'try' || values.tools === undefined || question === undefined || surplus.length > 0)
    throw new Error(`Name the tools and ask one question in quotes.\n${usage}`);
  const strategy = triableStrategies.find((one) => one === values.strategy);
  if (strategy === undefined)
    throw new Error(`There is no strategy ${values.strategy}. There are: ${triableStrategies.join(', ')}.`);
  const tools = toolsIn(values.tools);
  const asked = {
    query: question,
    expanded: new Set<string>(),
    alwaysKeep: new Set(values.keep),
    recentlyUsed: new Set(values.used),
  };
  const counts = {
    minTools: whole('--min', values.min, 0),
    maxTools: whole('--max', values.max, 1),
    targetRatio: ratio(values.ratio),
  };
  const closeness = strategy === 'hybrid' ? await closenessIn(values.model, tools, question) : null;
  const { lines, note } = await judged(strategy, tools, asked, counts, closeness);
  if (values.json) surroundings.print(`${JSON.stringify({ strategy, question, note, tools: lines })}\n`);
  else for (const line of inWords(lines, note, surroundings)) surroundings.print(`${line}\n`);
  await surroundings.taken();
  return 0;
}

function toolsIn(file: string): readonly OfferedTool[] {
  try {
    return readTools(JSON.parse(readText(file)));
  } catch (error) {
    throw new Error(`The tools in ${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

/** A first answer of a local model may take long: all tools are embedded. */
const patienceMs = 120_000;

async function closenessIn(
  folder: string | undefined,
  tools: readonly OfferedTool[],
  question: string,
): Promise<readonly number[] | null> {
  if (folder === undefined)
    throw new Error(
      'hybrid needs --model FOLDER, which holds a local embedding model: docs/discovery.md says how to get one.',
    );
  const settings = { name: null, baseUrl: null, apiKeyEnv: null, region: null, timeoutMs: patienceMs };
  const embedder = createEmbedder({ provider: 'local', folder, ...settings }, () => undefined);
  return new Meanings(() => 0).closeness(() => embedder, tools, question, patienceMs);
}

async function judged(
  strategy: TriableStrategy,
  tools: readonly OfferedTool[],
  asked: RelevanceRequest,
  counts: Parameters<typeof chooseTools>[3],
  closeness: readonly number[] | null,
): Promise<{ readonly lines: readonly Line[]; readonly note: string }> {
  if (strategy === 'tool-search') {
    const { by, matches, kept } = await searchTools(tools, asked.query, { maxResults: counts.maxTools, ...asked });
    const found = [...matches, ...kept];
    const lines = [...found, ...tools.map((_, at) => at).filter((at) => !found.includes(at))].map((at): Line => {
      const why = matches.includes(at) ? [`matches the ${by === 'regex' ? 'pattern' : 'words'}`] : [];
      return {
        ...{ name: tools[at]?.name ?? '', kept: found.includes(at), score: null },
        why: kept.includes(at) ? ['always kept'] : why,
      };
    });
    return { lines, note: `The query was taken ${taken[by]}.` };
  }
  const { kept, scores, skipped } = chooseTools(strategy, tools, asked, counts, undefined, { closeness });
  const parts = strategy === 'relevance' ? relevanceParts(tools, asked) : null;
  const lines = tools.map((tool, at): Line => {
    const near = closeness?.[at];
    const meaning = near === undefined ? [] : [`meaning ${near.toFixed(2)}`];
    const own = parts?.[at]?.map(({ why, points }) => `${why} +${points}`) ?? [
      ...meaning,
      ...sharedStems(tool, asked.query),
    ];
    return { name: tool.name, kept: kept.includes(at), score: scores?.[at] ?? null, why: own };
  });
  const sorted = lines.toSorted((one, other) => (other.score ?? 0) - (one.score ?? 0));
  return { lines: sorted, note: skipped === null ? '' : whyAll[skipped] };
}

const taken = { regex: 'as a regular expression', keywords: 'by its words', blank: 'for any tool, since it is blank' };

const whyAll = {
  no_tools: 'There are no tools.',
  few_tools: 'All are kept: there are no more than --min.',
  all_kept: 'All are kept: --ratio and --max leave room for every one.',
};

function* inWords(lines: readonly Line[], note: string, { paint }: CommandContext): Generator<string> {
  const kept = lines.filter((line) => line.kept).length;
  yield paint.strong(`${kept} of ${lines.length} tools are shown.`) + (note === '' ? '' : ` ${note}`);
  const width = Math.min(48, Math.max(0, ...lines.map(({ name }) => name.length)));
  for (const { name, kept, score, why } of lines) {
    const points = score === null ? '' : (Number.isInteger(score) ? String(score) : score.toFixed(2)).padStart(8);
    const text = `${kept ? '✓' : '·'} ${name.padEnd(width)} ${points}  ${why.join(', ')}`.trimEnd();
    yield kept ? text : paint.dim(text);
  }
}

function whole(option: string, text: string, least: number): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(number) && number >= least) return number;
  throw new Error(`${option} is "${text}"; it must be a whole number from ${least} on.`);
}

function ratio(text: string): number {
  const number = Number(text);
  if (text.trim() !== '' && number >= 0 && number <= 1) return number;
  throw new Error(`--ratio is "${text}"; it must be a number from 0 to 1.`);
}
