import { setTimeout as delay } from 'node:timers/promises';
import type { ContentName, ContentOwner, JsonObject, StepContent } from '@sluice/core';
import type { ToolCall } from '@sluice/contracts';
import { splitAnswer, stepContent } from '@sluice/mcp';
import { expiryOf } from './content-expiry.js';
import type { ContentWorld } from './content-expiry.js';

/** How long a step waits for the store, milliseconds. */
const mostMs = 10_000;

/**
 * Puts what an MCP server answered into the content store, each image, sound and file for itself and then the answer,
 * and returns the names for the step. What a model asked for and what is all text, its observation says already. Where
 * the store takes nothing, the call has happened all the same: its step stands without content, and the log says why.
 */
export async function keepAnswer(
  record: Pick<ToolCall, 'request' | 'requestId'>,
  owner: ContentOwner,
  answer: JsonObject,
  { content, clock, environment, log }: ContentWorld,
): Promise<readonly StepContent[]> {
  if (record.request.call === null && isText(answer)) return [];
  const expiresAt = expiryOf({ clock, environment });
  const { parts, whole } = splitAnswer(answer);
  const kept = async (): Promise<readonly StepContent[]> => {
    const names: ContentName[] = [];
    for (const { type, bytes } of parts) names.push(await content.put(owner, type, bytes, expiresAt));
    const last = whole(names);
    const name = await content.put(owner, last.type, last.bytes, expiresAt);
    return [stepContent(last, name), ...parts.map((part, index) => stepContent(part, names[index] as ContentName))];
  };
  const isOver = new AbortController();
  try {
    return await Promise.race([kept(), delay(mostMs, null, { signal: isOver.signal }).then(tooSlow)]);
  } catch (error) {
    log.error(
      { request_id: record.requestId, error: (error as Error).message },
      'what a tool answered could not be put into the content store; its step has the observation alone',
    );
    return [];
  } finally {
    isOver.abort();
  }
}

function tooSlow(): never {
  throw new Error(`It took longer than ${String(mostMs / 1_000)} s.`);
}

function isText({ content }: JsonObject): boolean {
  return Array.isArray(content) && content.every((block) => Object(block).type === 'text');
}
