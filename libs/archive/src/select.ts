import { allTopics, positionOf, runTopics, storyTopics, topics } from '@sluice/contracts';
import type { Incoming, LogReader, ReadOptions } from '@sluice/bus';
import { requestIdOf, tenantOf } from '@sluice/run';
import type { Selection } from './format.js';

type Undecodable = NonNullable<ReadOptions['onUndecodable']>;

/**
 * The selected records: all configurations first, since every decision names one, then the others in the log’s order.
 * Whose a request or a piece of progress is stands in other records of its run, so a tenant’s runs are found in a
 * reading of their own before.
 */
export async function* selectRecords(
  reader: LogReader,
  selection: Selection,
  onUndecodable: Undecodable,
  signal: AbortSignal,
): AsyncGenerator<Incoming, void, undefined> {
  yield* reader.read([topics.config], { from: 'start', onUndecodable, signal });
  const wanted = (selection.topics ?? allTopics).filter((topic) => topic !== topics.config);
  if (wanted.length === 0) return;
  const ofTenant = selection.tenant === null ? null : await findTenant(reader, selection, selection.tenant, signal);
  const options = { from: start(selection), onUndecodable, signal };
  const until = selection.to === null ? {} : { before: selection.to };
  for await (const message of reader.read(wanted, { ...options, ...until })) {
    if (isSelected(message, selection) && (ofTenant === null || isOf(message, ofTenant))) yield message;
  }
}

/**
 * A tenant’s runs, and the places of its records that became dead letters: a dead letter is of whom the record was of
 * that it holds.
 */
interface OfTenant {
  readonly runs: ReadonlySet<string>;
  readonly dead: ReadonlySet<string>;
}

async function findTenant(
  reader: LogReader,
  selection: Selection,
  tenant: string,
  signal: AbortSignal,
): Promise<OfTenant> {
  const options = { from: start(selection), onUndecodable: () => undefined, signal };
  const runs = new Set<string>();
  const anybodys = new Set<string>();
  for await (const message of reader.read([...storyTopics, topics.deadLetters], options)) {
    const run = requestIdOf(message);
    if (run !== null && tenantOf(message) === tenant) runs.add(run);
    if (message.topic === 'agent.dead-letters') anybodys.add(positionOf(message.record));
  }
  const dead = new Set<string>();
  const sources = runTopics.filter(() => anybodys.size > 0);
  for await (const message of reader.read(sources, options)) {
    const run = requestIdOf(message);
    if (run !== null && runs.has(run) && anybodys.has(positionOf(message))) dead.add(positionOf(message));
  }
  return { runs, dead };
}

function isOf(message: Incoming, { runs, dead }: OfTenant): boolean {
  if (message.topic === 'agent.dead-letters') return dead.has(positionOf(message.record));
  const run = requestIdOf(message);
  return run !== null && runs.has(run);
}

function isSelected(message: Incoming, { from, to, session }: Selection): boolean {
  const { timestamp, key, record } = message;
  if (from !== null && timestamp < from) return false;
  if (to !== null && timestamp >= to) return false;
  return session === null || key === session || ('sessionId' in record && record.sessionId === session);
}

function start({ from }: Selection): ReadOptions['from'] {
  return from === null ? 'start' : { time: from };
}
