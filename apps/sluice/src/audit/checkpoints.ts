import { checkpointKind, signatureOf } from '@sluice/audit';
import { topics } from '@sluice/contracts';
import type { Bus } from '@sluice/bus';

/** A checkpoint as it can be kept elsewhere: what it says is inside its signature as well. */
export interface KeptCheckpoint {
  readonly chain: string;
  /** It covers the chain’s entries up to this one, whose hash is `head`. */
  readonly sequence: number;
  readonly head: string;
  readonly at: string;
  /** Compact JWS, EdDSA. */
  readonly signature: string;
}

/** The last checkpoint of each chain on the log. */
export async function lastCheckpoints(log: Pick<Bus, 'read'>): Promise<readonly KeptCheckpoint[]> {
  const last = new Map<string, KeptCheckpoint>();
  for await (const { record } of log.read([topics.audit], { from: 'start', onUndecodable: () => undefined })) {
    const signature = record.kind === checkpointKind ? signatureOf(record) : null;
    const kept = signature === null ? null : read(signature);
    if (kept !== null && kept.sequence >= (last.get(kept.chain)?.sequence ?? 0)) last.set(kept.chain, kept);
  }
  return [...last.values()].sort((one, other) => (one.chain < other.chain ? -1 : 1));
}

/** What the signature is over, not verified: `verify` does that. Null for what is no such signature. */
function read(signature: string): KeptCheckpoint | null {
  try {
    const payload = signature.includes('~') ? signature.split('~').at(-1) : signature.split('.')[1];
    const { chain, sequence, head, at } = JSON.parse(
      Buffer.from(payload ?? '', 'base64url').toString('utf8'),
    ) as Record<string, unknown>;
    if (typeof chain !== 'string' || typeof sequence !== 'number' || typeof head !== 'string') return null;
    return { chain, sequence, head, at: new Date(Number(at)).toISOString(), signature };
  } catch {
    return null;
  }
}
