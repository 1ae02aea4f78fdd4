import { empty, type JsonSpan } from './span.js';

/** A range of a text and what stands there instead. */
export interface Edit {
  /** The text in which it is: a list that stands apart has one of its own. */
  readonly of: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The whole text with its edits made; edits do not overlap. All other characters stay. */
export function applyEdits({ text, apart }: JsonSpan, edits: readonly Edit[]): string {
  if (apart === null) return applied(text, edits);
  const { list, at } = apart;
  const own = edits.filter(({ of }) => of === text);
  const end = at + empty.length;
  const isGone = own.some(({ start, end: to }) => start <= at && to >= end);
  if (isGone) return applied(text, own);
  const inList = edits.filter(({ of }) => of !== text);
  return applied(text, [...own, { of: text, start: at, end, text: applied(list.source, inList) }]);
}

function applied(text: string, edits: readonly Edit[]): string {
  if (edits.length === 0) return text;
  let edited = '';
  let at = 0;
  for (const edit of [...edits].sort((one, other) => one.start - other.start || one.end - other.end)) {
    edited += text.slice(at, edit.start) + edit.text;
    at = edit.end;
  }
  return edited + text.slice(at);
}

/**
 * Keeps the items that pass and adds texts before and behind them: the kept ones with every byte, comma and space
 * between them.
 */
export function editItems(
  array: JsonSpan,
  isKept: (index: number) => boolean,
  { before = [], behind: added }: { readonly before?: readonly string[]; readonly behind: readonly string[] },
): Edit[] {
  const { items, text: of } = array;
  const lastKept = items.findLastIndex((_, index) => isKept(index));
  const last = items.at(-1);
  const addition = added.join(',');
  const kept = items[lastKept];
  if (last === undefined || kept === undefined) {
    const from = items[0]?.start ?? array.start + 1;
    return [{ of, start: from, end: last?.end ?? from, text: [...before, ...added].join(',') }];
  }
  const edits: Edit[] = [];
  for (let index = 0; index < lastKept; index++) {
    if (isKept(index)) continue;
    const { start } = items[index] ?? last;
    while (index + 1 < lastKept && !isKept(index + 1)) index++;
    edits.push({ of, start, end: items[index + 1]?.start ?? last.end, text: '' });
  }
  const behind = addition === '' ? '' : `,${addition}`;
  const first = items.find((_, index) => isKept(index)) ?? kept;
  if (before.length > 0) edits.push({ of, start: first.start, end: first.start, text: `${before.join(',')},` });
  if (behind !== '' || lastKept < items.length - 1) edits.push({ of, start: kept.end, end: last.end, text: behind });
  return edits;
}

/** Puts a member at the end of an object. */
export function addMember(object: JsonSpan, name: string, value: string): Edit {
  const last = object.members.at(-1);
  const at = last === undefined ? object.start + 1 : last.end;
  return {
    of: object.text,
    start: at,
    end: at,
    text: `${last === undefined ? '' : ','}${JSON.stringify(name)}:${value}`,
  };
}

/** Takes members out of an object, each with the comma that belongs to it. */
export function removeMembers(object: JsonSpan, names: readonly string[]): Edit[] {
  const { members, text: of } = object;
  const goes = (index: number): boolean => names.includes(members[index]?.name ?? '');
  const lastKept = members.findLastIndex((_, index) => !goes(index));
  const edits: Edit[] = members.slice(0, Math.max(0, lastKept)).flatMap((member, index) => {
    const next = members[index + 1];
    return goes(index) && next !== undefined ? [{ of, start: member.start, end: next.start, text: '' }] : [];
  });
  const last = members.at(-1);
  if (last !== undefined && lastKept < members.length - 1) {
    const from = members[lastKept]?.end ?? members[0]?.start ?? last.start;
    edits.push({ of, start: from, end: last.end, text: '' });
  }
  return edits;
}
