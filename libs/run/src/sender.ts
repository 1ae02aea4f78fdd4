import { sha256 } from '@sluice/contracts';
import type { Principal } from '@sluice/core';

/** Names who sent a request, where its credential cannot be read: a hash that is compared, and gives no right. */
export function senderName({ tenantId, actorId, subjectId }: Principal): string {
  return sha256(JSON.stringify([tenantId, actorId, subjectId]));
}
