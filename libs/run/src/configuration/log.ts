import type { Configuration, Signatures, Verifier } from '@sluice/core';
import { topics } from '@sluice/contracts';
import type { ConfigVersion } from '@sluice/contracts';
import type { LogReader } from '@sluice/bus';
import { signatureOver } from '../signing/signed-record.js';
import { ConfigurationRecords } from './records.js';
import type { ConfigurationRefusal } from './records.js';
import { loadedFrom } from './configurations.js';

/** A record of agent.config as services judge it. */
interface JudgedConfiguration {
  readonly record: ConfigVersion;
  /** Why it takes no force; null if it may. */
  readonly refusal: ConfigurationRefusal | null;
}

/** What stands on agent.config, the oldest first, but for what cannot be decoded. */
export async function judgedConfigurations(
  bus: LogReader,
  signatures: Verifier,
): Promise<readonly JudgedConfiguration[]> {
  const records = new ConfigurationRecords(signatures);
  const all: JudgedConfiguration[] = [];
  for await (const message of bus.read([topics.config], { from: 'start', onUndecodable: () => undefined }))
    all.push({ record: message.record, refusal: await records.take(message) });
  return all;
}

/** The configurations that were ever in force, the oldest first. */
export async function configurationsOn(bus: LogReader, signatures: Verifier): Promise<readonly ConfigVersion[]> {
  const all = await judgedConfigurations(bus, signatures);
  return all.filter(({ refusal }) => refusal === null).map(({ record }) => record);
}

/** The one that services take: the last that can be read. */
export function inForceOf(all: readonly ConfigVersion[]): ConfigVersion | undefined {
  return all.findLast(({ configuration }) => {
    try {
      return Boolean(loadedFrom(configuration));
    } catch {
      return false;
    }
  });
}

/**
 * Whether the record need not be applied once more: it is this version, and signed where there are keys to sign it
 * with.
 */
export function isApplied(version: string, last: ConfigVersion | undefined, signatures: Signatures): boolean {
  return last?.version === version && (last.recordSignature !== null || !signatures.canSign('config'));
}

/**
 * The record that puts the configuration in force, signed. Keys of a former version, which have none of the role
 * config, sign nothing, and services with such keys ask for nothing. Throws a sentence if others can sign and this
 * process cannot.
 */
export async function configurationRecord(
  configuration: Configuration,
  { source, compiledAt }: Pick<ConfigVersion, 'source' | 'compiledAt'>,
  signatures: Signatures,
): Promise<ConfigVersion> {
  const { version } = configuration;
  const record = { version, configuration: JSON.stringify(configuration), source, compiledAt, recordSignature: null };
  if (signatures.canSign('config'))
    return { ...record, recordSignature: await signatureOver(topics.config, record, 'config', signatures) };
  if (signatures.since('config') === Infinity) return record;
  throw new Error(
    'The keys here cannot sign a configuration, and services take no other. Name the file that `sluice keys export config` gave with SLUICE_KEYS_FILE.',
  );
}
