import { claimMemoryMs, localPrincipal } from '@sluice/core';
import { NamedTools, requestIds, topics } from '@sluice/contracts';
import type { Topic } from '@sluice/contracts';
import { tenantHeader } from '@sluice/bus';
import type { Incoming, SqliteBus } from '@sluice/bus';
import { dataFiles, openLedger, openLogFile, systemClock } from '@sluice/host';
import type { Environment, Log } from '@sluice/host';
import { callKeyOf, claimedName, runOfRecord } from '@sluice/run';
import type { NamedRun } from '@sluice/run';
import { existsSync } from 'node:fs';
import type { Manifest } from './manifest.js';

/** A call that may have been made since the backup was taken. */
export interface CallInDoubt {
  readonly requestId: string;
  readonly tool: string;
}

const owner = 'restore';

/** Calls that an executor had yet to make. */
interface OpenCalls {
  readonly run: NamedRun;
  readonly iteration: number;
  readonly calls: readonly Parameters<typeof callKeyOf>[2][];
}

async function* openCalls(bus: SqliteBus): AsyncGenerator<OpenCalls, void, undefined> {
  for await (const { record } of unfinishedOf(bus, topics.toolCalls))
    yield { run: runOfRecord(record), iteration: record.iteration, calls: record.calls };
  let ids: ReadonlyMap<string, string> | null = null;
  for await (const message of unfinishedOf(bus, topics.calls)) {
    const { call } = message.record;
    if (call === null) continue;
    ids ??= await toolIds(bus);
    const { requestId } = requestIds(message, message.record);
    // Doors write the tenant. Of other producers’ requests it is known where there is no identity.
    const tenant = message.headers[tenantHeader] ?? localPrincipal.tenantId;
    const tool = ids.get(call.tool) ?? call.tool;
    const made = { toolCallId: 'call-0', tool, arguments: call.arguments, argumentsBytes: null, providerData: null };
    yield { run: { requestId, tenant }, iteration: 1, calls: [made] };
  }
}

async function hasOpenCalls(bus: SqliteBus): Promise<boolean> {
  for (const topic of [topics.toolCalls, topics.calls])
    if ((await bus.unfinished('executor', topic)).length > 0) return true;
  return false;
}

/** The records of the topic that the executor had not done with. */
async function* unfinishedOf<T extends Topic>(bus: SqliteBus, topic: T): AsyncGenerator<Incoming<T>, void, undefined> {
  const open = new Set(await bus.unfinished('executor', topic));
  const [first] = open;
  if (first === undefined) return;
  const options = { from: { offset: first }, onUndecodable: () => undefined } as const;
  for await (const message of bus.read([topic], options)) if (open.has(message.offset)) yield message;
}

/** The ids of the tools by their keys, in the configuration that came last. */
async function toolIds(bus: SqliteBus): Promise<ReadonlyMap<string, string>> {
  const named = new NamedTools();
  let tools: ReturnType<NamedTools['take']> = [];
  for await (const { record } of bus.read([topics.config], { from: 'start', onUndecodable: () => undefined })) {
    const found = named.take(record);
    if (found.length > 0) tools = found;
  }
  return new Map(tools.map(({ key, id }) => [key, id]));
}

/**
 * Prepares the log and the ledger of a copy for another life. No process holds a lease of it. Each call that waited
 * for an executor at the moment of the copy, in a turn or in its own request, gets a claim without an outcome, if it
 * has none: whether it was made since then is not in the copy. An executor repeats of them what is safe to repeat,
 * asks tools that can tell whether they took effect, and reports the others with `outcome_unknown`.
 */
export async function markInDoubt(
  environment: Environment,
  log: Log,
  { takenAt }: Pick<Manifest, 'takenAt'>,
): Promise<readonly CallInDoubt[]> {
  const found: CallInDoubt[] = [];
  const bus = await openLogFile(environment, log);
  try {
    await bus.freeLeases();
    const hasLedger = environment.databaseUrl !== null || existsSync(dataFiles(environment).ledger);
    if (!hasLedger || !(await hasOpenCalls(bus))) return found;
    const { ledger } = await openLedger(environment, log);
    try {
      const claiming = {
        owner,
        now: Date.parse(takenAt),
        ttlMs: claimMemoryMs + systemClock.now() - Date.parse(takenAt),
      };
      for await (const { run, iteration, calls } of openCalls(bus)) {
        const name = await claimedName(run, { ledger, clock: systemClock });
        for (const [index, call] of calls.entries()) {
          const claim = await ledger.claim({ key: callKeyOf(name, { iteration }, call, index), ...claiming });
          if (claim.owner === owner) found.push({ requestId: run.requestId, tool: call.tool });
        }
      }
    } finally {
      await ledger.close();
    }
  } finally {
    await bus.close();
  }
  return found;
}
