import { isJsonObject, type JsonObject } from '@sluice/core';
import { faults } from '../diagnosis.js';

/** A turn that came whole, as plain values. */
export function parseWhole(body: string): JsonObject {
  if (/^\s*</.test(body)) throw faults.html();
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    throw faults.notJson('an answer');
  }
  if (!isJsonObject(value)) throw faults.wrongType('the answer', 'an object');
  return value;
}
