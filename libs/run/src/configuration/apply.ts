import type { Configuration, Signatures } from '@sluice/core';
import { inParts, isPart, isWholePart, make, maxPayloadBytes, payloadBytes, topics } from '@sluice/contracts';
import type { ConfigVersion } from '@sluice/contracts';
import type { Bus, LogReader, Outgoing } from '@sluice/bus';
import { signatureOver } from '../signing/signed-record.js';

export interface Applying {
  readonly signatures: Signatures;
  /** Whether it stands in one record, however long, as former versions read it; else a long one stands in parts. */
  readonly isWhole: boolean;
}

type About = Pick<ConfigVersion, 'source' | 'compiledAt'>;

/** A shorter one is one record: its tools would be more records than they save. */
const longestWhole = 64 * 1_024;
/** Parts that are published together, bytes. */
const publishedAtOnce = 400_000;

/**
 * Puts the configuration in force: first those of its parts that the log does not have, then itself. Returns its
 * record. Throws a sentence if it cannot be written or signed.
 */
export async function applyConfiguration(
  bus: Pick<Bus, 'read' | 'publish'>,
  configuration: Configuration,
  about: About,
  applying: Applying,
): Promise<ConfigVersion> {
  const { record, parts } = await configurationRecords(configuration, about, applying);
  if (parts.length > 0) {
    const there = await partsOn(bus);
    const lacking = parts.filter(({ version }) => !there.has(version));
    for (const some of inBatches(lacking)) await bus.publish(some.map(outgoing));
  }
  await bus.publish([outgoing(record)]);
  return record;
}

/** The records of a configuration, those of its parts first if it has some. Throws a sentence if one is too large. */
export async function configurationRecords(
  configuration: Configuration,
  about: About,
  { signatures, isWhole }: Applying,
): Promise<{ readonly record: ConfigVersion; readonly parts: readonly ConfigVersion[] }> {
  const { version } = configuration;
  const whole = { version, configuration: JSON.stringify(configuration), ...about, recordSignature: null, parts: [] };
  const bytes = payloadBytes(topics.config, whole);
  if (isWhole || bytes <= longestWhole || configuration.tools.length === 0) {
    if (bytes > maxPayloadBytes - forSignature) throw new Error(tooLargeWhole(bytes, isWhole));
    return { record: await signed(whole, signatures), parts: [] };
  }
  const { manifest, parts } = inParts(configuration);
  const records = parts.map(({ key, ...part }) => {
    const record = make.configVersion({ ...part, ...about });
    const size = payloadBytes(topics.config, record);
    if (size > maxPayloadBytes)
      throw new Error(
        `The tool ${key} has ${size} bytes in the configuration, more than the ${maxPayloadBytes} that a record may have. Shorten its description or its schema.`,
      );
    return record;
  });
  const record = { ...whole, configuration: manifest, parts: parts.map((part) => part.version) };
  const size = payloadBytes(topics.config, record);
  if (size > maxPayloadBytes - forSignature)
    throw new Error(
      `The configuration has ${size} bytes without its ${parts.length} tools, more than the ${maxPayloadBytes} that a record may have. Give it fewer tools, or shorten what stands beside them.`,
    );
  return { record: await signed(record, signatures), parts: records };
}

/** The record that puts the configuration in force, in one, signed. */
export async function configurationRecord(
  configuration: Configuration,
  about: About,
  signatures: Signatures,
): Promise<ConfigVersion> {
  return (await configurationRecords(configuration, about, { signatures, isWhole: true })).record;
}

/** Bytes that a signature adds to a record, at most. */
const forSignature = 2_000;

function tooLargeWhole(bytes: number, isWhole: boolean): string {
  const what = `The configuration has ${bytes} bytes, more than the ${maxPayloadBytes} that a record may have`;
  if (!isWhole) return `${what}, and no tools. Make it smaller.`;
  return `${what}, and SLUICE_TOOLSETS=whole writes it in one. Leave the variable out, once all services are of this version.`;
}

/**
 * Signed; keys of a former version, which have none of the role config, sign nothing, and services with such keys ask
 * for nothing. Throws a sentence if others can sign and this process cannot.
 */
async function signed(record: ConfigVersion, signatures: Signatures): Promise<ConfigVersion> {
  if (signatures.canSign('config'))
    return { ...record, recordSignature: await signatureOver(topics.config, record, 'config', signatures) };
  if (signatures.since('config') === Infinity) return record;
  throw new Error(
    'The keys here cannot sign a configuration, and services take no other. Name the file that `sluice keys export config` gave with SLUICE_KEYS_FILE.',
  );
}

/** Names of the parts that the log has. */
async function partsOn(log: LogReader): Promise<ReadonlySet<string>> {
  const there = new Set<string>();
  for await (const { record } of log.read([topics.config], { from: 'start', onUndecodable: () => undefined }))
    if (isPart(record) && isWholePart(record)) there.add(record.version);
  return there;
}

function* inBatches(records: readonly ConfigVersion[]): Generator<readonly ConfigVersion[], void, undefined> {
  let batch: ConfigVersion[] = [];
  let bytes = 0;
  for (const record of records) {
    const size = payloadBytes(topics.config, record);
    if (batch.length > 0 && bytes + size > publishedAtOnce) {
      yield batch;
      [batch, bytes] = [[], 0];
    }
    batch.push(record);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

/** Parts by their names, as the topic has one partition and no key of it is replaced. */
function outgoing(record: ConfigVersion): Outgoing {
  return { topic: topics.config, key: isPart(record) ? record.version : 'config', record };
}
