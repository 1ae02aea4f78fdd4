import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Makes the labelled samples from public data sets, drawn with a fixed seed:
 *
 * - `node bench/discovery/sample.ts metatool FOLDER` (HowieHwong/MetaTool, MIT licence: plugin_des.json and
 *   all_clean_data.csv): 400 questions on which weights may be chosen, and 1,000 others on which they are measured.
 * - `node bench/discovery/sample.ts bfcl FOLDER` (the unpacked PyPI package bfcl-eval, Apache-2.0 licence): 600
 *   questions, all to measure, and all functions of its live_multiple part, each with its JSON schema; `bfcl-simple`
 *   has the questions and functions of live_simple, each question once.
 * - `node bench/discovery/sample.ts livemcpbench FOLDER` (icip-cas/LiveMCPBench, Apache-2.0 licence: tasks.json with
 *   the tools of its servers, and tasks with the names of the tools that each needs): all tasks of the file; of schemas
 *   the names and descriptions of parameters, which ranking goes by.
 */
const [name, folder] = process.argv.slice(2);
const samples: Readonly<Record<string, (from: string) => object>> = {
  metatool,
  bfcl,
  livemcpbench,
  'bfcl-simple': bfclSimple,
};
const make = samples[name ?? ''];
if (make === undefined || folder === undefined)
  throw new Error(`Name the sample (${Object.keys(samples).join(', ')}) and the folder that holds its source.`);
writeFileSync(new URL(`${name}.json`, import.meta.url), `${JSON.stringify(make(folder), null, 1)}\n`);

/** A generator of numbers from 0 to 1 that gives the same ones each time (mulberry32). */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function draw<T>(rows: readonly T[], count: number): readonly T[] {
  const next = numbers(7);
  const drawn = new Set<number>();
  while (drawn.size < count) drawn.add(Math.floor(next() * rows.length));
  return [...drawn].map((at) => rows[at] as T);
}

function metatool(from: string): object {
  const tools = JSON.parse(readFileSync(join(from, 'plugin_des.json'), 'utf8')) as Record<string, string>;
  const rows = readFileSync(join(from, 'all_clean_data.csv'), 'utf8')
    .split(/\r?\n/)
    .slice(1)
    .flatMap((line): readonly (readonly [string, string])[] => {
      const at = line.lastIndexOf(',');
      const question = line
        .slice(0, at)
        .replace(/^"(.*)"$/, '$1')
        .replaceAll('""', '"');
      const tool = line.slice(at + 1);
      return Object.hasOwn(tools, tool) && question !== '' ? [[question, tool]] : [];
    });
  const questions = draw(rows, 1_400);
  return { tools, choosing: questions.slice(0, 400), measuring: questions.slice(400) };
}

interface BfclRow {
  readonly id: string;
  readonly question: readonly (readonly { readonly role: string; readonly content: string }[])[];
  readonly function: readonly { readonly name: string; readonly description: string; readonly parameters: unknown }[];
}

function bfcl(from: string): object {
  const { tools, asked } = partOf(from, 'live_multiple');
  return { tools, measuring: draw(asked, 600) };
}

function bfclSimple(from: string): object {
  const { tools, asked } = partOf(from, 'live_simple');
  return { tools, measuring: asked };
}

function partOf(
  from: string,
  part: string,
): { readonly tools: object; readonly asked: readonly (readonly [string, string])[] } {
  const lines = (path: string): readonly unknown[] =>
    readFileSync(join(from, 'bfcl_eval/data', path), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as unknown);
  const file = `BFCL_v4_${part}.json`;
  const rows = lines(file) as readonly BfclRow[];
  const answers = lines(join('possible_answer', file)) as readonly {
    readonly id: string;
    readonly ground_truth: readonly Readonly<Record<string, unknown>>[];
  }[];
  const answerOf = new Map(answers.map(({ id, ground_truth: [first = {}] }) => [id, Object.keys(first)[0] ?? '']));
  // A function may stand there several times, with a schema that differs a little: the first one counts.
  const tools = new Map<string, { readonly description: string; readonly parameters: unknown }>();
  for (const { function: functions } of rows)
    for (const { name: own, description, parameters } of functions)
      if (!tools.has(toolName(own))) tools.set(toolName(own), { description, parameters: schemaOf(parameters) });
  const seen = new Set<string>();
  const asked = rows.flatMap(({ id, question }): readonly (readonly [string, string])[] => {
    const text = question[0]?.findLast(({ role }) => role === 'user')?.content ?? '';
    if (text === '' || text.length > 2_000 || seen.has(text)) return [];
    seen.add(text);
    return [[text, toolName(answerOf.get(id) ?? '')]];
  });
  return { tools: Object.fromEntries(tools), asked };
}

/** Model APIs take no dots in names. */
function toolName(name: string): string {
  return name.replaceAll('.', '_');
}

/** BFCL has the names of Python’s types in place of JSON Schema’s. */
function schemaOf(value: unknown): unknown {
  const types: Readonly<Record<string, string>> = { dict: 'object', float: 'number', tuple: 'array', any: 'string' };
  if (Array.isArray(value)) return value.map(schemaOf);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === 'type' && typeof inner === 'string' ? (types[inner] ?? inner) : schemaOf(inner),
    ]),
  );
}

interface Tasks {
  readonly tools: readonly { readonly name: string; readonly description?: string; readonly parameters?: unknown }[];
  readonly tasks: readonly { readonly question: string; readonly tools: readonly string[] }[];
}

/** Of tools with the same name the first one counts. */
function livemcpbench(from: string): object {
  const { tools, tasks } = JSON.parse(readFileSync(join(from, 'tasks.json'), 'utf8')) as Tasks;
  const first = tools.filter(({ name: own }, at) => tools.findIndex(({ name: other }) => other === own) === at);
  return {
    tools: Object.fromEntries(
      first.map(({ name: own, description = '', parameters }) => [own, { description, parameters: texts(parameters) }]),
    ),
    measuring: tasks.map(({ question, tools: right }) => [question, right]),
  };
}

/** The parts of a schema that have words in them. */
function texts(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(texts);
  if (typeof schema !== 'object' || schema === null) return schema;
  const kept = ['description', 'properties', 'items', 'anyOf', 'oneOf', 'allOf'];
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key]) => kept.includes(key))
      .map(([key, value]) => [
        key,
        key === 'properties' && typeof value === 'object' && value !== null
          ? Object.fromEntries(Object.entries(value as object).map(([own, inner]) => [own, texts(inner)]))
          : texts(value),
      ]),
  );
}
