import type { QuestionPart } from '@sluice/run';
import { conversationLimits, mostQuestionContent } from '@sluice/run';
import { sha256 } from '@sluice/contracts';
import { utf8Length } from '@sluice/core';
import type { DecodedRequest, Message, MessagePart } from '@sluice/wires';
import { Refusal } from '../refusal.js';
import { mediaOf } from './media.js';

export interface SaidMessage {
  readonly role: 'user' | 'assistant' | 'system';
  readonly text: string;
}

/** A client’s messages as a question, with what it says went before. */
export interface Said {
  readonly question: string;
  readonly conversation: readonly SaidMessage[];
  readonly parts: readonly QuestionPart[];
  /** What of the messages is left out, by names that the client knows. */
  readonly ignored: readonly string[];
}

interface Entry extends SaidMessage {
  readonly media: readonly QuestionPart[];
}

/**
 * Reads the messages of a request. The last one is the question; all others are the client’s words, whatever they say
 * of themselves: calls and results in them become text, and are no steps of a run. Throws Refusal(400).
 */
export function saidIn(
  { instructions, messages }: Pick<DecodedRequest, 'instructions' | 'messages'>,
  earlier: readonly SaidMessage[] = [],
): Said {
  const entries = messages.flatMap(entriesOf);
  const at = entries.findLastIndex(({ role }) => role !== 'system');
  const last = entries[at];
  if (last?.role !== 'user') throw invalid('The last message must be the user’s: that is what is asked.');
  const before: Entry[] = [...earlier.map((one) => ({ ...one, media: [] })), ...entries.toSpliced(at, 1)];
  if (instructions !== '') before.unshift({ role: 'system', text: instructions, media: [] });
  const { kept, left } = bounded(before);
  const { parts, leftOut } = mediaIn([...before, last]);
  const thoughts = messages.some((message) => message.parts.some(({ type }) => type === 'reasoning'));
  return {
    question: last.text.trim() === '' && last.media.length > 0 ? wordless : last.text,
    conversation: kept.map(({ role, text }) => ({ role, text })),
    parts,
    ignored: [
      ...(left > 0 ? [`messages (the ${left} oldest)`] : []),
      ...(leftOut > 0 ? [`images and files (the ${leftOut} oldest)`] : []),
      ...(thoughts ? ['messages.reasoning'] : []),
    ],
  };
}

const wordless = 'The user sent what is attached, without words.';

function entriesOf({ role, parts }: Message): readonly Entry[] {
  const entries: Entry[] = [];
  const own: MessagePart[] = [];
  for (const part of parts)
    if (part.type === 'other' && /^message (?:system|developer)$/.test(part.kind))
      entries.push({ role: 'system', text: instructionIn(part.raw), media: [] });
    // Some wires have results beside what the user says then, which alone is asked.
    else if (part.type === 'result') entries.push(entryOf(role, [part]));
    else if (part.type !== 'reasoning') own.push(part);
  if (own.length > 0) entries.push(entryOf(role, own));
  return entries;
}

function entryOf(role: Message['role'], parts: readonly MessagePart[]): Entry {
  const media: QuestionPart[] = [];
  const texts = parts.flatMap((part): readonly string[] => {
    switch (part.type) {
      case 'text':
        return [part.text];
      case 'call':
        return [`(a call of ${part.name} with ${part.args})`];
      case 'result':
        return [`(what the client says ${part.name ?? 'a tool'} gave: ${part.text})`];
      case 'other':
        media.push(mediaOf(part));
        return [];
      default:
        return [];
    }
  });
  return { role, text: texts.join('\n'), media };
}

/** The text of an instruction, which is a text or a list of parts. */
function instructionIn(raw: string): string {
  const { content } = JSON.parse(raw) as { readonly content?: unknown };
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part: { readonly text?: unknown } | null) => (typeof part?.text === 'string' ? part.text : ''))
    .join('\n');
}

/** As much as a request has room for: what the application asks for first, then the newest. */
function bounded(entries: readonly Entry[]): { readonly kept: readonly Entry[]; readonly left: number } {
  const kept = new Set<Entry>();
  let bytes = 0;
  const isSystem = ({ role }: Entry): boolean => role === 'system';
  for (const entry of [...entries.filter(isSystem), ...entries.filter((one) => !isSystem(one)).reverse()]) {
    bytes += utf8Length(entry.text);
    if (bytes > conversationLimits.bytes || kept.size >= conversationLimits.messages) break;
    kept.add(entry);
  }
  return { kept: entries.filter((entry) => kept.has(entry)), left: entries.length - kept.size };
}

/** Images and files of all messages, each once, the newest where there are too many. */
function mediaIn(entries: readonly Entry[]): { readonly parts: readonly QuestionPart[]; readonly leftOut: number } {
  const all = new Map<string, QuestionPart>();
  for (const part of entries.flatMap(({ media }) => media))
    if ('bytes' in part) all.set(sha256(Buffer.from(part.bytes as Uint8Array).toString('base64')), part);
  const parts = [...all.values()].slice(-mostQuestionContent);
  return { parts, leftOut: all.size - parts.length };
}

function invalid(message: string): Refusal {
  return new Refusal(400, 'invalid_request', message, {}, { param: 'messages' });
}
