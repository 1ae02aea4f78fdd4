import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clockSkewMs } from '@sluice/core';
import type { Configuration } from '@sluice/core';
import { selectRecords, writeArchive } from '@sluice/archive';
import { dataFiles, openLogFile, verifierIfAny } from '@sluice/host';
import { GenuineEnds } from '@sluice/run';
import type { Environment, Log } from '@sluice/host';
import type { ModelSource } from '@sluice/model';
import { followRun, newRequest, publishRequest } from '../run-request.js';
import { startEmbedded } from '../system/embedded.js';
import type { QuestionCase } from './cases.js';
import { endOf, plannersOf } from './check.js';
import { configurationFor } from './columns.js';
import type { Column } from './columns.js';
import { recordedName } from './recorded.js';
import { resultOf } from './result.js';
import type { CaseResult } from './result.js';

interface CasesToRun {
  readonly configFile: string;
  readonly configuration: Configuration;
  readonly columns: readonly Column[];
  readonly cases: readonly QuestionCase[];
  readonly runMs: number;
  /** Where the records of all runs are exported to; null for nowhere. */
  readonly record: string | null;
  readonly environment: Environment;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Another source of models than the configuration’s own. */
  readonly models?: ModelSource;
  onResult(result: CaseResult): void;
}

/**
 * Runs every case under every strategy and model, one after another, all services in this process on a log of its own
 * that is removed at the end. Each column begins with a new graph and new workspaces, so that none sees what another
 * one changed.
 */
export async function runCases(given: CasesToRun): Promise<readonly CaseResult[]> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-eval-'));
  const environment = { ...given.environment, ...ownFolder(folder) };
  const results: CaseResult[] = [];
  try {
    for (const column of given.columns) {
      if (given.signal.aborted) break;
      results.push(...(await runColumn(given, column, environment)));
    }
    if (given.record !== null && !given.signal.aborted) await exportAll(given.record, environment, given.log);
    return results;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function ownFolder(folder: string): Partial<Environment> & Pick<Environment, 'dataFolder'> {
  return {
    ...{ bus: 'sqlite', kafka: null, databaseUrl: null, keyFile: null, port: 0 },
    dataFolder: folder,
    workspaceFolder: dataFiles({ dataFolder: folder }).workspaces,
  };
}

async function runColumn(given: CasesToRun, column: Column, environment: Environment): Promise<readonly CaseResult[]> {
  const { graph, graphs, workspaces } = dataFiles(environment);
  for (const path of [graph, `${graph}-wal`, `${graph}-shm`, graphs, workspaces])
    await rm(path, { recursive: true, force: true });
  const configFile = join(environment.dataFolder, `${column.strategy}.yaml`);
  await writeFile(configFile, configurationFor(given.configFile, column));
  const { models } = given;
  const system = await startEmbedded({
    ...{ environment: { ...environment, configFile }, configFile, fileOnly: true },
    ...(models === undefined ? {} : { models }),
  });
  const results: CaseResult[] = [];
  try {
    for (const one of given.cases) {
      const result = await runCase(one, column, given, system.runtime.bus);
      if (result === null) break;
      results.push(result);
      given.onResult(result);
    }
  } finally {
    await system.close();
  }
  return results;
}

/** Null if the command was stopped before the run’s end. */
async function runCase(
  one: QuestionCase,
  column: Column,
  { configuration, environment, runMs, signal }: CasesToRun,
  bus: Parameters<typeof publishRequest>[0],
): Promise<CaseResult | null> {
  const requestId = recordedName(one.name, column);
  const now = Date.now();
  const request = {
    ...newRequest(one.question, { requestId, sessionId: requestId }),
    ...{ group: one.group, state: one.state, toolChoice: one.toolChoice, history: one.history, agent: one.agent },
    answerSchema: one.answerSchema,
    deadline: now + runMs,
  };
  await publishRequest(bus, request, environment);
  const response = await followRun(
    new GenuineEnds(bus, verifierIfAny(environment)),
    requestId,
    now - clockSkewMs,
    () => undefined,
    signal,
  );
  if (response === null) return null;
  const brought = one.history.length;
  const end = endOf(response, brought, plannersOf(configuration));
  const { name, expect } = one;
  const { strategy, model, settings } = column;
  return resultOf({ name, strategy, model }, response, end, { expect, brought, price: settings.price });
}

async function exportAll(file: string, environment: Environment, log: Log): Promise<void> {
  const bus = await openLogFile(environment, log);
  try {
    const selection = { from: null, to: null, session: null, tenant: null, topics: null };
    let lost = 0;
    const records = selectRecords(bus, selection, () => void lost++, new AbortController().signal);
    await writeArchive(file, { selection, createdAt: Date.now(), records, undecodable: () => lost });
  } finally {
    await bus.close();
  }
}
