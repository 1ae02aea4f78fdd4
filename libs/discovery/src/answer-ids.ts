import { isJsonObject } from '@sluice/core';
import type { Clock, Documents } from '@sluice/core';
import { inTime } from './in-time.js';
import type { SessionOwner } from './sessions.js';

/** A provider keeps its answers so long. */
const answerMs = 30 * 24 * 3_600_000;

/** An answer that a provider keeps, which a later request may go on from. */
interface KeptAnswer {
  /** Its id at the provider: a client knows an answer of several rounds by that of the first. */
  readonly id: string;
  /** The session of the conversation: a request that goes on from an answer does not hold its first message. */
  readonly session: string;
}

/**
 * Which answer a client’s id stands for, in the ledger’s database, for all instances. What cannot be read or written
 * is as if it were not there.
 */
export class AnswerIds {
  constructor(
    private readonly documents: Documents,
    private readonly clock: Clock,
    private readonly warn: (details: Readonly<Record<string, unknown>>, message: string) => void,
  ) {}

  async find(owner: SessionOwner, id: string): Promise<KeptAnswer | null> {
    try {
      const stored = await inTime(this.documents.find(keyOf(owner, id)));
      const gone = stored?.expiresAt !== undefined && stored.expiresAt !== null && stored.expiresAt <= this.clock.now();
      return stored === undefined || gone ? null : answerOf(stored.text);
    } catch (error) {
      this.warn({ error: (error as Error).message }, 'the answer that a request goes on from could not be looked up');
      return null;
    }
  }

  async note(owner: SessionOwner, id: string, answer: KeptAnswer): Promise<void> {
    try {
      const text = JSON.stringify(answer);
      await inTime(this.documents.put(keyOf(owner, id), 1, text, this.clock.now() + answerMs));
    } catch (error) {
      this.warn({ error: (error as Error).message }, 'the id of an answer could not be written');
    }
  }
}

function keyOf({ tenantId, userId }: SessionOwner, id: string): string {
  const parts = [tenantId, userId, id.slice(0, 200)].map((part) => encodeURIComponent(part));
  return `discovery-answers/${parts.join('/')}`;
}

/** A text that is none, as of a later version, says nothing. */
function answerOf(text: string): KeptAnswer | null {
  const value = JSON.parse(text) as unknown;
  if (!isJsonObject(value)) return null;
  const { id, session } = value;
  return typeof id === 'string' && typeof session === 'string' ? { id, session } : null;
}
