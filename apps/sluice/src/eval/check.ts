import { isDeepStrictEqual } from 'node:util';
import type { Configuration, JsonValue } from '@sluice/core';
import { matchesInTime } from '@sluice/patterns';
import type { AgentResponse } from '@sluice/contracts';
import type { Expectation } from './cases.js';
import { jsonPath, valueAt } from './json-path.js';

/** Characters of an answer that a failure quotes. */
const quoted = 200;

/** How a run ended, as far as a case looks at it. */
export interface RunEnd {
  /** `answer`, or the code of the error. */
  readonly outcome: string;
  /** What it said: the answer, or the error’s message. */
  readonly said: string;
  /** The answer as JSON text, where it had to fit a schema. */
  readonly structured?: string | null;
  /** Keys of the tools that it called, in order; those that take plans are left out, so that strategies compare. */
  readonly tools: readonly string[];
  /** The states that it went through behind the first. */
  readonly states: readonly string[];
}

/** `brought` is how many steps the request had; `planners` are the keys of the tools that take plans. */
export function endOf(response: AgentResponse, brought: number, planners: ReadonlySet<string>): RunEnd {
  const { answer, structured, error, history, run } = response;
  return {
    outcome: error?.code ?? 'answer',
    said: error?.message ?? answer ?? '',
    structured,
    tools: history
      .slice(brought)
      .map(({ action }) => action)
      .filter((key) => !planners.has(key)),
    states: run?.stateTransitions.map(({ to }) => to) ?? [],
  };
}

/** The keys of the tools that take plans. */
export function plannersOf({ tools }: Pick<Configuration, 'tools'>): ReadonlySet<string> {
  return new Set(tools.filter(({ plan }) => plan !== undefined).map(({ key }) => key));
}

/** What of a run is not as its case expects, a sentence each. */
export function check(end: RunEnd, expect: Expectation): readonly string[] {
  const { outcome, said, tools, states, structured } = end;
  const failures: string[] = [];
  if (outcome !== expect.outcome) failures.push(`It ended with ${outcome}, not ${expect.outcome}: ${shorten(said)}`);
  const wanted = expect.tools;
  if (Array.isArray(wanted) && !isDeepStrictEqual(tools, wanted))
    failures.push(`It called ${listed(tools)}, not ${listed(wanted)}.`);
  if (wanted !== undefined && 'set' in wanted && !isDeepStrictEqual(sorted(tools), sorted(wanted.set)))
    failures.push(`It called ${listed(sorted(tools))} in any order, not ${listed(sorted(wanted.set))}.`);
  if (expect.states !== undefined && !isDeepStrictEqual(states, expect.states))
    failures.push(`It went to the states ${listed(states)}, not ${listed(expect.states)}.`);
  if (expect.max_steps !== undefined && tools.length > expect.max_steps)
    failures.push(`It made ${tools.length} calls, and may make ${expect.max_steps}.`);
  if (expect.answer !== undefined) failures.push(...checkAnswer(said, structured ?? said, expect.answer));
  return failures;
}

function checkAnswer(
  said: string,
  asJson: string,
  { contains = [], excludes = [], matches = [], equals, json }: NonNullable<Expectation['answer']>,
): string[] {
  const whole = `The answer is: ${shorten(said)}`;
  const failures = [
    ...contains.filter((text) => !said.includes(text)).map((text) => `The answer does not have “${text}”. ${whole}`),
    ...excludes.filter((text) => said.includes(text)).map((text) => `The answer has “${text}”. ${whole}`),
    ...matches.flatMap((pattern) => {
      const isMatch = matchesInTime(pattern, said);
      if (isMatch === null)
        return [`Whether the answer matches ${pattern} takes too long. Write a simpler pattern. ${whole}`];
      return isMatch ? [] : [`The answer does not match ${pattern}. ${whole}`];
    }),
  ];
  if (equals !== undefined && said.trim() !== equals.trim())
    failures.push(`The answer is not “${shorten(equals)}”. ${whole}`);
  return json === undefined ? failures : [...failures, ...checkJson(asJson, json)];
}

function checkJson(said: string, wanted: Readonly<Record<string, unknown>>): string[] {
  let value: JsonValue;
  try {
    value = JSON.parse(said) as JsonValue;
  } catch {
    return [`The answer is no JSON. The answer is: ${shorten(said)}`];
  }
  return Object.entries(wanted).flatMap(([path, expected]) => {
    const found = valueAt(value, jsonPath(path) ?? []);
    if (isDeepStrictEqual(found, expected)) return [];
    const is = found === undefined ? 'nothing' : JSON.stringify(found);
    return [`The answer has ${shorten(is)} at ${path}, not ${shorten(JSON.stringify(expected))}.`];
  });
}

function sorted(names: readonly string[]): readonly string[] {
  return [...new Set(names)].toSorted();
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(', ');
}

function shorten(text: string): string {
  return text.length <= quoted ? text : `${text.slice(0, quoted)}…`;
}
