import { isJsonObject } from '@sluice/core';
import type { ContentName, JsonObject, JsonValue, StepContent } from '@sluice/core';

/** Blocks of an answer that are content of their own; the bytes of further ones stay in the answer. */
const mostBlocks = 5;
/** Fewer bytes than that stay in the answer too, but for what a model may be given: images and PDF. */
const fewBytes = 1_024;
/** Of what a record says about content. */
const longestType = 100;
const longestName = 100;

/** What one piece of content is to be written with. */
interface AnswerPart {
  readonly kind: StepContent['kind'];
  readonly type: string;
  readonly name: string | null;
  readonly bytes: Buffer;
}

/** A block’s bytes that stand elsewhere, by their hash. */
interface Placed {
  readonly block: number;
  readonly hash: string;
}

/** An answer whose largest blocks are parts of their own. */
interface SplitAnswer {
  readonly parts: readonly AnswerPart[];
  /** The part that is the answer itself, once the others have names. */
  whole(names: readonly ContentName[]): AnswerPart;
}

/** An MCP server’s answer as content: the bytes of its blocks, and the answer without them. */
export function splitAnswer(answer: JsonObject): SplitAnswer {
  const parts: { readonly block: number; readonly part: AnswerPart }[] = [];
  const content = Array.isArray(answer['content']) ? (answer['content'] as readonly JsonValue[]) : [];
  const blocks = content.map((block: JsonValue, index) => {
    const part = parts.length < mostBlocks ? partOf(block) : null;
    if (part === null) return block;
    parts.push({ block: index, part });
    return withData(block as JsonObject, '');
  });
  return {
    parts: parts.map(({ part }) => part),
    whole: (names) => {
      const placed = parts.map(({ block }, index): Placed => ({ block, hash: names[index]?.hash ?? '' }));
      const text = JSON.stringify({ format: 1, answer: { ...answer, content: blocks }, placed });
      return { kind: 'result', type: 'application/json', name: null, bytes: Buffer.from(text) };
    },
  };
}

/** What a record says of content that was written. */
export function stepContent({ kind, name }: AnswerPart, { hash, type, size }: ContentName): StepContent {
  return {
    ...{ hash, size, kind },
    type: type.length > longestType ? 'application/octet-stream' : type,
    name: name === null ? null : name.slice(0, longestName).toWellFormed(),
  };
}

/** The answer as the server gave it; null for what is none. `read` gives content of the same run. */
export async function joinAnswer(
  whole: Uint8Array,
  read: (hash: string) => Promise<Buffer>,
): Promise<JsonObject | null> {
  const held = JSON.parse(Buffer.from(whole).toString('utf8')) as Readonly<Record<string, JsonValue>>;
  const { format, answer, placed } = held as unknown as { format: number; answer: JsonObject; placed: Placed[] };
  if (format !== 1) return null;
  const blocks = [...(answer['content'] as readonly JsonObject[])];
  for (const { block, hash } of placed)
    blocks[block] = withData(blocks[block] as JsonObject, (await read(hash)).toString('base64'));
  return { ...answer, content: blocks };
}

/** The bytes of an image, a sound or a binary resource; null for any other block. */
function partOf(block: JsonValue): AnswerPart | null {
  if (!isJsonObject(block)) return null;
  const { type, data, mimeType, resource } = block;
  if (type === 'image' || type === 'audio') return part(type, mimeType, null, data);
  if (type !== 'resource' || !isJsonObject(resource)) return null;
  return part('resource', resource['mimeType'], resource['uri'], resource['blob']);
}

function part(
  kind: StepContent['kind'],
  type: JsonValue | undefined,
  name: JsonValue | undefined,
  data: JsonValue | undefined,
): AnswerPart | null {
  if (typeof data !== 'string') return null;
  const bytes = Buffer.from(data, 'base64');
  // What is written in another way than ours would not come back as it was.
  const media = typeof type === 'string' ? type : 'application/octet-stream';
  const least = kind === 'image' || /^(?:image\/|application\/pdf)/.test(media) ? 1 : fewBytes;
  if (bytes.length < least || bytes.toString('base64') !== data) return null;
  return {
    ...{ kind, bytes },
    type: media,
    name: typeof name === 'string' ? name : null,
  };
}

function withData(block: JsonObject, data: string): JsonObject {
  const { resource } = block;
  if (block['type'] === 'resource' && isJsonObject(resource))
    return { ...block, resource: { ...resource, blob: data } };
  return { ...block, data };
}
