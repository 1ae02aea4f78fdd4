import type { DecodedRequest, WireName } from '@sluice/wires';

/** The wires that doors speak. */
export type DoorWire = Extract<WireName, 'openai-chat' | 'openai-responses' | 'anthropic'>;

/**
 * The wire that the errors of a path are written in; null where it is no door’s. Errors of OpenAI’s two wires have one
 * form.
 */
export function wireOfPath(path: string): DoorWire | null {
  if (/^\/openai\/v1(\/|$)/i.test(path)) return 'openai-chat';
  return /^\/anthropic\/v1(\/|$)/i.test(path) ? 'anthropic' : null;
}

/** What stands before the name of an agent in the name of a model. */
export const modelPrefix = 'sluice/';

/** A request’s body, before anything is looked up. */
export interface DoorBody {
  readonly body: Readonly<Record<string, unknown>>;
  readonly decoded: DecodedRequest;
}
