import type { Verifier } from '@sluice/core';
import { checkpointKind, openCheckpoint, signatureOf } from '@sluice/audit';
import { topics } from '@sluice/contracts';
import type { Bus } from '@sluice/bus';

/** A checkpoint as it can be kept elsewhere: what it says is inside its signature as well. */
interface KeptCheckpoint {
  readonly chain: string;
  /** It covers the chain’s entries up to this one, whose hash is `head`. */
  readonly sequence: number;
  readonly head: string;
  readonly at: string;
  /** Compact JWS, EdDSA. */
  readonly signature: string;
}

/**
 * The last checkpoint of each chain on the log. What the audit did not sign is skipped, since a forger could put it
 * in a genuine one’s place and leave nothing to hold the chain against; `verify` names it. Throws a sentence if there
 * is none at all.
 */
export async function lastCheckpoints(
  log: Pick<Bus, 'read'>,
  signatures: Verifier,
): Promise<readonly KeptCheckpoint[]> {
  const last = new Map<string, KeptCheckpoint>();
  let entries = 0;
  for await (const { record } of log.read([topics.audit], { from: 'start', onUndecodable: () => undefined })) {
    entries++;
    const signature = record.kind === checkpointKind ? signatureOf(record) : null;
    const checkpoint = await openCheckpoint(signature, signatures);
    if (signature === null || checkpoint === null) continue;
    const { chain, sequence, head, at } = checkpoint;
    if (sequence < (last.get(chain)?.sequence ?? 0)) continue;
    last.set(chain, { chain, sequence, head, at: new Date(at).toISOString(), signature });
  }
  if (entries === 0) throw new Error('There is no audit here: agent.audit holds no entries.');
  if (last.size === 0)
    throw new Error(
      'No chain has a checkpoint of the audit yet. One comes within a minute or two, while the audit runs.',
    );
  return [...last.values()].sort((one, other) => (one.chain < other.chain ? -1 : 1));
}
