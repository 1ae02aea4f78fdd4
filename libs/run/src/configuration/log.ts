import type { Configuration, Verifier } from '@sluice/core';
import { isPart, missingParts, topics } from '@sluice/contracts';
import type { ConfigVersion } from '@sluice/contracts';
import type { LogReader } from '@sluice/bus';
import type { Applying } from './apply.js';
import { compiledFrom } from './configurations.js';
import { ConfigurationRecords, configurationRefusals } from './records.js';
import type { ConfigurationRefusal } from './records.js';

/** A configuration that a record of agent.config put in force. */
export interface AppliedConfiguration extends Pick<
  ConfigVersion,
  'version' | 'source' | 'compiledAt' | 'recordSignature'
> {
  /** When the log took the record, milliseconds since the epoch. */
  readonly appliedAt: number;
  /** Whether it stands in parts, which former versions do not read. */
  readonly isInParts: boolean;
  /** It, whole. Throws a sentence if it cannot be had. */
  read(): Configuration;
}

/** A configuration of agent.config as services judge it. */
export interface JudgedConfiguration {
  readonly applied: AppliedConfiguration;
  /** Why it takes no force, as a clause; null if it may. */
  readonly refused: string | null;
}

/** The configurations on agent.config, the oldest first, but for what cannot be decoded. */
export async function judgedConfigurations(
  bus: LogReader,
  signatures: Verifier,
): Promise<readonly JudgedConfiguration[]> {
  const records = new ConfigurationRecords(signatures);
  const all: JudgedConfiguration[] = [];
  const waiting = new Map<ConfigVersion, number>();
  const add = (record: ConfigVersion, at: number, refused: string | null): number =>
    all.push({ applied: appliedBy(record, at, records), refused }) - 1;
  for await (const { record, ...message } of bus.read([topics.config], {
    from: 'start',
    onUndecodable: () => undefined,
  })) {
    const { applies, refusal, missing } = await records.take({ record, ...message });
    if (applies !== null) {
      // One that waited is in force from where its last part stands.
      const index = waiting.get(applies);
      if (index !== undefined) all.splice(index, 1);
      waiting.clear();
      add(applies, message.timestamp, null);
    } else if (missing.length > 0) {
      waiting.clear();
      waiting.set(record, add(record, message.timestamp, `waits: ${missingParts(missing, record.parts.length)}`));
    } else if (refusal !== null) {
      add(
        record,
        message.timestamp,
        `refused: ${isPart(record) ? 'a part that is not what its name says' : configurationRefusals[refusal]}`,
      );
    }
  }
  return all;
}

function appliedBy(record: ConfigVersion, appliedAt: number, { contents }: ConfigurationRecords): AppliedConfiguration {
  const { version, source, compiledAt, recordSignature, parts } = record;
  const isInParts = parts.length > 0;
  const read = () => contents.get(version) as Configuration;
  return { version, source, compiledAt, appliedAt, recordSignature, isInParts, read };
}

/**
 * Why services do not take the record of agent.config at this place; null if they do, if it is a part, and if it
 * cannot be decoded.
 */
export async function refusalAt(
  { partition, offset }: { readonly partition: number; readonly offset: number },
  bus: LogReader,
  signatures: Verifier,
): Promise<ConfigurationRefusal | 'parts_missing' | 'unreadable' | null> {
  const records = new ConfigurationRecords(signatures);
  for await (const message of bus.read([topics.config], { from: 'start', onUndecodable: () => undefined })) {
    if (message.partition !== partition || message.offset > offset) continue;
    const { applies, refusal, missing } = await records.take(message);
    if (message.offset < offset) continue;
    if (isPart(message.record)) return null;
    if (refusal !== null || missing.length > 0) return refusal ?? 'parts_missing';
    return applies === null || isReadable(records.contents.get(applies.version)) ? null : 'unreadable';
  }
  return null;
}

function isReadable(configuration: Configuration | undefined): boolean {
  try {
    return Boolean(compiledFrom(configuration as Configuration));
  } catch {
    return false;
  }
}

/** The configurations that were ever in force, the oldest first. */
export async function configurationsOn(bus: LogReader, signatures: Verifier): Promise<readonly AppliedConfiguration[]> {
  const all = await judgedConfigurations(bus, signatures);
  return all.filter(({ refused }) => refused === null).map(({ applied }) => applied);
}

/** The one that services take: the last that can be read. */
export function inForceOf(all: readonly AppliedConfiguration[]): AppliedConfiguration | undefined {
  return all.findLast((one) => {
    try {
      return Boolean(compiledFrom(one.read()));
    } catch {
      return false;
    }
  });
}

/**
 * Whether the record need not be applied once more: it is this version, signed where there are keys to sign it with,
 * and in one record where that is asked for.
 */
export function isApplied(
  version: string,
  last: AppliedConfiguration | undefined,
  { signatures, isWhole }: Applying,
): boolean {
  if (last?.version !== version || (isWhole && last.isInParts)) return false;
  return last.recordSignature !== null || !signatures.canSign('config');
}
