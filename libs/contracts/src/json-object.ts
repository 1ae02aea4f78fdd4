import { isJsonObject } from '@sluice/core';
import type { JsonObject } from '@sluice/core';

/** The object that a text of JSON is; null for any other text. */
export function jsonObjectIn(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}
