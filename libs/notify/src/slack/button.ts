import { isJsonObject } from '@sluice/core';
import type { JsonObject } from '@sluice/core';

/** What a button stands for: a decision is made on this request and these arguments alone. */
export interface ButtonValue {
  /** The entry of notify.slack. */
  readonly channel: string;
  readonly approvalId: string;
  readonly requestId: string;
  readonly sessionId: string;
  readonly argumentsHash: string;
  readonly partition: number;
  readonly offset: number;
}

export const decisionActions = { approve: 'sluice_approve', refuse: 'sluice_refuse' } as const;
/** Names the dialog for the reason. */
export const reasonDialog = 'sluice_reason';
/** The block and the field of the reason. */
export const reasonField = 'reason';

/** Slack takes so many characters as a button’s value. */
export const longestValue = 2_000;

export function buttonText(value: ButtonValue): string {
  const { channel, approvalId, requestId, sessionId, argumentsHash, partition, offset } = value;
  return JSON.stringify([channel, approvalId, requestId, sessionId, argumentsHash, partition, offset]);
}

/** What the text of a button stands for; null for what is none. */
export function buttonIn(text: unknown): ButtonValue | null {
  const parts = parsed(text);
  if (!Array.isArray(parts) || parts.length !== 7) return null;
  const [channel, approvalId, requestId, sessionId, argumentsHash, partition, offset] = parts as unknown[];
  const texts = [channel, approvalId, requestId, sessionId, argumentsHash];
  if (!texts.every((one) => typeof one === 'string' && one.isWellFormed())) return null;
  if (![partition, offset].every((one) => Number.isSafeInteger(one) && (one as number) >= 0)) return null;
  return { channel, approvalId, requestId, sessionId, argumentsHash, partition, offset } as ButtonValue;
}

/** The dialog’s own memory: the decision and the button’s text. */
export function dialogText(decision: 'approve' | 'refuse', value: string): string {
  return JSON.stringify({ decision, value });
}

export function dialogIn(
  text: unknown,
): { readonly decision: 'approve' | 'refuse'; readonly value: ButtonValue } | null {
  const found = parsed(text);
  if (!isJsonObject(found as JsonObject)) return null;
  const { decision, value: written } = found as JsonObject;
  const value = buttonIn(written);
  if (value === null || (decision !== 'approve' && decision !== 'refuse')) return null;
  return { decision, value };
}

function parsed(text: unknown): unknown {
  if (typeof text !== 'string' || text.length > 2 * longestValue) return null;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}
