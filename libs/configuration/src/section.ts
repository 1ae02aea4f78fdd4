import { describe, join, unknownName } from './problems.js';
import { durationMs, nearest, quote, suggestion } from '@sluice/core';
import type { Problem, UnknownName } from '@sluice/core';

/** What may stand for a whole number. */
export interface NumberRange {
  readonly byDefault: number;
  readonly most: number;
  /** 1 where it is absent. */
  readonly least?: number;
}

/** True for what a YAML or JSON map becomes; not for dates, lists, maps of the language or null. */
function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return Object.prototype.toString.call(value) === '[object Object]';
}

const noValues: Readonly<Record<string, unknown>> = {};

/**
 * A map of the file while it is read. Each reader returns a usable value or null, absent and null being the same, and
 * notes what it cannot use, so that one pass finds every problem.
 */
export class Section {
  private readonly values: Readonly<Record<string, unknown>>;
  /** What stands there in place of a key: one that is misspelt. */
  private readonly written = new Map<string, string>();
  /** False for what should have been a map and is something else. */
  readonly usable: boolean;

  constructor(
    value: unknown,
    readonly path: string,
    readonly problems: Problem[],
    /** Said behind each finding where the path alone does not name the thing. */
    readonly remark = '',
  ) {
    this.values = isMap(value) ? value : noValues;
    this.usable = isMap(value) || value === null || value === undefined;
    if (!this.usable) this.problem(path, describe(value), 'a map of keys and values');
  }

  /**
   * Refuses every key but these. One that is nearly right is read on as the one that was meant, so that its content
   * is no second mistake.
   */
  closed(keys: readonly string[]): this {
    for (const key of this.keys()) {
      if (keys.includes(key)) continue;
      this.problem(join(this.path, key), `the unknown key ${quote(key)}`, suggestion(key, keys));
      const meant = nearest(key, keys);
      if (meant !== undefined && !this.has(meant)) this.written.set(meant, key);
    }
    return this;
  }

  keys(): readonly string[] {
    return Object.keys(this.values);
  }

  has(key: string): boolean {
    return this.value(key) !== null;
  }

  value(key: string): unknown {
    const name = this.written.get(key) ?? key;
    return Object.hasOwn(this.values, name) ? (this.values[name] ?? null) : null;
  }

  at(key: string): string {
    return join(this.path, this.written.get(key) ?? key);
  }

  itemAt(key: string, place: number): string {
    return `${this.at(key)}[${String(place)}]`;
  }

  section(key: string): Section {
    return new Section(this.value(key), this.at(key), this.problems, this.remark);
  }

  problem(path: string, found: string, write: string): void {
    this.problems.push({ path, found: found + this.remark, write });
  }

  /** A name of something that there is not. */
  unknown(path: string, kind: UnknownName['kind'], name: string, write: string, where = ''): void {
    const { found, unknown } = unknownName(kind, name);
    this.problems.push({ path, found: found + where + this.remark, write, unknown });
  }

  refuse(key: string, write: string): null {
    this.problem(this.at(key), describe(this.value(key)), write);
    return null;
  }

  /** A text that is not empty. */
  text(key: string, write: string): string | null {
    const value = this.value(key);
    if (value === null) return null;
    return typeof value === 'string' && value !== '' ? value : this.refuse(key, write);
  }

  /** The items of a list as they stand. */
  items(key: string, write: string): readonly unknown[] | null {
    const value = this.value(key);
    if (value === null) return null;
    // A list with gaps becomes one with undefined items, which are refused like any other wrong item.
    return Array.isArray(value) ? Array.from<unknown>(value) : this.refuse(key, write);
  }

  /** A list of texts that are not empty; repeats count once. */
  names(key: string, write: string): readonly string[] | null {
    const items = this.items(key, write);
    if (items === null) return null;
    const names = new Set<string>();
    items.forEach((item, place) => {
      if (typeof item === 'string' && item !== '') names.add(item);
      else this.problem(this.itemAt(key, place), describe(item), 'a text that is not empty');
    });
    return [...names];
  }

  choice<T extends string>(key: string, choices: readonly T[]): T | null {
    const value = this.value(key);
    if (value === null) return null;
    const chosen = choices.find((choice) => choice === value);
    if (chosen !== undefined) return chosen;
    return this.refuse(key, typeof value === 'string' ? suggestion(value, choices) : suggestion('', choices));
  }

  flag(key: string): boolean | null {
    const value = this.value(key);
    if (value === null || typeof value === 'boolean') return value;
    return this.refuse(key, '`true` or `false`');
  }

  /** Of a key in seconds also a duration, such as `15m`. */
  wholeNumber(key: string, range: NumberRange): number {
    const inSeconds = key.endsWith('_seconds');
    const value = inSeconds ? secondsOf(this.value(key)) : this.value(key);
    if (value === null) return range.byDefault;
    const { least = 1, most } = range;
    if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value;
    const write = `a whole number from ${String(least)} to ${String(most)}`;
    this.refuse(key, inSeconds ? `${write}, in seconds, or a duration such as \`90s\` or \`15m\`` : write);
    return range.byDefault;
  }

  /**
   * An http address. One with a user and a password is refused and not repeated: a configuration travels in the
   * clear.
   */
  address(key: string): string | null {
    const value = this.text(key, 'an address such as `http://localhost:8080/path`');
    if (value === null) return null;
    if (/^https?:\/\/[^/?#]*@/i.test(value)) {
      this.problem(this.at(key), 'an address with a user or a password in it', 'the address alone, without them');
      return null;
    }
    if (/^https?:\/\/[A-Za-z0-9.[\]:_-]+([/?#]\S*)?$/i.test(value)) return value;
    return this.refuse(key, 'an address such as `http://localhost:8080/path`');
  }
}

/** A duration as its seconds; whatever else stands there as it is. */
function secondsOf(value: unknown): unknown {
  const ms = durationMs(value);
  return Number.isNaN(ms) ? value : ms / 1_000;
}
