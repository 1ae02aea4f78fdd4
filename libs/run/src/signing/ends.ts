import { trustedTimeOf } from '@sluice/bus';
import { Fault } from '@sluice/core';
import type { Signatures, SignerRole, Verifier } from '@sluice/core';
import { topicEntry, topics } from '@sluice/contracts';
import type { AgentResponse, Topic } from '@sluice/contracts';
import { isSignedBy, loopSigners, signatureOver } from './signed-record.js';

/** Whether a service signed the end, or it is older than signed ends. */
export type EndSignature = 'verified' | 'before_keys';

/** The service that ends a run by a record of the topic: its handler, else the filter. */
export function enderOf(topic: Topic): SignerRole {
  return topicEntry(topic).handledBy ?? 'filter';
}

/** The end with its service’s signature; as it is where the keys are of a former version and have none of the agent. */
export async function signEnd(
  end: AgentResponse,
  role: SignerRole,
  { signatures }: { readonly signatures: Signatures },
): Promise<AgentResponse> {
  if (!signatures.canSign(role)) return end;
  return { ...end, recordSignature: await signatureOver(topics.responses, end, role, signatures) };
}

/** What the end’s signature says; null if it is forged: since ends are signed, one that no service signed is no end. */
export async function endSignature(
  message: { readonly record: AgentResponse; readonly timestamp: number; readonly readAt?: number | undefined },
  signatures: Verifier,
): Promise<EndSignature | null> {
  const { record } = message;
  if (record.recordSignature !== null)
    for (const role of loopSigners[topics.responses])
      if (await isSignedBy(role, topics.responses, record, signatures)) return 'verified';
  return trustedTimeOf(message) < signatures.since('ends') ? 'before_keys' : null;
}

/** Throws Fault('signature_invalid') for an end that is forged. */
export async function verifyEnd(
  message: { readonly record: AgentResponse; readonly timestamp: number; readonly readAt?: number | undefined },
  { signatures }: { readonly signatures: Verifier },
): Promise<void> {
  if ((await endSignature(message, signatures)) !== null) return;
  const found = message.record.recordSignature === null ? 'It is not signed.' : 'It is not as it was signed.';
  throw new Fault('signature_invalid', `No service signed this end of a run. ${found}`, false);
}
