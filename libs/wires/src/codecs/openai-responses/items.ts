import type { JsonObject } from '@sluice/core';
import { integer } from '../../json/read.js';
import type { Slot } from '../../turn-builder.js';

/** An item under assembly. */
export interface Item {
  readonly slots: Slot[];
  readonly type: string;
  readonly id: string;
}

/** The items of one response, by their places. */
export class Items {
  readonly #byPlace = new Map<number, Item>();

  get size(): number {
    return this.#byPlace.size;
  }

  /** The place that an event names, or that of the item of this id; `otherwise` where it says neither. */
  placeOf(event: JsonObject, id: string, otherwise: number): number {
    const index = integer(event, 'output_index', '');
    if (index !== undefined) return index;
    if (id === '') return otherwise;
    return [...this.#byPlace].find(([, one]) => one.id === id)?.[0] ?? this.size;
  }

  set(place: number, item: Item): void {
    this.#byPlace.set(place, item);
  }

  at(place: number, open: () => Item): Item {
    const found = this.#byPlace.get(place) ?? open();
    this.#byPlace.set(place, found);
    return found;
  }

  /** Finds for each item of a later list the one that came before: that of the same id, or else the next of its type and name. Each is found once. */
  counterparts(): (id: string, type: string, name: string) => Item | undefined {
    const left = [...this.#byPlace].sort(([one], [other]) => one - other).map(([, item]) => item);
    return (id, type, name) => {
      const isNamed = ({ slots: [first] }: Item): boolean => [name, '', undefined].includes(first?.name);
      const found =
        left.find((one) => id !== '' && one.id === id) ?? left.find((one) => one.type === type && isNamed(one));
      if (found !== undefined) left.splice(left.indexOf(found), 1);
      return found;
    };
  }
}
