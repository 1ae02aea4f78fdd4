import type { ModelRequest, ModelTool } from '@sluice/core';
import type { TokenCounter } from './token-counter.js';

/**
 * What a request to a model is made of, in tokens. Counted by text, so what a wire adds around it is not part of it.
 */
interface RequestTokens {
  /** Of the tools’ names, descriptions and schemas, as they are sent. */
  readonly definitions: number;
  /** Of what calls gave before. */
  readonly results: number;
  /** Of instructions, question, thoughts and arguments. */
  readonly other: number;
  /** What counted them; with `~` before it where the model has another tokenizer and the counts are approximations. */
  readonly tokenizer: string;
}

/** The definition of a tool, in tokens. */
export interface ToolTokens {
  readonly id: string;
  /** Of its description alone. */
  readonly description: number;
  /** Of all that is sent beside it: name, schema, and what holds them together. */
  readonly schema: number;
}

/** A tool’s definition as it is counted: wires write it in different ways, which differ by a few tokens. */
export function definitionText({ id, description, inputSchema }: ModelTool): string {
  return JSON.stringify({ name: id, description, parameters: inputSchema });
}

/** Counts what a model is sent in a turn. */
export async function requestTokens(
  { instructions, question, history, tools, earlier = [], conversation = [] }: ModelRequest,
  model: string,
  counter: TokenCounter,
): Promise<RequestTokens> {
  const count = (texts: readonly string[]) => counter.count(texts, model);
  const definitions = await count(tools.map(definitionText));
  const results = await count(history.map(({ observation }) => observation));
  const other = await count([
    ...[instructions, question],
    ...earlier.flatMap((one) => [one.question, one.answer]),
    ...conversation.map(({ text }) => text),
    ...history.flatMap(({ thought, arguments: args, toolId }) => [thought, toolId, args]),
  ]);
  return {
    definitions: definitions.tokens,
    results: results.tokens,
    other: other.tokens,
    tokenizer: definitions.tokenizer,
  };
}

/** Counts the definition of each tool; `text`: as it is sent. */
export async function toolTokens(
  tools: readonly ModelTool[],
  model: string,
  counter: TokenCounter,
  text: (tool: ModelTool) => string = definitionText,
): Promise<readonly ToolTokens[]> {
  const counted: ToolTokens[] = [];
  for (const tool of tools) {
    const { tokens: all } = await counter.count([text(tool)], model);
    const { tokens: description } = await counter.count([tool.description], model);
    counted.push({ id: tool.id, description, schema: Math.max(0, all - description) });
  }
  return counted;
}
