import type { JsonObject, Signatures, SignerRole, Verifier } from '@sluice/core';
import { madeOfRecord, recordContent, recordNames, sha256, shareRecord } from '@sluice/contracts';
import type { OfferedList, RecordOf } from '@sluice/contracts';
import { lengthened, shortened } from './short-signature.js';

/** The topics whose records their writer signs as a whole. */
export type SignedTopic = 'agent.toolsets' | 'agent.tool-calls' | 'agent.steps' | 'agent.responses' | 'agent.config';

/**
 * Who signs the records of the loop as a whole, its writer first: a turn that goes back to the filter carries the
 * filter’s signatures, any of them ends a run, and `call` is the key for calls that requests make themselves.
 */
export const loopSigners = {
  'agent.toolsets': ['filter'],
  'agent.tool-calls': ['agent', 'call'],
  'agent.steps': ['executor', 'filter', 'call'],
  'agent.responses': ['filter', 'agent', 'executor'],
} as const satisfies Partial<Record<SignedTopic, readonly SignerRole[]>>;

/** The writer’s own signatures in a record. One of them is over a part of it, and is verified for itself. */
const signaturesIn: Readonly<Record<SignedTopic, readonly string[]>> = {
  'agent.toolsets': ['grant', 'recordSignature'],
  'agent.tool-calls': ['recordSignature'],
  'agent.steps': ['signature', 'recordSignature'],
  'agent.responses': ['recordSignature'],
  'agent.config': ['recordSignature'],
};

/** The role’s signature over everything that the record says. */
export function signatureOver<T extends SignedTopic>(
  topic: T,
  record: RecordOf<T>,
  role: SignerRole,
  signatures: Signatures,
): Promise<string> {
  return signatures.sign(role, claimsOf(topic, record));
}

/** Whether the role signed exactly this record. */
export async function isSignedBy<T extends SignedTopic>(
  role: SignerRole,
  topic: T,
  record: RecordOf<T>,
  signatures: Verifier,
): Promise<boolean> {
  if (record.recordSignature === null) return false;
  const expected = claimsOf(topic, record);
  const claims = await signatures.verify(role, tokenOf(record, expected));
  if (claims === null) return false;
  return claims['record'] === expected['record'] && claims['digest'] === expected['digest'];
}

/** What a record has of signatures. */
interface Signed {
  readonly recordSignature: string | null;
  /** Of the filter, in records of the loop from it to the executor. */
  readonly grant?: string | null;
  /** Of the executor, or the filter’s grant where a turn goes back. */
  readonly signature?: string | null;
  /** Former versions have none, and read signatures as they are made. */
  readonly list?: OfferedList | null;
  /** What became of a call that its request made itself, which former versions do not read. */
  readonly call?: object | null;
}

/**
 * The record with its writer’s signature over it, which is shortened where no former version reads the record; `more`
 * is the signature beside it. What was made of the record to sign it serves those of this process that verify it.
 */
export function withSignature<Record extends Signed>(record: Record, token: string, more?: Partial<Record>): Record {
  const signed = { ...record, ...more };
  const recordSignature = isShort(signed) ? shortened(token, besideIn(signed)) : token;
  return shareRecord({ ...signed, recordSignature }, record);
}

/** A token that names the key of the signature over the record, if there is one. */
export function tokenWithKey(record: Signed): string | null {
  const { recordSignature } = record;
  const isOfSameBatch = isShort(record) && recordSignature?.startsWith('~') === true;
  return isOfSameBatch ? besideIn(record) : recordSignature;
}

function tokenOf(record: Signed, claims: JsonObject): string | null {
  const { recordSignature } = record;
  if (recordSignature === null || !isShort(record)) return recordSignature;
  return lengthened(recordSignature, besideIn(record), claims);
}

function isShort({ list = null, call = null }: Signed): boolean {
  return list !== null || call !== null;
}

function besideIn({ grant = null, signature = null }: Signed): string | null {
  return grant ?? signature;
}

/** The record’s kind is named, so that no signature over one kind passes for one over another. */
function claimsOf<T extends SignedTopic>(topic: T, record: RecordOf<T>): JsonObject {
  return { record: recordNames[topic], digest: digestOf(topic, record) };
}

/** Of a shared record it is made once: who writes it signs it, and several services of a process verify it. */
function digestOf<T extends SignedTopic>(topic: T, record: RecordOf<T>): string {
  const made = madeOfRecord(record);
  const known = made?.get(topic) as string | undefined;
  if (known !== undefined) return known;
  const digest = sha256(recordContent(recordNames[topic], record, signaturesIn[topic]));
  made?.set(topic, digest);
  return digest;
}
