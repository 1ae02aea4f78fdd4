import {
  faultText,
  ToolConnectionDeniedError,
  ToolConnectionUnreachableError,
  ToolFault,
  ToolHeldBackError,
  ToolOutcomeLostError,
  ToolTimeoutError,
  ToolUnavailableError,
  ToolUserError,
} from '@sluice/core';
import type { SentError } from './messages.js';

/** The errors that the pipeline tells apart; the most special first, as `instanceof` finds them. */
const kinds = {
  ToolUserError,
  ToolHeldBackError,
  ToolConnectionUnreachableError,
  ToolUnavailableError,
  ToolConnectionDeniedError,
  ToolTimeoutError,
  ToolOutcomeLostError,
} as const;

/** An error as it goes from one process to the other. Looking at what a tool threw may throw itself. */
export function sentError(error: unknown): SentError {
  try {
    const [kind = 'Error'] = Object.entries(kinds).find(([, Kind]) => error instanceof Kind) ?? [];
    const message: unknown = (error as { readonly message?: unknown } | null | undefined)?.message;
    const fault = kind === 'Error' ? { fault: faultText(error) } : {};
    return { kind, message: typeof message === 'string' ? message : kind === 'Error' ? String(error) : '', ...fault };
  } catch {
    return { kind: 'Error', message: 'It cannot be looked at.', fault: faultText(error) };
  }
}

export function receivedError({ kind, message, fault }: SentError): Error {
  if (kind === 'Error' && fault !== undefined) return new ToolFault(message, fault);
  const Kind = Object.hasOwn(kinds, kind) ? kinds[kind as keyof typeof kinds] : Error;
  return new Kind(message);
}
