import {
  isJsonObject,
  modelProviderEntries,
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

/** What the provider speaks; null for the built-in model, which speaks no wire. */
const wireOf = (provider: ModelSettings['provider']): WireName | null => modelProviderEntries[provider].wire;

/**
 * A tool’s definition as its provider is sent it, by the wire that this one speaks; the built-in model’s as Chat
 * Completions have it.
 */
export function definitionFor(
  provider: ModelSettings['provider'],
  { id, description, inputSchema }: ModelTool,
): string {
  return encodeTool(wireOf(provider) ?? 'openai-chat', { name: id, description, inputSchema });
}

/** The own search of tools that all of these models have; why there is none otherwise. */
export function nativeSearchOfAll(
  models: readonly ModelSettings[],
  { kind, when }: NativeSearchSettings,
): NativeSearch | NoNativeSearch {
  const each = models.map(({ provider, name }): NativeSearch | NoNativeSearch => {
    const wire = wireOf(provider);
    if (wire === null) return 'unsupported_wire';
    return nativeSearchOf(wire, name ?? '', { kind, isSure: when === 'always' });
  });
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
