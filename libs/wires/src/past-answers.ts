import type { JsonValue } from '@sluice/core';
import { codecs } from './codecs/all.js';
import { addMember, applyEdits, type Edit, editItems } from './json/edit.js';
import { type Body, readBody } from './json/body.js';
import { JsonSpan } from './json/span.js';
import type { Message, MessagePart, ResultPart, TurnPart, WireName } from './types.js';

/**
 * A part of an answer in a request’s history, with the item that holds it, and its number among the blocks of that
 * item.
 */
interface PastPart {
  readonly part: MessagePart;
  readonly item: number;
  readonly block: number;
}

/** An answer of the model as a client sends it back: items that follow each other. */
export interface PastAnswer {
  readonly from: number;
  /** The item behind it. */
  readonly to: number;
  readonly parts: readonly PastPart[];
}

/** A round of the model: what it said, and the results of those of its calls that no client sees. */
export interface Round {
  readonly parts: readonly TurnPart[];
  readonly results: readonly ResultPart[];
}

/**
 * What is done with an answer: the rounds that it was made of in its place, or parts taken out; of Chat, some of its
 * `reasoning_details`.
 */
export type AnswerChange =
  | { readonly answer: PastAnswer; readonly rounds: readonly Round[] }
  | { readonly answer: PastAnswer; readonly without: readonly PastPart[] }
  | { readonly answer: PastAnswer; readonly keepDetail: (detail: JsonValue) => boolean };

/** The answers of the model in a request; none where nothing in it is signed. */
export function pastAnswers(wire: WireName, body: Body): readonly PastAnswer[] {
  const root = readBody(body);
  if (codecs[wire].pastAnswers?.sign.test(root.text) !== true) return [];
  const answers: { from: number; to: number; parts: PastPart[] }[] = [];
  itemsIn(wire, root).forEach((item, index) => {
    const parts = isAnswer(item) ? partsOf(wire, item) : null;
    if (parts === null) return;
    const placed = parts.map((part, block): PastPart => ({ part, item: index, block }));
    const last = answers.at(-1);
    if (last?.to === index) {
      last.to = index + 1;
      last.parts.push(...placed);
    } else answers.push({ from: index, to: index + 1, parts: placed });
  });
  return answers;
}

function listIn(wire: WireName, root: JsonSpan): JsonSpan | undefined {
  return root.member(codecs[wire].messagesName);
}

function itemsIn(wire: WireName, root: JsonSpan): readonly JsonSpan[] {
  return listIn(wire, root)?.items ?? [];
}

/** Items of Responses may be of the model without saying so. */
function isAnswer(item: JsonSpan): boolean {
  const role = item.member('role')?.string;
  if (role !== undefined) return role === 'assistant';
  const type = item.member('type')?.string ?? 'message';
  return type !== 'message' && !type.endsWith('_output');
}

function partsOf(wire: WireName, item: JsonSpan): readonly MessagePart[] | null {
  const { messagesName } = codecs[wire];
  const { messages } = codecs[wire].decodeRequest(`{"${messagesName}":[${item.source}]}`, { model: '', stream: false });
  return messages.length === 1 && messages[0]?.role === 'assistant' ? messages[0].parts : null;
}

/** Whether the request has tools at all: without any, providers take no calls in its history. */
export function hasTools(wire: WireName, body: Body): boolean {
  return codecs[wire].toolLocations(readBody(body)).lists.some(({ span }) => span.items.length > 0);
}

/** The request with its answers changed, and every other byte as it was. */
export function changeAnswers(wire: WireName, body: Body, changes: readonly AnswerChange[]): string {
  const root = readBody(body);
  const list = listIn(wire, root);
  if (list === undefined) return applyEdits(root, []);
  const edits = changes.flatMap((change) => {
    if ('rounds' in change) return roundsIn(wire, list, change);
    return 'without' in change ? withoutParts(wire, list, change) : withoutDetails(list, change);
  });
  return applyEdits(root, edits);
}

function roundsIn(
  wire: WireName,
  list: JsonSpan,
  { answer, rounds }: Extract<AnswerChange, { readonly rounds: unknown }>,
): readonly Edit[] {
  const [first, last] = [list.items[answer.from], list.items[answer.to - 1]];
  const results = rounds.at(-1)?.results ?? [];
  if (first === undefined || last === undefined) return [];
  const messages = rounds.flatMap(({ parts, results: own }, at): Message[] => [
    { role: 'assistant', parts },
    ...(at < rounds.length - 1 || !codecs[wire].hasBlocks ? [{ role: 'user' as const, parts: own }] : []),
  ]);
  const written = [...codecs[wire].encodeMessages(messages.filter(({ parts }) => parts.length > 0))];
  const items = list.items.slice(answer.from, answer.to);
  const marked = codecs[wire].hasBlocks ? withCacheMark(written, items) : written;
  const edit = { of: list.text, start: first.start, end: last.end, text: marked.join(',') };
  if (!codecs[wire].hasBlocks || results.length === 0) return [edit];
  // Instructions may stand before the client’s results.
  const next = list.items.slice(answer.to).find((item) => item.member('role')?.string !== 'system');
  return resultEdits(wire, edit, { next, results });
}

/** Results of calls beside the client’s own stand with those, at the beginning of the message that follows. */
function resultEdits(
  wire: WireName,
  edit: Edit,
  { next, results }: { readonly next: JsonSpan | undefined; readonly results: readonly ResultPart[] },
): readonly Edit[] {
  const [message = '{}'] = codecs[wire].encodeMessages([{ role: 'user', parts: results }]);
  const blocks = (JsonSpan.of(message).member('content')?.items ?? []).map(({ source }) => source);
  const content = next?.member('content');
  if (next?.member('role')?.string !== 'user' || content === undefined)
    return [{ ...edit, text: `${edit.text},${message}` }];
  if (content.isString) {
    const text = `[${[...blocks, `{"type":"text","text":${content.source}}`].join(',')}]`;
    return [edit, { of: content.text, start: content.start, end: content.end, text }];
  }
  return [edit, ...editItems(content, () => true, { before: blocks, behind: [] })];
}

/** A mark that a client put into the answer, where its cache ends, stands at the end of the last round. */
function withCacheMark(written: readonly string[], items: readonly JsonSpan[]): readonly string[] {
  const blocks = items.flatMap((item) => item.member('content')?.items ?? []);
  const mark = blocks.findLast((block) => block.member('cache_control') !== undefined)?.member('cache_control');
  const point = blocks.findLast((block) => block.member('cachePoint') !== undefined);
  const last = written.at(-1);
  if (last === undefined || (mark === undefined && point === undefined)) return written;
  const message = JsonSpan.of(last);
  const content = message.member('content');
  const target = content?.items.findLast((block) => !/thinking$/.test(block.member('type')?.string ?? ''));
  const edits: Edit[] = [];
  if (content !== undefined && point !== undefined)
    edits.push(...editItems(content, () => true, { behind: [point.source] }));
  if (target !== undefined && mark !== undefined) edits.push(addMember(target, 'cache_control', mark.source));
  return [...written.slice(0, -1), applyEdits(message, edits)];
}

function withoutParts(
  wire: WireName,
  list: JsonSpan,
  { answer, without }: Extract<AnswerChange, { readonly without: unknown }>,
): readonly Edit[] {
  const gone = new Set(without);
  const edits: Edit[] = [];
  const goneItems = new Set<number>();
  for (let item = answer.from; item < answer.to; item++) {
    const parts = answer.parts.filter((part) => part.item === item);
    if (!parts.some((part) => gone.has(part))) continue;
    const content = list.items[item]?.member('content');
    if (parts.every((part) => gone.has(part)) || !codecs[wire].hasBlocks || content === undefined) goneItems.add(item);
    else
      edits.push(
        ...editItems(content, (block) => !parts.some((one) => one.block === block && gone.has(one)), { behind: [] }),
      );
  }
  return goneItems.size === 0 ? edits : [...edits, ...editItems(list, (item) => !goneItems.has(item), { behind: [] })];
}

function withoutDetails(
  list: JsonSpan,
  { answer, keepDetail }: Extract<AnswerChange, { readonly keepDetail: unknown }>,
): readonly Edit[] {
  return list.items.slice(answer.from, answer.to).flatMap((item) => {
    const details = item.member('reasoning_details');
    if (details?.isArray !== true) return [];
    return editItems(details, (at) => keepDetail(details.items[at]?.value ?? null), { behind: [] });
  });
}
