import type { Digest, JsonValue } from '@sluice/core';
import { isJsonObject } from '@sluice/core';
import {
  type AnswerChange,
  type Body,
  changeAnswers,
  detailKeys,
  detailsOf,
  hasTools,
  isBound,
  type MessagePart,
  type PartKey,
  partKeys,
  pastAnswers,
  pastThoughts,
  type PastAnswer,
  type Round,
  thoughtKeys,
  type TurnPart,
  type WireName,
} from '@sluice/wires';

/**
 * Rounds that a client sees as one answer. Providers sign what a model thought, and take it back only in the turn
 * that it came in. So the rounds are kept, and put in the place of that answer when it comes back.
 */
interface KeptRounds {
  /** What the answer is found by. */
  readonly keys: readonly PartKey[];
  /** The rounds, as text. */
  readonly text: string;
  /** What goes where the rounds are gone, as text: hashes of keys, and nothing that was said. */
  readonly mark: string;
}

/** What is found of an answer by one of its keys. */
export interface FoundRounds {
  readonly mark: string;
  /** Null where the rounds are gone, or not this caller’s. */
  readonly text: string | null;
}

interface Mark {
  /** Keys of what the former rounds said. */
  readonly former: ReadonlySet<string>;
  /** The key of the first thought of the last round; null where it has none. */
  readonly from: string | null;
}

/** Answers of one request that are looked up; those before them are left as they are. */
const mostAnswers = 200;
/** Keys that one answer is found by. */
const mostKeys = 24;

const hashed = (digest: Digest, key: PartKey): string => digest(key.text).slice(0, 16);

/** What to keep of an answer’s rounds; null where nothing in them is bound to the rest. */
export function keptRounds(rounds: readonly Round[], digest: Digest): KeptRounds | null {
  const last = rounds.at(-1);
  if (last === undefined || !rounds.some(({ parts }) => parts.some(isBound))) return null;
  const former = rounds.slice(0, -1).flatMap(({ parts }) => parts);
  const own = visible(last);
  const keys = [
    ...own.filter(({ type }) => type === 'call').flatMap(partKeys),
    ...own.flatMap(thoughtKeys),
    ...former.flatMap(thoughtKeys),
  ];
  if (keys.length === 0) return null;
  const firstThought = own.find(({ type }) => type === 'reasoning');
  const [from] = firstThought === undefined ? [] : thoughtKeys(firstThought);
  const mark = {
    former: former.flatMap(partKeys).map((key) => hashed(digest, key)),
    from: from === undefined ? null : hashed(digest, from),
  };
  return { keys: keys.slice(0, mostKeys), text: JSON.stringify({ rounds }), mark: JSON.stringify(mark) };
}

/** The request with the rounds of its answers in their place; null where nothing changes. */
export async function withHiddenRounds(
  wire: WireName,
  body: Body,
  find: (key: PartKey) => Promise<FoundRounds | null>,
  digest: Digest,
): Promise<string | null> {
  const answers = pastAnswers(wire, body).slice(-mostAnswers);
  if (answers.length === 0) return null;
  const takesCalls = hasTools(wire, body);
  const changes = await Promise.all(
    answers.map(async (answer): Promise<AnswerChange | null> => {
      const found = await firstFound(keysOf(wire, answer), find);
      if (found === null) return null;
      const rounds = takesCalls && found.text !== null ? roundsIn(found.text) : null;
      if (rounds !== null && isOf(answer, rounds)) return { answer, rounds };
      return withoutFormer(wire, answer, { mark: markIn(found.mark), digest });
    }),
  );
  const made = changes.filter((change) => change !== null);
  return made.length === 0 ? null : changeAnswers(wire, body, made);
}

/**
 * The keys that an answer is looked up by, one after the other: its last thought’s, then in Chat, where clients may
 * leave thoughts out, the last call’s.
 */
function keysOf(wire: WireName, { parts }: PastAnswer): readonly PartKey[] {
  const thought = parts.findLast(({ part }) => thoughtKeys(part).length > 0)?.part;
  const keys = thought === undefined ? [] : thoughtKeys(thought);
  // Of an item that is enciphered its id says no more; of several blocks of reasoning in Chat the last is that of the
  // last round.
  const inDetails = pastThoughts(wire) === 'details';
  const key = inDetails ? keys.at(-1) : keys[0];
  const call = inDetails ? parts.findLast(({ part }) => part.type === 'call')?.part : undefined;
  return [...(key === undefined ? [] : [key]), ...(call === undefined ? [] : partKeys(call))];
}

async function firstFound(
  keys: readonly PartKey[],
  find: (key: PartKey) => Promise<FoundRounds | null>,
): Promise<FoundRounds | null> {
  for (const key of keys) {
    const found = await find(key);
    if (found !== null) return found;
  }
  return null;
}

/** What a client sees of a round. */
function visible({ parts, results }: Round): readonly TurnPart[] {
  const hidden = new Set(results.map(({ toolCallId }) => toolCallId));
  return parts.filter((part) => part.type !== 'call' || !hidden.has(part.toolCallId));
}

/**
 * Whether an answer is the one that these rounds were: the same calls and words. Its client may have left thoughts
 * out, and changed none.
 */
function isOf({ parts }: PastAnswer, rounds: readonly Round[]): boolean {
  const given = rounds.flatMap(visible);
  const back = parts.map(({ part }) => part);
  const keys = new Set(given.flatMap(thoughtKeys).map(({ text }) => text));
  const isKnown = (part: MessagePart): boolean => {
    const [first] = thoughtKeys(part);
    return first === undefined || detailsOf(part).length > 0 || keys.has(first.text);
  };
  return callsIn(given) === callsIn(back) && wordsIn(given) === wordsIn(back) && back.every(isKnown);
}

function callsIn(parts: readonly MessagePart[]): string {
  return JSON.stringify(parts.flatMap((part) => (part.type === 'call' ? [part.toolCallId, part.name] : [])));
}

/** Clients join texts and trim them. */
function wordsIn(parts: readonly MessagePart[]): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text.replace(/\s+/g, '')] : [])).join('');
}

/** Where the rounds are gone, the last one’s thoughts go on alone: never those of several as if they were one’s. */
function withoutFormer(
  wire: WireName,
  answer: PastAnswer,
  { mark: { former, from }, digest }: { readonly mark: Mark; readonly digest: Digest },
): AnswerChange | null {
  const isFormer = (keys: readonly PartKey[]): boolean => keys.some((key) => former.has(hashed(digest, key)));
  const thoughts = pastThoughts(wire);
  if (thoughts === 'details') {
    const details = answer.parts.flatMap(({ part }) => detailsOf(part));
    if (!details.some((detail) => isFormer(detailKeys(detail)))) return null;
    // A piece without a signature names no round.
    const keepDetail = (detail: JsonValue): boolean => detailKeys(detail).length > 0 && !isFormer(detailKeys(detail));
    return { answer, keepDetail };
  }
  const { parts } = answer;
  const first = parts.findIndex(({ part }) => isFormer(partKeys(part)));
  const last = parts.findIndex(
    ({ part }) => from !== null && thoughtKeys(part).some((key) => hashed(digest, key) === from),
  );
  const begin = first === -1 && thoughts !== 'items' ? 0 : first;
  const without =
    last > begin && begin !== -1 ? parts.slice(begin, last) : parts.filter(({ part }) => isFormer(partKeys(part)));
  return without.length === 0 ? null : { answer, without };
}

function roundsIn(text: string): readonly Round[] | null {
  try {
    const value = JSON.parse(text) as unknown;
    return isJsonObject(value) && Array.isArray(value['rounds'])
      ? (value['rounds'] as unknown as readonly Round[])
      : null;
  } catch {
    return null;
  }
}

/** A mark that cannot be read, as of a later version, says nothing. */
function markIn(text: string): Mark {
  try {
    const value = JSON.parse(text) as unknown;
    if (isJsonObject(value)) {
      const { former, from } = value;
      const names = Array.isArray(former) ? former.filter((name): name is string => typeof name === 'string') : [];
      return { former: new Set(names), from: typeof from === 'string' ? from : null };
    }
  } catch {
    // As below.
  }
  return { former: new Set(), from: null };
}
