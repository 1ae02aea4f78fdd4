import type { JsonObject, Signatures, SignerRole, Verifier } from '@sluice/core';
import { recordContent, recordNames, sha256 } from '@sluice/contracts';
import type { RecordOf } from '@sluice/contracts';

/** The topics whose records their writer signs as a whole. */
export type SignedTopic = 'agent.toolsets' | 'agent.tool-calls' | 'agent.steps' | 'agent.responses' | 'agent.config';

/**
 * Who signs the records of the loop as a whole, its writer first: a turn that goes back to the filter carries the
 * filter’s signatures, and any of them ends a run.
 */
export const loopSigners = {
  'agent.toolsets': ['filter'],
  'agent.tool-calls': ['agent'],
  'agent.steps': ['executor', 'filter'],
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
  const claims = await signatures.verify(role, record.recordSignature);
  if (claims === null) return false;
  const expected = claimsOf(topic, record);
  return claims['record'] === expected['record'] && claims['digest'] === expected['digest'];
}

/** The record’s kind is named, so that no signature over one kind passes for one over another. */
function claimsOf<T extends SignedTopic>(topic: T, record: RecordOf<T>): JsonObject {
  const name = recordNames[topic];
  return { record: name, digest: sha256(recordContent(name, record, signaturesIn[topic])) };
}
