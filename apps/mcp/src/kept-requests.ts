import type { JsonObject, JsonValue } from '@sluice/core';
import { isJsonObject } from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import { takesLong } from '@sluice/mcp';
import { keptValue } from './kept-values.js';
import type { Keeping } from './kept-values.js';
import type { OpenSession } from './session-records.js';
import { sessionKeptMs } from './session-states.js';

/** The largest message that is kept, in bytes. */
const mostBytes = 65_536;
/** How long behind its answer a request is kept, in milliseconds. */
const answeredMs = 5 * 60_000;

/**
 * Requests under way, so that a client whose connection broke gets its answer at any replica: the request is served
 * again there, and the id of its message stands for the same run. What the run came to is on the log, and kept there
 * alone.
 */
export class KeptRequests {
  constructor(private readonly keeping: Keeping) {}

  /** Keeps the request; the stream of its answer, or null where it cannot be resumed. */
  async keep(session: OpenSession, message: JsonValue | undefined): Promise<string | null> {
    if (!isJsonObject(message ?? null)) return null;
    const request = message as JsonObject;
    const { id } = request;
    const text = JSON.stringify(request);
    const isNamed = typeof id === 'string' || typeof id === 'number';
    if (!isNamed || !takesLong(request) || Buffer.byteLength(text) > mostBytes) return null;
    const stream = streamOf(id);
    const { documents, clock } = this.keeping;
    // Another message under the same id has no stream of its own.
    const isKept = await documents.put(keyOf(session, stream), 1, text, clock.now() + sessionKeptMs);
    return isKept ? stream : null;
  }

  async find(session: OpenSession, stream: string): Promise<JsonObject | null> {
    return (await keptValue<JsonObject>(this.keeping, keyOf(session, stream)))?.value ?? null;
  }

  /** The request of this id of a message, while it is kept. */
  async named(session: OpenSession, id: JsonValue): Promise<JsonObject | null> {
    return typeof id === 'string' || typeof id === 'number' ? this.find(session, streamOf(id)) : null;
  }

  /** The answer was sent; whether it arrived is not known yet. */
  async answered(session: OpenSession, stream: string, message: JsonObject): Promise<void> {
    const { documents, clock } = this.keeping;
    await documents.put(keyOf(session, stream), 1, JSON.stringify(message), clock.now() + answeredMs);
  }
}

function streamOf(id: string | number): string {
  return sha256(JSON.stringify(id)).slice(0, 32);
}

function keyOf({ key }: OpenSession, stream: string): string {
  return `mcp/request/${key}/${stream}`;
}
