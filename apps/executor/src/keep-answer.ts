import type { ContentName, ContentOwner, JsonObject, StepContent } from '@sluice/core';
import type { ToolCall } from '@sluice/contracts';
import { splitAnswer, stepContent } from '@sluice/mcp';
import { contentExpiry } from '@sluice/host';
import { inTime } from './content-writing.js';
import type { ContentWorld } from './content-writing.js';

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
  const expiresAt = contentExpiry({ clock, environment });
  const { parts, whole } = splitAnswer(answer);
  const kept = async (): Promise<readonly StepContent[]> => {
    const names: ContentName[] = [];
    for (const { type, bytes } of parts) names.push(await content.put(owner, type, bytes, expiresAt));
    const last = whole(names);
    const name = await content.put(owner, last.type, last.bytes, expiresAt);
    return [stepContent(last, name), ...parts.map((part, index) => stepContent(part, names[index] as ContentName))];
  };
  try {
    return await inTime(kept());
  } catch (error) {
    log.error(
      { request_id: record.requestId, error: (error as Error).message },
      'what a tool answered could not be put into the content store; its step has the observation alone',
    );
    return [];
  }
}

function isText({ content }: JsonObject): boolean {
  return Array.isArray(content) && content.every((block) => Object(block).type === 'text');
}
