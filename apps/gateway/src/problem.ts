import { STATUS_CODES } from 'node:http';
import { httpErrors } from '@sluice/core';

/** The media type of a refusal (RFC 9457). */
export const problemType = 'application/problem+json';

/** Where `/docs` explains a code. */
export function anchorOfCode(code: string): string {
  return `error-${code}`;
}

/**
 * A refusal as a problem of RFC 9457, with the members that programs read before there were problems: `error.code`
 * and `error.message`.
 */
export function problemOf({ status, code, message, more = {} }: ProblemOrigin): object {
  const known = Object.hasOwn(httpErrors, code) ? httpErrors[code as keyof typeof httpErrors] : null;
  return {
    type: known === null ? 'about:blank' : `/docs#${anchorOfCode(code)}`,
    title: known === null ? (STATUS_CODES[status] ?? 'Error') : known.meaning,
    status,
    detail: message,
    code,
    error: { code, message },
    ...more,
  };
}

interface ProblemOrigin {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly more?: Readonly<Record<string, unknown>>;
}
