import type { QuestionPart } from '@sluice/run';
import type { OtherPart } from '@sluice/wires';
import { Refusal } from '../refusal.js';

type Json = Readonly<Record<string, unknown>>;

/** The image or file of a part of a message, out of the form that its wire gives it. Throws Refusal(400). */
export function mediaOf({ kind, raw }: OtherPart): QuestionPart {
  const part = JSON.parse(raw) as Json;
  switch (kind.replace(/^content /, '')) {
    case 'image_url':
      return dataOf(member(part, 'image_url')['url'] ?? part['image_url'], null);
    case 'input_image':
      return dataOf(part['image_url'], null);
    case 'file':
      return fileOf(member(part, 'file'));
    case 'input_file':
      return fileOf(part);
    case 'image':
    case 'document':
      return sourceOf(member(part, 'source'), typeof part['title'] === 'string' ? part['title'] : null);
    default:
      throw invalid(`A message has a part of the type ${JSON.stringify(kind.slice(0, 60))}, which this door cannot read. Send texts, images and files.`); // prettier-ignore
  }
}

function fileOf(file: Json): QuestionPart {
  return dataOf(file['file_data'], typeof file['filename'] === 'string' ? file['filename'] : null);
}

/** Anthropic's. */
function sourceOf(source: Json, name: string | null): QuestionPart {
  const { type, data, media_type: mediaType = null } = source;
  if (type === 'text' && typeof data === 'string') return { bytes: Buffer.from(data), type: 'text/plain', name };
  if (type !== 'base64' || typeof data !== 'string') throw invalid(inline);
  return { bytes: bytesOf(data), type: typeof mediaType === 'string' ? mediaType : null, name };
}

function dataOf(url: unknown, name: string | null): QuestionPart {
  const [, type, data] = (typeof url === 'string' && /^data:([^;,]*)(?:;[^;,]*)*;base64,(.*)$/s.exec(url)) || [];
  if (data === undefined) throw invalid(inline);
  return { bytes: bytesOf(data), type: type === '' || type === undefined ? null : type, name };
}

function bytesOf(text: string): Buffer {
  if (!/^[\w+/-]*={0,2}$/.test(text)) throw invalid('An image or a file is no base64. Encode its bytes so.');
  return Buffer.from(text, 'base64');
}

function member(part: Json, name: string): Json {
  const value = part[name];
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

const inline =
  'An image or a file must come with the request, in base64: nothing is fetched from an address, and no file is kept by an id.';

function invalid(message: string): Refusal {
  return new Refusal(400, 'invalid_request', message);
}
