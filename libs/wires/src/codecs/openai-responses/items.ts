import type { JsonObject, JsonValue } from '@sluice/core';
import { integer } from '../../json/read.js';
import type { Slot } from '../../turn-builder.js';

/** An item under assembly. */
export interface Item {
  readonly slots: Slot[];
  readonly type: string;
  readonly id: string;
  /** A message that is no part of the answer. */
  readonly isCommentary?: boolean;
}

/** What an event says of its item; an id that it leaves out is empty. */
interface Named {
  readonly id: string;
  readonly type: string;
  readonly callId?: string;
}

const callOf = ({ slots: [first] }: Item): string => first?.toolCallId ?? '';

/** The items of one response, by their places. */
export class Items {
  private readonly byPlace = new Map<number, Item>();
  private readonly done = new Set<Item>();

  /** Begins an item at the place that its event names, or behind the others. */
  add(event: JsonObject, item: Item): void {
    this.byPlace.set(integer(event, 'output_index', '') ?? this.next(), item);
  }

  /**
   * The place that an event names, or that of the item of this id or call; where it says none of these, the last item
   * goes on, if it is of this type and not done.
   */
  placeOf(event: JsonObject, { id, type, callId = '' }: Named): number {
    const index = integer(event, 'output_index', '');
    if (index !== undefined) return index;
    const items = [...this.byPlace];
    const named = items.find(([, one]) => (id !== '' && one.id === id) || (callId !== '' && callOf(one) === callId));
    if (named !== undefined) return named[0];
    const last = items.at(-1);
    if (last?.[1].type !== type || this.done.has(last[1])) return this.next();
    const isOther = (id !== '' && last[1].id !== '') || (callId !== '' && callOf(last[1]) !== '');
    return isOther ? this.next() : last[0];
  }

  private next(): number {
    return Math.max(-1, ...this.byPlace.keys()) + 1;
  }

  /** Nothing more comes of the item. */
  finish(item: Item): void {
    this.done.add(item);
  }

  at(place: number, open: () => Item): Item {
    const found = this.byPlace.get(place) ?? open();
    this.byPlace.set(place, found);
    return found;
  }

  /**
   * Finds for each item of a later list the one that came before: that of the same id, or else the next of its type
   * and name. Each is found once.
   */
  counterparts(): (id: string, type: string, name: string) => Item | undefined {
    const left = [...this.byPlace].sort(([one], [other]) => one - other).map(([, item]) => item);
    return (id, type, name) => {
      const isNamed = ({ slots: [first] }: Item): boolean => [name, '', undefined].includes(first?.name);
      const found =
        left.find((one) => id !== '' && one.id === id) ?? left.find((one) => one.type === type && isNamed(one));
      if (found !== undefined) left.splice(left.indexOf(found), 1);
      return found;
    };
  }
}

/** A thought must come back as it was: what a text of its own would be written otherwise is kept beside it. */
export function unlikeText({ summary, content }: JsonObject): Record<string, JsonValue> {
  const hasContent = Array.isArray(content) && content.length > 0;
  const hasParts = Array.isArray(summary) && summary.length > 1;
  if (!hasContent && !hasParts) return {};
  return { ...(summary === undefined ? {} : { summary }), ...(hasContent ? { content } : {}) };
}
