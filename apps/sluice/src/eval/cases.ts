import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { answerSchemaProblem, longestSchemaPattern, regexFlags } from '@sluice/schemas';
import { strategyNames } from '@sluice/core';
import { recordFromJson, ShapeError } from '@sluice/contracts';
import type { AgentStep } from '@sluice/contracts';
import { historyProblem } from '@sluice/run';
import { jsonPath } from './json-path.js';

const names = z.array(z.string().min(1));
const texts = z.union([z.string(), z.array(z.string())]).transform((value) => [value].flat());

const answer = z.strictObject({
  contains: texts.optional(),
  excludes: texts.optional(),
  matches: texts.optional(),
  equals: z.string().optional(),
  json: z.record(z.string(), z.unknown()).optional(),
});

const expectation = z.strictObject({
  outcome: z.string().min(1).default('answer'),
  tools: z.union([names, z.strictObject({ set: names })]).optional(),
  states: names.optional(),
  answer: answer.optional(),
  max_steps: z.number().int().min(0).optional(),
});

const recorded = z.strictObject({ run: z.string().min(1), export: z.string().min(1).optional() });

const oneCase = z.strictObject({
  name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'write small letters, digits and hyphens, at most 64'),
  question: z.string().min(1).optional(),
  group: z.array(z.string()).optional(),
  state: z.string().optional(),
  tool_choice: z.string().optional(),
  agent: z.string().optional(),
  answer_schema: z.record(z.string(), z.unknown()).optional(),
  history: z.array(z.record(z.string(), z.unknown())).optional(),
  recorded: recorded.optional(),
  expect: expectation.prefault({}),
});

const evaluation = z.strictObject({
  config: z.string().min(1).optional(),
  strategies: z.array(z.enum(strategyNames)).min(1).optional(),
  models: names.min(1).optional(),
  seconds: z.number().positive().max(3600).default(120),
  cases: z.array(oneCase).min(1),
});

type Written = z.infer<typeof evaluation>;

/** What a case expects of its run (docs/evaluation.md). */
export type Expectation = z.infer<typeof expectation>;

/** A case that is asked: its run is made under each strategy and model. */
export interface QuestionCase {
  readonly kind: 'asked';
  readonly name: string;
  readonly question: string;
  readonly group: readonly string[] | null;
  readonly state: string | null;
  readonly toolChoice: string | null;
  /** Null for the default one. */
  readonly agent: string | null;
  /** JSON text; null for the agent’s, or none. */
  readonly answerSchema: string | null;
  readonly history: readonly AgentStep[];
  readonly expect: Expectation;
}

/** A case whose run was recorded: it is decided again from the log, or from an export of it. */
export interface RecordedCase {
  readonly kind: 'recorded';
  readonly name: string;
  readonly run: string;
  /** Null for the log of this installation. */
  readonly export: string | null;
  readonly expect: Expectation;
}

type Case = QuestionCase | RecordedCase;

export interface Evaluation extends Pick<Written, 'config' | 'strategies' | 'models'> {
  /** How long a run may take, in milliseconds. */
  readonly runMs: number;
  readonly cases: readonly Case[];
}

/** Throws a sentence that names the file and each mistake. */
export function readEvaluation(file: string): Evaluation {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`The cases ${file} cannot be read: ${(error as Error).message}.`, { cause: error });
  }
  const { data, error } = evaluation.safeParse(parsed(file, text));
  if (data === undefined) throw mistakesIn(file, error.issues.map(sentence));
  const mistakes: string[] = [];
  const cases = data.cases.map((one, place) => caseOf(one, `cases.${place}`, mistakes));
  const seen = new Map<string, number>();
  for (const [place, { name }] of data.cases.entries()) {
    const first = seen.get(name);
    if (first !== undefined)
      mistakes.push(`  cases.${place}.name: cases.${first} has the name ${name} too; give each its own`);
    else seen.set(name, place);
  }
  if (mistakes.length > 0) throw mistakesIn(file, mistakes);
  const { config, strategies, models, seconds } = data;
  return { config, strategies, models, runMs: seconds * 1_000, cases };
}

function caseOf(written: Written['cases'][number], path: string, mistakes: string[]): Case {
  const { name, question, group, state, history = [], recorded: record, expect } = written;
  for (const [place, pattern] of (expect.answer?.matches ?? []).entries())
    if (regexFlags(pattern) !== 'u')
      mistakes.push(
        `  ${path}.expect.answer.matches.${place}: is no regular expression of at most ${String(longestSchemaPattern)} characters`,
      );
  for (const wanted of Object.keys(expect.answer?.json ?? {}))
    if (jsonPath(wanted) === null)
      mistakes.push(`  ${path}.expect.answer.json: “${wanted}” is no path; write one as $.rows[0].name`);
  if (record !== undefined) {
    for (const key of ['question', 'group', 'state', 'history', 'tool_choice', 'agent', 'answer_schema'] as const)
      if (written[key] !== undefined)
        mistakes.push(`  ${path}.${key}: a recorded run has its own; leave ${key} out, or recorded`);
    return { kind: 'recorded', name, run: record.run, export: record.export ?? null, expect };
  }
  if (question === undefined) mistakes.push(`  ${path}: it has neither question nor recorded; write one of them`);
  const answerSchema = written.answer_schema === undefined ? null : JSON.stringify(written.answer_schema);
  const problem = answerSchema === null ? null : answerSchemaProblem(answerSchema);
  if (problem !== null) mistakes.push(`  ${path}: ${problem}`);
  const common = { name, question: question ?? '', group: group ?? null, state: state ?? null, expect };
  return {
    kind: 'asked',
    ...common,
    toolChoice: written.tool_choice ?? null,
    agent: written.agent ?? null,
    answerSchema,
    history: historyOf(history, `${path}.history`, mistakes),
  };
}

/** Steps in the form of the request’s JSON; `arguments` may be written as a map. */
function historyOf(steps: readonly Record<string, unknown>[], path: string, mistakes: string[]): readonly AgentStep[] {
  try {
    const written = steps.map((step) => {
      const { arguments: args } = step;
      return typeof args === 'object' && args !== null ? { ...step, arguments: JSON.stringify(args) } : step;
    });
    const history = written.map((step) => recordFromJson('AgentStep', step) as AgentStep);
    const problem = historyProblem(history);
    if (problem !== null) mistakes.push(`  ${path}: ${problem}`);
    return history;
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error;
    mistakes.push(`  ${path}: ${error.message}`);
    return [];
  }
}

function parsed(file: string, text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    throw new Error(`The cases ${file} are no YAML: ${(error as Error).message}`, { cause: error });
  }
}

function sentence({ path, message }: { readonly path: readonly PropertyKey[]; readonly message: string }): string {
  return `  ${path.map(String).join('.') || '(the file)'}: ${message}`;
}

function mistakesIn(file: string, mistakes: readonly string[]): Error {
  return new Error(`The cases ${file} have mistakes:\n${mistakes.join('\n')}`);
}
