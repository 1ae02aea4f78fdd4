import { ToolUserError } from '@sluice/core';
import type { JsonValue } from '@sluice/core';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';

/** UTF-8 bytes of a server's error text that a model gets to read. */
const maxErrorBytes = 2_048;

/**
 * What a tool call gave (M-22, M-30, M-103; ruling XB-12): the structured content if there is any; else the texts joined, as the value
 * they write if they are JSON; with other kinds of content a list of blocks, of which only the kind is kept. An error is thrown as
 * ToolUserError, with the server's text.
 */
export function valueOf(result: CallToolResult): JsonValue {
  const texts = result.content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  const text = texts.join('\n');
  if (result.isError === true) throw new ToolUserError(shortened(text) || 'The tool failed and did not say why.');
  // What came over the wire as JSON is JSON; the SDK's type only does not say so.
  if (result.structuredContent !== undefined) return result.structuredContent as JsonValue;
  if (texts.length < result.content.length) {
    return result.content.map((block) =>
      block.type === 'text' ? { type: 'text', text: block.text } : { type: block.type },
    );
  }
  return parsed(text);
}

/** At most 2 KB of a text, cut between characters. */
export function shortened(text: string): string {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= maxErrorBytes) return text;
  return `${bytes
    .subarray(0, maxErrorBytes - 3)
    .toString('utf8')
    .replace(/\uFFFD+$/, '')}…`;
}

function parsed(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}
