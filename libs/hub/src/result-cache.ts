import { createHash, randomUUID } from 'node:crypto';
import { canonicalJson, parseExactJson } from '@sluice/core';
import type { CachedOutput, Clock, Documents, JsonObject, JsonValue, ToolInvocationContext } from '@sluice/core';

interface ResultCacheParts {
  /** Where all executors see that something was changed at a server. */
  readonly documents: Pick<Documents, 'find' | 'put'>;
  readonly clock: Clock;
  onAsked(server: string, outcome: 'hit' | 'miss'): void;
  /** The documents are out of reach: the call is made, or what it changed is known to this process alone. */
  onFault(server: string, error: unknown): void;
}

/** A call that may be answered by what an equal one got. */
export interface CacheableCall {
  readonly server: string;
  readonly toolId: string;
  readonly cacheMs: number;
  /** The version of the configuration that it is made under. */
  readonly version: string;
  readonly caller: Pick<ToolInvocationContext, 'tenantId' | 'actorId' | 'subjectId' | 'connectionId'>;
  readonly args: JsonValue;
}

interface Kept {
  readonly text: string;
  /** The whole answer, as JSON text. */
  readonly answer: string | null;
  readonly generation: string;
  readonly givenAt: number;
}

const mostCharacters = 32 * 1024 * 1024;
const mostOfOne = 1024 * 1024;
/** Longer than anything is kept, so that a mark that is gone marks nothing that is left. */
const markedMs = 2 * 86_400_000;

/**
 * What tools of MCP servers gave, for calls that are equal: of one tenant, under one configuration, with the same
 * arguments, and by the same caller where the server knows who calls. Held in the memory of this process, as the
 * tools gave it, so that every call of them goes through all that a fresh output does. An output is gone when its
 * time is up, and as soon as a tool with an effect is called at its server.
 */
export class ResultCache {
  /** The one used last is the last. */
  private readonly kept = new Map<string, Kept>();
  private characters = 0;

  constructor(private readonly given: ResultCacheParts) {}

  async output(call: CacheableCall): Promise<CachedOutput> {
    const { server, cacheMs } = call;
    const { clock, onAsked } = this.given;
    const generation = await this.generation(server);
    const key = keyOf(call);
    const found = this.kept.get(key);
    if (found !== undefined) {
      this.drop(key, found);
      const age = clock.now() - found.givenAt;
      if (found.generation === generation && age >= 0 && age < cacheMs) {
        this.put(key, found);
        onAsked(server, 'hit');
        return {
          kind: 'found',
          output: parseExactJson(found.text),
          answer: answerIn(found),
          cachedAtMs: found.givenAt,
        };
      }
    }
    onAsked(server, 'miss');
    return { kind: 'none', keep: (output, answer) => this.keep(key, output, answer, generation) };
  }

  /**
   * Does what may change something at the server: what its tools gave before, and meanwhile, answers nothing any
   * more.
   */
  async changing<T>(server: string, work: () => Promise<T>): Promise<T> {
    await this.mark(server);
    try {
      return await work();
    } finally {
      await this.mark(server).catch((error: unknown) => this.given.onFault(server, error));
    }
  }

  /** Null where it cannot be known, so that nothing is found and nothing kept. */
  private async generation(server: string): Promise<string | null> {
    try {
      return (await this.given.documents.find(markOf(server)))?.text ?? '';
    } catch (error) {
      this.given.onFault(server, error);
      return null;
    }
  }

  /** Where another process marks it at the same time, its mark serves as well: it came after this one was begun. */
  private async mark(server: string): Promise<void> {
    const { documents, clock } = this.given;
    const key = markOf(server);
    const { version } = (await documents.find(key)) ?? { version: 0 };
    await documents.put(key, version + 1, JSON.stringify(randomUUID()), clock.now() + markedMs);
  }

  private keep(key: string, output: JsonValue, answer: JsonObject | null, generation: string | null): void {
    if (generation === null) return;
    const text = JSON.stringify(output) as string | undefined;
    const whole = answer === null ? null : JSON.stringify(answer);
    if (text === undefined || text.length + (whole?.length ?? 0) > mostOfOne) return;
    const before = this.kept.get(key);
    if (before !== undefined) this.drop(key, before);
    this.put(key, { text, answer: whole, generation, givenAt: this.given.clock.now() });
    for (const [oldest, kept] of this.kept) {
      if (this.characters <= mostCharacters) break;
      this.drop(oldest, kept);
    }
  }

  private put(key: string, kept: Kept): void {
    this.kept.set(key, kept);
    this.characters += sizeOf(kept);
  }

  private drop(key: string, kept: Kept): void {
    this.kept.delete(key);
    this.characters -= sizeOf(kept);
  }
}

function answerIn({ answer }: Kept): JsonObject | null {
  return answer === null ? null : (parseExactJson(answer) as JsonObject);
}

/** What its key and its place cost counts too. */
function sizeOf({ text, answer }: Kept): number {
  return text.length + (answer?.length ?? 0) + 256;
}

function markOf(server: string): string {
  return `mcp/changed/${server}`;
}

function keyOf({ toolId, version, caller, args }: CacheableCall): string {
  const { tenantId, actorId, subjectId, connectionId } = caller;
  const who = connectionId === undefined ? [] : [connectionId, actorId, subjectId ?? ''];
  return createHash('sha256')
    .update(canonicalJson([tenantId, version, toolId, who, args]))
    .digest('base64');
}
