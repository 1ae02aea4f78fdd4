import { inputsOf } from '@sluice/core';
import type { ModelRequest, ModelSettings, StepContent } from '@sluice/core';

/** What a model is given of a piece of content: its bytes, its text, or the sentence that says why neither. */
type Piece = { readonly content: StepContent } & (
  { readonly kind: 'media' | 'text' } | { readonly kind: 'note'; readonly note: string; readonly isUnread?: boolean }
);

/** What is planned for each piece of content that a request names, by its hash, in the order of the request. */
export type ContentPlan = ReadonlyMap<string, Piece>;

/** Bytes and pieces that a request has room for. */
interface Room {
  readonly pieces: number;
  readonly bytes: number;
}

/**
 * The question’s content comes first and stays; of results the newest stay. In base64 all of it has 19 MB, and the
 * smallest limit of a provider is 20 MB a request.
 */
const room = {
  question: { media: { pieces: 10, bytes: 10_000_000 }, text: { pieces: 10, bytes: 131_072 } },
  results: { media: { pieces: 10, bytes: 4_000_000 }, text: { pieces: 10, bytes: 65_536 } },
} as const satisfies Record<string, Record<string, Room>>;

/** Bytes that an image may have on every wire: Anthropic’s limit is 5 MB of base64. */
const largestImage = 3_750_000;

/** Bedrock’s limits of PDF: of one, and of how many there are. */
const bedrockPdfs = { bytes: 4_500_000, question: 3, results: 2 } as const;

/** Characters of one file’s text. */
export const mostCharacters = 32_768;

/** Kinds of content that a model may be given; of others the step has what it reads. */
const givenKinds: ReadonlySet<string> = new Set(['image', 'audio', 'resource', 'file']);

/** Whether content is what a model may be given, so that a history names it. */
export function isForModel({ kind }: Pick<StepContent, 'kind'>): boolean {
  return givenKinds.has(kind);
}

/** The parts of a request that name content. */
export type NamingRequest = Pick<ModelRequest, 'history' | 'content'>;

/**
 * What a model is given of the content that its request names. By names alone, so that it is the same in each process.
 * Where the results’ newest have no room beside the older ones, half of the room is made at once: so the beginning of
 * the conversation, which the provider caches, changes seldom.
 */
export function planContent({ content = [], history }: NamingRequest, settings: ModelSettings): ContentPlan {
  const plan = new Map<string, Piece>();
  const planFor = (pieces: readonly StepContent[], from: keyof typeof room): void => {
    const added = pieces.filter(({ hash }) => !plan.has(hash)).map((one) => pieceOf(one, settings, from));
    for (const piece of added) if (!plan.has(piece.content.hash)) plan.set(piece.content.hash, piece);
    for (const kind of ['media', 'text'] as const) {
      const of = [...plan.values()].filter((piece) => piece.kind === kind && added.includes(piece));
      const kept = from === 'question' ? firstOf(of, room[from][kind]) : newestOf(of, room[from][kind]);
      for (const { content: one } of of.filter((piece) => !kept.includes(piece)))
        plan.set(one.hash, { content: one, kind: 'note', note: `left out: ${whyLeftOut[from]}` });
    }
    if (settings.provider === 'bedrock') withoutPdfs(plan, added, from);
  };
  planFor(content.filter(isForModel), 'question');
  planFor(
    history.flatMap((step) => step.content.filter(isForModel)),
    'results',
  );
  return plan;
}

const whyLeftOut = {
  question: 'the question has more content than one request to a model has room for',
  results: 'newer content took its room. Make the call again to see it',
} as const;

function withoutPdfs(plan: Map<string, Piece>, added: readonly Piece[], from: 'question' | 'results'): void {
  const pdfs = [...plan.values()].filter(
    ({ kind, content }) => kind === 'media' && isPdf(content) && added.some((one) => one.content.hash === content.hash),
  );
  const most = bedrockPdfs[from];
  const over = from === 'question' ? pdfs.slice(most) : pdfs.slice(0, -most);
  for (const { content } of over) plan.set(content.hash, { content, kind: 'text' });
}

function pieceOf(content: StepContent, settings: ModelSettings, from: keyof typeof room): Piece {
  const reads = inputsOf(settings);
  const { kind, size } = content;
  const note = (why: string): Piece => ({ content, kind: 'note', note: why });
  const unread = (why: string): Piece => ({ content, kind: 'note', note: why, isUnread: true });
  if (kind === 'audio') return unread('not shown: models are given images and files alone');
  if (isImage(content)) {
    if (!reads.includes('image')) return unread('not shown: this model reads no images');
    if (size > largestImage) return note(`not shown: a model takes images of at most ${largestImage} bytes`);
    return { content, kind: 'media' };
  }
  if (!isPdf(content)) return { content, kind: 'text' };
  const most = Math.min(room[from].media.bytes, settings.provider === 'bedrock' ? bedrockPdfs.bytes : Infinity);
  return { content, kind: reads.includes('pdf') && size <= most ? 'media' : 'text' };
}

function isImage({ kind, type }: StepContent): boolean {
  return kind === 'image' || type.startsWith('image/');
}

export function isPdf({ type }: Pick<StepContent, 'type'>): boolean {
  return type.split(';', 1)[0]?.trim().toLowerCase() === 'application/pdf';
}

/** Bytes that a piece takes up of its room: of a text no more than its first characters. */
function weight({ kind, content }: Piece): number {
  return kind === 'text' ? Math.min(content.size, mostCharacters) : content.size;
}

function firstOf(pieces: readonly Piece[], { pieces: most, bytes }: Room): readonly Piece[] {
  let left = bytes;
  const kept: Piece[] = [];
  for (const piece of pieces) {
    if (kept.length === most || weight(piece) > left) continue;
    kept.push(piece);
    left -= weight(piece);
  }
  return kept;
}

/** Each piece has room when it is alone. */
function newestOf(pieces: readonly Piece[], { pieces: most, bytes }: Room): readonly Piece[] {
  let kept: Piece[] = [];
  const sum = (): number => kept.reduce((all, piece) => all + weight(piece), 0);
  for (const piece of pieces) {
    kept.push(piece);
    if (kept.length <= most && sum() <= bytes) continue;
    while (kept.length > 1 && (kept.length > most / 2 || sum() > bytes / 2)) kept = kept.slice(1);
  }
  return kept;
}
