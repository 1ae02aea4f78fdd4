import type { FaultCode, HttpErrorCode } from '@sluice/core';

/** Why a request over HTTP gets nothing: its status, a code for programs and a sentence that says what to change. */
export class Refusal extends Error {
  override readonly name = 'Refusal';

  constructor(
    readonly status: number,
    readonly code: HttpErrorCode | FaultCode,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
    /** Members of the problem beside those that every one has. */
    readonly more: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
  }
}
