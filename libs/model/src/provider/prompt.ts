import type {
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolChoice,
} from '@ai-sdk/provider';
import {
  isJsonObject,
  type JsonObject,
  type ModelRequest,
  type ModelStep,
  type ModelTool,
  parseExactJson,
  type ToolChoice,
} from '@sluice/core';
import { derivedCallId } from '../call-ids.js';

/**
 * A request as messages: the instructions, the question, then for each past turn what the model said and called, and
 * the result of each call.
 */
export function promptOf(request: ModelRequest): LanguageModelV4Prompt {
  const turns = turnsOf(request.history);
  return [
    ...(request.instructions === '' ? [] : [{ role: 'system' as const, content: request.instructions }]),
    { role: 'user', content: [{ type: 'text', text: request.question }] },
    // Bedrock and Anthropic refuse calls and results in a request that offers no tools, so there they are sent as text.
    ...turns.flatMap((turn) => (request.tools.length === 0 ? told(turn) : exchanged(turn))),
  ];
}

/** The offered tools, in order, under their ids. */
export function definitionsOf(tools: readonly ModelTool[]): LanguageModelV4FunctionTool[] {
  return tools.map((tool) => ({
    type: 'function',
    name: tool.id,
    description: tool.description,
    inputSchema: tool.inputSchema as LanguageModelV4FunctionTool['inputSchema'],
  }));
}

/** What the model may or must do with them; each provider’s own library has its wire’s word for it. */
export function choiceOf(choice: ToolChoice): LanguageModelV4ToolChoice {
  return choice.type === 'tool' ? { type: 'tool', toolName: choice.id } : choice;
}

/** A past step with the id its call has on the wire. */
interface WireStep {
  readonly step: ModelStep;
  readonly id: string;
}

/** Neighbouring steps of one iteration form one turn. */
function turnsOf(history: readonly ModelStep[]): WireStep[][] {
  const taken = new Set<string>();
  const turns: WireStep[][] = [];
  history.forEach((step, position) => {
    const id =
      isWireId(step.toolCallId) && !taken.has(step.toolCallId)
        ? step.toolCallId
        : derivedCallId(position, step.index, taken);
    taken.add(id);
    const last = turns.at(-1);
    if (last !== undefined && last[0]?.step.iteration === step.iteration) last.push({ step, id });
    else turns.push([{ step, id }]);
  });
  return turns;
}

/** What every provider takes; a history may come from another provider or from upstream. */
function isWireId(id: string): boolean {
  return /^[A-Za-z0-9_-]{1,64}$/.test(id);
}

/** A turn as calls and results; a provider's own library spreads the results over as many messages as its wire wants. */
function exchanged(turn: readonly WireStep[]): LanguageModelV4Message[] {
  const thought = thoughtOf(turn);
  return [
    {
      role: 'assistant',
      content: [
        ...(thought === '' ? [] : [{ type: 'text' as const, text: thought }]),
        ...turn.map(({ step, id }) => ({
          type: 'tool-call' as const,
          toolCallId: id,
          toolName: wireName(step),
          input: argumentsOf(step),
        })),
      ],
    },
    {
      role: 'tool',
      content: turn.map(({ step, id }) => ({
        type: 'tool-result' as const,
        toolCallId: id,
        toolName: wireName(step),
        output: {
          type: step.outcome === 'ok' ? ('text' as const) : ('error-text' as const),
          value: observationOf(step),
        },
      })),
    },
  ];
}

/** A turn as plain text, for a request without tools. */
function told(turn: readonly WireStep[]): LanguageModelV4Message[] {
  const called = turn.map(({ step }) => `I called ${step.toolId} with ${step.arguments || '{}'}.`);
  const results = turn.map(
    ({ step }) => `${step.toolId} ${step.outcome === 'ok' ? 'returned' : 'failed'}: ${observationOf(step)}`,
  );
  const thought = thoughtOf(turn);
  return [
    {
      role: 'assistant',
      content: [{ type: 'text', text: [...(thought === '' ? [] : [thought]), ...called].join('\n') }],
    },
    { role: 'user', content: [{ type: 'text', text: results.join('\n') }] },
  ];
}

/** The thought is written with each step of its turn; it was said once. */
function thoughtOf(turn: readonly WireStep[]): string {
  return turn.map(({ step }) => step.thought.trim()).find((thought) => thought !== '') ?? '';
}

/** Providers refuse an empty text. */
function observationOf(step: ModelStep): string {
  return step.observation === '' ? '(empty)' : step.observation;
}

/** The wires demand an object. What the model wrote instead stands in the error that the step ended in. */
function argumentsOf(step: ModelStep): JsonObject {
  try {
    const value: unknown = parseExactJson(step.arguments);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** A model may have made up a name that no provider takes back. */
function wireName(step: ModelStep): string {
  return step.toolId.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 128) || 'unknown';
}
