import { createHmac } from 'node:crypto';
import type { JsonObject, JsonValue } from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import type { AuditRecord } from '@sluice/contracts';

/** One entry of the audit, as far as a report shows it. */
export interface AttestedEntry {
  readonly sequence: number;
  /** Milliseconds since the epoch, as everywhere in a report. */
  readonly at: number;
  readonly kind: string;
  /** The entry’s hash in the audit’s chain. */
  readonly hash: string;
  /** SHA-256 over the session’s id, a line feed and `hash`: only a reader who knows a session finds its entries. */
  readonly session: string;
  /** Of a call that is not shown. */
  readonly call_hash?: string;
  readonly call?: JsonObject;
  /** From the entry to the tree’s root (RFC 6962), base64url. */
  readonly proof: readonly string[];
}

export interface AttestedChain {
  readonly chain: string;
  readonly tree: { readonly size: number; readonly root: string };
  /** The audit’s signature over the last entry that the tree holds. */
  readonly checkpoint: string;
  readonly last: AttestedEntry;
  readonly entries: readonly AttestedEntry[];
}

/** What is signed. Its members stand in this order. */
export interface AttestationBody {
  readonly type: 'sluice-attestation';
  readonly version: 1;
  readonly from: number | null;
  readonly to: number | null;
  /** All sessions if null. */
  readonly session: string | null;
  /** What made the signature: nothing here claims hardware that is not there. */
  readonly signer: 'software';
  readonly chains: readonly AttestedChain[];
}

export interface Attestation extends AttestationBody {
  /** The audit’s signature over the body’s hash. */
  readonly signature: string;
  readonly quote: Quote | null;
}

/**
 * Evidence of where a report was made. Its report data is the report’s hash, 32 bytes, and 32 bytes of zero behind
 * it.
 */
export interface Quote {
  readonly kind: string;
  /** Of `software` a signature of the audit, of hardware its quote in base64. */
  readonly evidence: string;
}

/** SHA-256 over the body as JSON without white space, hexadecimal. */
export function bodyHash(body: AttestationBody): string {
  const { type, version, from, to, session, signer, chains } = body;
  return sha256(JSON.stringify({ type, version, from, to, session, signer, chains }));
}

/** The leaf of the tree that an entry is. */
export function leafText(chain: string, entry: Omit<AttestedEntry, 'proof'>): string {
  const { sequence, at, kind, hash, session, call, call_hash: hidden = '' } = entry;
  return JSON.stringify([chain, sequence, at, kind, hash, session, call === undefined ? hidden : callHash(call)]);
}

export const callHash = (call: JsonObject): string => sha256(JSON.stringify(call));
export const sessionTag = (session: string, hash: string): string => sha256(`${session}\n${hash}`);

/** The members of a call’s entry that a report repeats: neither arguments nor result, which stand there as hashes. */
const repeated = [
  'authentic',
  'iteration',
  'index',
  'tool_call_id',
  'tool',
  'tool_id',
  'actor',
  'tenant',
  'subject',
  'outcome',
  'reason',
  'state_before',
  'state_after',
  'started_at',
  'ended_at',
] as const;

/** An entry of the audit with the whole call, if it is one. */
export function attested(record: AuditRecord): Omit<AttestedEntry, 'proof'> {
  const { sequence, at, kind, hash, sessionId } = record;
  const entry = { sequence, at, kind, hash, session: sessionTag(sessionId, hash) };
  return kind === 'tool_call' ? { ...entry, call: callOf(record) } : entry;
}

function callOf({ details, requestId, sessionId, configVersion, sourceHash }: AuditRecord): JsonObject {
  const said = JSON.parse(details) as JsonObject;
  const shown = Object.fromEntries(repeated.map((name): [string, JsonValue] => [name, said[name] ?? null]));
  return {
    request_id: requestId,
    session_id: sessionId,
    config_version: configVersion,
    ...shown,
    arguments_hash: blinded(said['arguments_hash'], sourceHash),
    result_hash: said['result_hash'] ?? null,
  };
}

/**
 * A bare hash of short arguments could be guessed. The hash of the record that the entry is of is known to readers of
 * the log alone.
 */
function blinded(hash: JsonValue | undefined, sourceHash: string): string | null {
  return typeof hash === 'string' ? createHmac('sha256', sourceHash).update(hash).digest('hex') : null;
}
