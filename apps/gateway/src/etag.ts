import { createHash } from 'node:crypto';
import type { Request, Response } from 'express';

/** The tag of an answer: the same for the same bytes, from every instance. */
export function tagOf(text: string): string {
  return `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`;
}

/** Sets the tag, and the status 304 where the caller has what it names already; then nothing else is to be sent. */
export function isKnown(http: Request, response: Response, tag: string): boolean {
  response.set('etag', tag);
  if (!names(http.get('if-none-match'), tag)) return false;
  response.status(304);
  return true;
}

/** JSON with a tag, which a caller that asks again sends as `if-none-match`. Only what is read has one. */
export function sendTagged(response: Response, status: number, body: object): void {
  const text = JSON.stringify(body);
  if (response.req.method === 'GET' && isKnown(response.req, response, tagOf(text))) response.end();
  else response.status(status).type('application/json; charset=utf-8').send(text);
}

/** By the weak comparison of RFC 9110. */
function names(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return header.trim() === '*' || [...header.matchAll(/(?:W\/)?("[^"]*")/g)].some(([, one]) => one === tag);
}
