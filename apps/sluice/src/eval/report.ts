import { printable } from '@sluice/core';
import type { Paint } from '../show/paint.js';
import { summaries } from './result.js';
import type { CaseResult, ColumnSummary } from './result.js';

/** A case as it is reported while others still run. */
export function caseLine({ name, strategy, model, failures, tools, milliseconds }: CaseResult, paint: Paint): string {
  const passed = failures.length === 0;
  const mark = passed ? paint.good('✓') : paint.bad('✗');
  const called = tools.length === 0 ? 'no calls' : tools.map((tool) => paint.tool(printable(tool))).join(', ');
  const head = `${mark} ${name}  ${paint.dim(`${strategy}, ${printable(model)}:`)} ${called}  ${paint.dim(`${milliseconds} ms`)}\n`;
  return `${head}${failures.map((failure) => `   ${printable(failure)}\n`).join('')}`;
}

const headings = [
  'strategy',
  'model',
  'passed',
  'accuracy',
  'steps',
  'tokens in',
  'tokens out',
  'cost',
  'time',
] as const;

/** A line for each strategy and model; figures are means of a case. */
export function table(results: readonly CaseResult[]): string {
  const rows = [[...headings], ...summaries(results).map(rowOf)];
  const widths = headings.map((_, at) => Math.max(...rows.map((row) => (row[at] ?? '').length)));
  const lines = rows.map((row) =>
    row.map((cell, at) => (at < 2 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join('  '),
  );
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
}

function rowOf(one: ColumnSummary): string[] {
  const { strategy, model, cases, passed, steps, inputTokens, outputTokens, usd, milliseconds } = one;
  return [
    ...[strategy, printable(model), `${passed} of ${cases}`, `${Math.round((100 * passed) / cases)} %`],
    ...[steps.toFixed(1), inputTokens.toFixed(0), outputTokens.toFixed(0)],
    ...[usd === null ? 'no price' : `$${usd.toFixed(6)}`, `${milliseconds.toFixed(0)} ms`],
  ];
}

/** The same for programs. */
export function asJson(results: readonly CaseResult[]): object {
  return {
    passed: results.every(({ failures }) => failures.length === 0),
    summary: summaries(results).map((one) => ({
      ...{ strategy: one.strategy, model: one.model, cases: one.cases, passed: one.passed },
      ...{ accuracy: one.passed / one.cases, steps: one.steps },
      ...{ input_tokens: one.inputTokens, output_tokens: one.outputTokens, usd: one.usd, ms: one.milliseconds },
    })),
    cases: results.map((one) => ({
      ...{ name: one.name, strategy: one.strategy, model: one.model, request_id: one.requestId },
      ...{ passed: one.failures.length === 0, failures: one.failures, outcome: one.outcome, said: one.said },
      ...{ tools: one.tools, states: one.states, steps: one.steps, iterations: one.iterations },
      ...{ input_tokens: one.inputTokens, output_tokens: one.outputTokens, usd: one.usd, ms: one.milliseconds },
    })),
  };
}

/** The same as JUnit’s XML: a suite for each strategy and model. */
export function asJunit(results: readonly CaseResult[]): string {
  const columns = Map.groupBy(results, ({ strategy, model }) => `${strategy}, ${model}`);
  const suites = [...columns].map(([name, cases]) => {
    const failed = cases.filter(({ failures }) => failures.length > 0).length;
    const seconds = cases.reduce((sum, { milliseconds }) => sum + milliseconds, 0) / 1_000;
    const body = cases.map((one) => testCase(one, name)).join('');
    return `  <testsuite name="${xml(name)}" tests="${cases.length}" failures="${failed}" errors="0" time="${seconds}">\n${body}  </testsuite>\n`;
  });
  const failures = results.filter((one) => one.failures.length > 0).length;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="sluice eval" tests="${results.length}" failures="${failures}">\n${suites.join('')}</testsuites>\n`;
}

function testCase({ name, failures, milliseconds }: CaseResult, suite: string): string {
  const head = `    <testcase classname="${xml(suite)}" name="${xml(name)}" time="${milliseconds / 1_000}"`;
  const [first] = failures;
  if (first === undefined) return `${head}/>\n`;
  return `${head}>\n      <failure message="${xml(first)}">${xml(failures.join('\n'))}</failure>\n    </testcase>\n`;
}

/** Characters that XML cannot hold are left out. */
function xml(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '')
    .replace(/[&<>"'\n]/g, (character) => `&#${character.codePointAt(0) ?? 32};`);
}
