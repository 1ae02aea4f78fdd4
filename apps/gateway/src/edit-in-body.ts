import { equalJson, isJsonObject, isJsonText, parseExactJson } from '@sluice/core';
import type { JsonObject, JsonValue } from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import type { ApprovalDecided, ApprovalRequested } from '@sluice/contracts';
import { Refusal } from './refusal.js';

/** A decision’s body without its `arguments`, and these as JSON text; null where it has none. */
export function withoutArguments(body: JsonValue): { readonly given: JsonValue; readonly args: string | null } {
  if (!isJsonObject(body)) return { given: body, args: null };
  const { arguments: args = null, ...given } = body;
  if (args === null || typeof args === 'string') return { given, args };
  if (isJsonObject(args)) return { given, args: JSON.stringify(args) };
  throw new Refusal(400, 'invalid_request', 'arguments must be an object, or its JSON as text.');
}

/**
 * The decision with the arguments that its approver gives the call. Arguments that are those that were asked about
 * change nothing: what was asked may be sent back with a decision.
 */
export function editedBy(
  decided: ApprovalDecided,
  args: string | null,
  asked: ApprovalRequested | null,
): ApprovalDecided {
  if (args === null || decided.editedArguments !== null) return decided;
  if (asked !== null && isSame(args, asked.arguments)) return decided;
  return { ...decided, editedArguments: args, editedHash: sha256(args) };
}

function isSame(one: string, other: string): boolean {
  if (one === other) return true;
  if (!isJsonText(one) || !isJsonText(other)) return false;
  const plain = (text: string): JsonObject => parseExactJson(text) as JsonObject;
  return equalJson(plain(one), plain(other));
}
