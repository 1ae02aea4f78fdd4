import type { JsonObject, JsonValue } from '@sluice/core';
import type { RawEvent } from './events.js';

/** How the last round of a stream ends. */
export interface RoundEnd {
  /** Whether the round has calls of the client’s own tools. */
  readonly hasCalls: boolean;
}

/**
 * Shows a client the rounds of a conversation with the search tool as one answer without it: calls of the search tool
 * are left out, later ones get the numbers that they would have had, heads of further rounds are left out, and the
 * usage at the end is that of all rounds.
 */
export interface Screen {
  /** Whether a call of the search tool was left out of this round. */
  readonly isHiding: boolean;
  /** What the client gets for an event. */
  event(event: RawEvent): readonly Uint8Array[];
  /** The round is over and another one follows: what was held back of its end is dropped. */
  next(): void;
  /** The round is over and was the last: the end that was held back. */
  last(end: RoundEnd): readonly Uint8Array[];
}

/** What a screen is made for. */
export interface Screening {
  /** Null where the model has none: then nothing is left out. */
  readonly searchTool: string | null;
  /** The client’s own list of tools as JSON text, which some answers repeat; null where it had none. */
  readonly tools: string | null;
}

/** Adds up the numbers of two usages, whatever their members are. */
export function addUsage(one: JsonValue | undefined, other: JsonValue | undefined): JsonValue | undefined {
  if (one === undefined || one === null) return other;
  if (other === undefined || other === null) return one;
  if (typeof one === 'number' && typeof other === 'number') return one + other;
  if (!isPlain(one) || !isPlain(other)) return other;
  const sum: Record<string, JsonValue> = { ...one };
  for (const [name, value] of Object.entries(other)) sum[name] = addUsage(sum[name], value) ?? null;
  return sum;
}

function isPlain(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An event’s data as an object that may be changed; null for anything else. */
export function parsed(data: string): Record<string, JsonValue> | null {
  try {
    const value = JSON.parse(data) as JsonValue;
    return isPlain(value) ? (value as Record<string, JsonValue>) : null;
  } catch {
    return null;
  }
}

export function objectAt(holder: JsonObject | null | undefined, name: string): Record<string, JsonValue> | null {
  const value = holder?.[name];
  return value !== undefined && isPlain(value) ? (value as Record<string, JsonValue>) : null;
}

export function listAt(holder: JsonObject | null | undefined, name: string): readonly JsonObject[] {
  const value = holder?.[name];
  return Array.isArray(value) ? (value as readonly JsonValue[]).filter(isPlain) : [];
}
