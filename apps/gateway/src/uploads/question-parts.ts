import type { Request } from 'express';
import { mostQuestionContent } from '@sluice/run';
import type { QuestionPart } from '@sluice/run';
import { Refusal } from '../refusal.js';
import { clearJson, requireKnownFields } from '../strict-body.js';

/** What a part of `content` may have; `type`, `size` and `kind` are as an upload was answered with. */
const known = ['hash', 'data', 'type', 'size', 'kind', 'name'];

/**
 * The body of a question: the request without its content, and the parts of that, which the record has the names of.
 * Throws Refusal(400) with what is wrong.
 */
export function questionBody(http: Request): {
  readonly body: unknown;
  readonly parts: readonly QuestionPart[];
} {
  const whole = clearJson(http);
  if (typeof whole !== 'object' || whole === null || Array.isArray(whole)) return { body: whole, parts: [] };
  const { content = null, ...body } = whole as Readonly<Record<string, unknown>>;
  requireKnownFields(['AgentRequest'], body);
  if (content === null) return { body, parts: [] };
  if (!Array.isArray(content)) throw invalid('content must be a list of images and files, or be left out.');
  if (content.length > mostQuestionContent)
    throw invalid(`content has ${content.length} entries and the limit is ${mostQuestionContent}. Ask with fewer.`);
  return { body, parts: content.map(partOf) };
}

function partOf(given: unknown, place: number): QuestionPart {
  const at = `content[${place}]`;
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw invalid(`${at} must be an object with hash, or with data.`);
  const odd = Object.keys(given).find((name) => !known.includes(name));
  if (odd !== undefined)
    throw invalid(`${at} has a field that is not known. There are ${known.join(', ')}; leave out the others.`);
  const { hash = null, data = null, type = null, name = null } = given as Readonly<Record<string, unknown>>;
  for (const [field, value] of Object.entries({ hash, data, type, name }))
    if (value !== null && (typeof value !== 'string' || (value === '' && field !== 'name')))
      throw invalid(`${at}.${field} must be a text, or be left out.`);
  if ((hash === null) === (data === null))
    throw invalid(`${at} must have hash, of an upload, or data, the bytes in base64: one of both.`);
  if (hash !== null && !/^[0-9a-f]{64}$/.test(hash as string))
    throw invalid(
      `${at}.hash is no name of content: write the 64 hexadecimal digits that the upload was answered with.`,
    );
  const called = (name as string | null) || null;
  if (hash !== null) return { hash: hash as string, name: called };
  return { bytes: bytesOf(data as string, at), type: type as string | null, name: called };
}

/** Of standard base64 or base64url, whole: what is no base64 is not left out. */
function bytesOf(text: string, at: string): Buffer {
  if (!/^[\w+/-]*={0,2}$/.test(text) || text.replace(/=+$/, '').length % 4 === 1)
    throw invalid(`${at}.data is no base64. Encode the bytes of the file so, without breaks of lines.`);
  return Buffer.from(text, 'base64');
}

function invalid(message: string): Refusal {
  return new Refusal(400, 'invalid_request', message);
}
