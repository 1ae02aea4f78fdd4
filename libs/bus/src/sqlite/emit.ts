import type { Codec } from '@sluice/contracts';
import type { BusLog, Outgoing } from '../port.js';
import { encodeAll } from '../processing/outputs.js';
import type { GroupAppend } from './group-append.js';

/** Payload bytes that may wait for the disk; what comes beyond them is dropped, as best effort may be. */
const maxPending = 8 * 1024 * 1024;

/**
 * Best effort, outside the handlers' transactions: what cannot be written is lost, and the handler never hears of it.
 */
export function emitter(codec: Codec, append: GroupAppend, log: BusLog): (messages: readonly Outgoing[]) => void {
  let dropping = false;
  const lost = (error: unknown): void => log('warn', 'Progress was lost.', { error: String(error) });

  return (messages) => {
    if (append.pendingBytes > maxPending) {
      if (!dropping) log('warn', 'Progress comes faster than it can be written; some of it is dropped.', {});
      dropping = true;
      return;
    }
    dropping = false;
    try {
      append.add(encodeAll(codec, messages)).catch(lost);
    } catch (error) {
      lost(error);
    }
  };
}
