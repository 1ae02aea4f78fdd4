import { Fault } from '@sluice/core';
import type { Codec, Topic } from '@sluice/contracts';
import type { Incoming } from '../port.js';
import { sessionOf, tenantOf } from './session.js';

/** A record as the log holds it: bytes. */
export interface Stored {
  readonly topic: Topic;
  readonly partition: number;
  readonly offset: number;
  readonly key: string;
  readonly value: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
  /** As `Incoming` has it. */
  readonly readAt?: number | undefined;
  /** Why its bytes could not be had from the log, in a sentence; there are none then. */
  readonly unreadable?: string;
}

/**
 * A stored record with what its bytes say, or why they say nothing. `session` names the lane it runs in, `tenant` in
 * whose turn.
 */
export type Opened = { readonly stored: Stored; readonly session: string; readonly tenant: string } & (
  { readonly message: Incoming; readonly fault: null } | { readonly message: null; readonly fault: Fault }
);

/**
 * A promise only where the codec has to ask for a schema. Throws what is retryable: the registry could not be asked.
 */
export function openStored(codec: Codec, stored: Stored): Opened | Promise<Opened> {
  if (stored.unreadable !== undefined) return unreadable(stored, new Fault('undecodable', stored.unreadable, false));
  try {
    const record = codec.decode(stored.topic, stored.value);
    if (record instanceof Promise) {
      return record.then(
        (decoded) => opened(stored, decoded),
        (error: unknown) => unreadable(stored, error),
      );
    }
    return opened(stored, record);
  } catch (error) {
    return unreadable(stored, error);
  }
}

function opened(stored: Stored, record: Incoming['record']): Opened {
  const { topic, partition, offset, key, headers, timestamp, readAt } = stored;
  // The codec gave the record of this very topic; the compiler cannot follow that through the union.
  const fields = { topic, partition, offset, key, record, headers, timestamp };
  const message = (readAt === undefined ? fields : { ...fields, readAt }) as Incoming;
  return { stored, session: sessionOf(message), tenant: tenantOf(message), message, fault: null };
}

function unreadable(stored: Stored, error: unknown): Opened {
  if (!(error instanceof Fault) || error.retryable) throw error;
  return { stored, session: stored.key, tenant: '', message: null, fault: error };
}
