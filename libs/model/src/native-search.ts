import {
  isJsonObject,
  type ModelSettings,
  type ModelTool,
  type ModelTurn,
  type NativeSearchSettings,
} from '@sluice/core';
import {
  type AnsweredSearch,
  answeredSearches,
  encodeTool,
  type NativeSearch,
  nativeSearchOf,
  type NoNativeSearch,
  type TurnPart,
  type WireName,
} from '@sluice/wires';

/** What each provider speaks; the built-in model speaks no wire. */
const wires: Readonly<Record<Exclude<ModelSettings['provider'], 'rules'>, WireName>> = {
  'openai-compatible': 'openai-chat',
  'openai-responses': 'openai-responses',
  anthropic: 'anthropic',
  google: 'gemini',
  bedrock: 'bedrock',
  'bedrock-anthropic': 'bedrock-anthropic',
};

/**
 * A tool’s definition as its provider is sent it, by the wire that this one speaks; the built-in model’s as Chat
 * Completions have it.
 */
export function definitionFor(
  provider: ModelSettings['provider'],
  { id, description, inputSchema }: ModelTool,
): string {
  const wire = provider === 'rules' ? 'openai-chat' : wires[provider];
  return encodeTool(wire, { name: id, description, inputSchema });
}

/** The own search of tools that all of these models have; why there is none otherwise. */
export function nativeSearchOfAll(
  models: readonly ModelSettings[],
  { kind, when }: NativeSearchSettings,
): NativeSearch | NoNativeSearch {
  const each = models.map(({ provider, name }): NativeSearch | NoNativeSearch =>
    provider === 'rules'
      ? 'unsupported_wire'
      : nativeSearchOf(wires[provider], name ?? '', { kind, isSure: when === 'always' }),
  );
  return each.find((one) => typeof one === 'string') ?? each[0] ?? 'unsupported_wire';
}

/** The searches that a turn’s provider answered itself, in order. */
export function searchesIn({ raw = [] }: Pick<ModelTurn, 'raw'>): readonly AnsweredSearch[] {
  const parts = raw.flatMap(({ payload }): TurnPart[] => (isOther(payload) ? [payload] : []));
  return answeredSearches(parts);
}

function isOther(payload: unknown): payload is Extract<TurnPart, { type: 'other' }> {
  return isJsonObject(payload) && payload['type'] === 'other' && typeof payload['raw'] === 'string';
}
