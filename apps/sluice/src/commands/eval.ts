import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { strategyNames } from '@sluice/core';
import type { StrategyName } from '@sluice/core';
import { openArchive } from '@sluice/archive';
import { openBus, recordedKeys, requireLog } from '@sluice/host';
import { readEvaluation } from '../eval/cases.js';
import type { QuestionCase, Evaluation, RecordedCase } from '../eval/cases.js';
import { columnsOf } from '../eval/columns.js';
import { replayRecording, replayRun } from '../eval/recorded.js';
import { asJson, asJunit, caseLine, table } from '../eval/report.js';
import type { CaseResult } from '../eval/result.js';
import { runCases } from '../eval/run-cases.js';
import { configurationOf } from '../system/compile-once.js';
import type { CommandContext } from './command-context.js';

export const usage = `sluice eval FILE [--config FILE] [--strategy a,b] [--model a,b] [--case a,b] [--record FILE] [--recorded FILE]
            [--json] [--junit FILE]
  Runs the cases of a file under each strategy and model and compares them: accuracy, steps, tokens, cost and time. All services run in
  this process, on a log of their own that is removed at the end. Exit code 1 if a case fails, 130 if it was stopped.
  --config is the configuration, else the file's, else SLUICE_CONFIG. --strategy and --model stand for the file's; a model is named as
  provider/name, of the configuration's list. --case runs these cases alone. --record exports all runs, and --recorded decides such an
  export again and checks it, without a model and without running a tool. --json prints the results as JSON. --junit writes JUnit's XML
  to a file. docs/evaluation.md says how cases are written.`;

interface Wanted {
  readonly file: string;
  readonly config: string | undefined;
  readonly strategies: readonly StrategyName[] | undefined;
  readonly models: readonly string[] | undefined;
  readonly only: readonly string[] | undefined;
  readonly record: string | null;
  readonly recorded: string | null;
  readonly json: boolean;
  readonly junit: string | undefined;
}

export async function run(args: readonly string[], surroundings: CommandContext): Promise<number> {
  const wanted = readArguments(args);
  const evaluation = chosen(readEvaluation(wanted.file), wanted);
  const stop = new AbortController();
  void surroundings.stopped.then(() => stop.abort());
  const asked = evaluation.cases.filter((one) => one.kind === 'asked');
  const recorded = evaluation.cases.filter((one) => one.kind === 'recorded');
  const show = (result: CaseResult): void => {
    if (!wanted.json) surroundings.write(caseLine(result, surroundings.paint));
  };
  const results = [
    ...(asked.length === 0 ? [] : await ofAsked(asked, evaluation, wanted, show, stop.signal, surroundings)),
    ...(await ofRecorded(recorded, evaluation, wanted, show, stop.signal, surroundings)),
  ];
  if (stop.signal.aborted) return 130;
  if (wanted.json) surroundings.print(`${JSON.stringify(asJson(results))}\n`);
  else surroundings.write(`\n${table(results)}`);
  if (wanted.junit !== undefined) writeFileSync(wanted.junit, asJunit(results));
  return results.every(({ failures }) => failures.length === 0) ? 0 : 1;
}

async function ofAsked(
  cases: readonly QuestionCase[],
  evaluation: Evaluation,
  wanted: Wanted,
  show: (result: CaseResult) => void,
  signal: AbortSignal,
  surroundings: CommandContext,
): Promise<readonly CaseResult[]> {
  const { environment, log } = surroundings;
  const configFile = wanted.config ?? evaluation.config ?? environment.configFile;
  if (configFile === null)
    throw new Error(
      `No configuration is named. Write config into ${wanted.file}, or give --config, or set SLUICE_CONFIG.`,
    );
  const configuration = await configurationOf(configFile, surroundings);
  if (wanted.recorded !== null) {
    const reader = await openArchive(wanted.recorded);
    const keys = { keys: recordedKeys(environment), readsUnknown: true };
    const results = await replayRecording(cases, wanted.recorded, { reader, keys, configuration, signal });
    results.forEach(show);
    return results;
  }
  const columns = columnsOf(configuration, {
    strategies: wanted.strategies ?? evaluation.strategies,
    models: wanted.models ?? evaluation.models,
  });
  const { record } = wanted;
  const { runMs } = evaluation;
  const given = { configFile, configuration, columns, cases, runMs, record, environment, log, signal };
  return runCases({ ...given, onResult: show });
}

async function ofRecorded(
  cases: readonly RecordedCase[],
  evaluation: Evaluation,
  wanted: Wanted,
  show: (result: CaseResult) => void,
  signal: AbortSignal,
  surroundings: CommandContext,
): Promise<readonly CaseResult[]> {
  if (cases.length === 0) return [];
  const { environment, log } = surroundings;
  const configFile = wanted.config ?? evaluation.config ?? environment.configFile;
  const configuration = configFile === null ? null : await configurationOf(configFile, surroundings);
  const keys = recordedKeys(environment);
  const results: CaseResult[] = [];
  for (const one of cases) {
    if (signal.aborted) break;
    const result = await (one.export === null
      ? onOwnLog((reader) => replayRun(one, { reader, keys: { keys, readsUnknown: false }, configuration, signal }))
      : replayRun(one, {
          ...{ reader: await openArchive(one.export), configuration, signal },
          keys: { keys, readsUnknown: true },
        }));
    show(result);
    results.push(result);
  }
  return results;

  async function onOwnLog<T>(work: (reader: Awaited<ReturnType<typeof openBus>>['bus']) => Promise<T>): Promise<T> {
    requireLog(environment);
    const { bus } = await openBus(environment, log, signal);
    try {
      return await work(bus);
    } finally {
      await bus.close();
    }
  }
}

function chosen(evaluation: Evaluation, { only, file }: Wanted): Evaluation {
  if (only === undefined) return evaluation;
  const names = evaluation.cases.map(({ name }) => name);
  const unknown = only.filter((name) => !names.includes(name));
  if (unknown.length > 0) throw new Error(`${file} has no case ${unknown.join(', ')}. It has: ${names.join(', ')}.`);
  return { ...evaluation, cases: evaluation.cases.filter(({ name }) => only.includes(name)) };
}

function readArguments(args: readonly string[]): Wanted {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      config: { type: 'string' },
      strategy: { type: 'string' },
      model: { type: 'string' },
      case: { type: 'string' },
      record: { type: 'string' },
      recorded: { type: 'string' },
      json: { type: 'boolean', default: false },
      junit: { type: 'string' },
    },
  });
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) throw new Error(`Give one file of cases.\n${usage}`);
  if (values.record !== undefined && values.recorded !== undefined)
    throw new Error('--record runs the cases, and --recorded runs none. Give one of them.');
  const list = (text: string | undefined) => text?.split(',').filter((name) => name !== '');
  const strategies = list(values.strategy)?.map((name) => {
    const known = strategyNames.find((one) => one === name);
    if (known === undefined) throw new Error(`--strategy has "${name}"; there are: ${strategyNames.join(', ')}.`);
    return known;
  });
  return {
    ...{ file, strategies, models: list(values.model), only: list(values.case) },
    ...{ config: values.config, record: values.record ?? null, recorded: values.recorded ?? null },
    ...{ json: values.json, junit: values.junit },
  };
}
