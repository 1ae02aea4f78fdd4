import { eachWord, stemsOfWord } from './stems.js';
import { parametersOf } from './tool.js';
import type { OfferedTool } from './tool.js';
import { WordTable } from './word-table.js';

/**
 * How much a word counts by where it stands, and how far a field’s length evens that out (BM25F). A description says
 * first what a tool does: what comes later counts less, once, and in a long text hardly at all.
 */
const fields = {
  name: { weight: 3, evening: 0.4 },
  beginning: { weight: 1, evening: 0.6 },
  rest: { weight: 0.3, evening: 1 },
  parameters: { weight: 0.6, evening: 0.8 },
} as const;
type Field = keyof typeof fields;
const fieldNames = Object.keys(fields) as readonly Field[];

/** Words of a description that count as its beginning. */
const beginningWords = 40;

/** The stems of a tool’s texts. */
export type FieldStems = Readonly<Record<Field, readonly string[]>>;

/** Which tools hold a stem, and how often: all stems one behind the other. */
export interface Postings {
  /** The number of each stem; of some no tool holds any, and some are newer than these tools. */
  readonly stems: ReadonlyMap<string, number>;
  /** Where those of a stem begin; one more than there were stems. */
  readonly starts: Uint32Array;
  readonly tools: Uint32Array;
  /** Weighted occurrences, evened out by the length of their fields. */
  readonly frequencies: Float64Array;
}

/** Words and stems that lists share: most words of a new list have stood in one before. */
class Vocabulary {
  readonly stems = new Map<string, number>();
  /** By its number. */
  readonly names: string[] = [];
  private readonly words = new WordTable();
  /** The stem of each word that has one, and one more; 0 where it has none or several, or was not met yet. */
  private single = new Uint32Array(512);
  /** The stems of each word. */
  private readonly stemsOfWords: (readonly number[] | undefined)[] = [];

  get isFull(): boolean {
    const { words, characters } = this.words;
    return Math.max(words.length, this.names.length) > mostWords || characters > mostCharacters;
  }

  /** The one stem of this word and one more; 0 where it has none or several. */
  singleOf(word: number): number {
    return this.single[word] ?? 0;
  }

  wordOf(text: string, from: number, to: number, hash: number): number {
    return this.words.numberOf(text, from, to, hash);
  }

  stemsOf(word: number): readonly number[] {
    let numbers = this.stemsOfWords[word];
    if (numbers === undefined) {
      numbers = stemsOfWord(this.words.words[word] ?? '').map((stem) => this.numberOf(stem));
      this.stemsOfWords[word] = numbers;
      while (word >= this.single.length) this.single = longer(this.single);
      if (numbers.length === 1) this.single[word] = (numbers[0] ?? 0) + 1;
    }
    return numbers;
  }

  numberOf(stem: string): number {
    let number = this.stems.get(stem);
    if (number === undefined) {
      number = this.names.push(stem) - 1;
      this.stems.set(stem, number);
    }
    return number;
  }
}

/** A vocabulary of more is not used for further lists; an index keeps the stems of the one that it was made with. */
const mostWords = 20_000;
const mostCharacters = 400_000;
let shared = new Vocabulary();

function vocabulary(): Vocabulary {
  if (shared.isFull) shared = new Vocabulary();
  return shared;
}

function longer(numbers: Uint32Array): Uint32Array<ArrayBuffer> {
  const made = new Uint32Array(2 * numbers.length);
  made.set(numbers);
  return made;
}

/** Notes the stems of tools as numbers, one tool behind the other and in it one field behind the other. */
export class StemWriter {
  readonly vocabulary = vocabulary();
  numbers = new Uint32Array(64);
  used = 0;
  /** Where each field of each tool ends. */
  readonly ends: number[] = [];

  /** Of so many characters of each text. */
  addTool({ name, description, parameters }: OfferedTool, length: number): void {
    eachWord(name, name.length, this.word);
    this.ends.push(this.used);
    const from = this.used;
    eachWord(description, length, this.word);
    const beginning = Math.min(this.used, from + beginningWords);
    this.ends.push(beginning);
    this.onceFrom(beginning);
    this.ends.push(this.used);
    let left = length;
    for (const one of parametersOf({ parameters })) {
      if (left <= 0) break;
      for (const text of [one.name, one.description]) {
        eachWord(text, left, this.word);
        left -= text.length + 1;
        if (left <= 0) break;
      }
    }
    this.ends.push(this.used);
  }

  addStems(text: FieldStems): void {
    for (const field of fieldNames) {
      for (const stem of text[field]) this.put(this.vocabulary.numberOf(stem));
      this.ends.push(this.used);
    }
  }

  private readonly word = (text: string, from: number, to: number, hash: number): void => {
    const { vocabulary: known } = this;
    const word = known.wordOf(text, from, to, hash);
    const one = known.singleOf(word);
    if (one > 0) this.put(one - 1);
    else for (const number of known.stemsOf(word)) this.put(number);
  };

  private put(number: number): void {
    if (this.used === this.numbers.length) this.numbers = longer(this.numbers);
    this.numbers[this.used++] = number;
  }

  /** Leaves each stem once of those that stand behind a place. */
  private onceFrom(from: number): void {
    if (from === this.used) return;
    const once = new Set(this.numbers.subarray(from, this.used));
    this.used = from;
    for (const number of once) this.put(number);
  }
}

export function postingsOf({ vocabulary: { stems, names }, numbers, ends, used }: StemWriter): Postings {
  const averages = fieldNames.map((_, field) => averageLength(ends, field));
  // Of each tool, its stems and how often it holds them.
  const ownStems = new Uint32Array(used);
  const ownFrequencies = new Float64Array(used);
  const toolEnds = new Uint32Array(ends.length / fieldNames.length);
  const count = names.length;
  const held = new Float64Array(count);
  const starts = new Uint32Array(count + 1);
  let own = 0;
  for (let at = 0, tool = 0; at < ends.length; tool++) {
    const begin = own;
    for (let field = 0; field < fieldNames.length; field++, at++) {
      const [from, to] = [at === 0 ? 0 : (ends[at - 1] ?? 0), ends[at] ?? 0];
      const { weight, evening } = fields[fieldNames[field] ?? 'name'];
      const evened = weight / (1 - evening + evening * ((to - from) / (averages[field] ?? 1)));
      for (let place = from; place < to; place++) {
        const stem = numbers[place] ?? 0;
        const before = held[stem] ?? 0;
        if (before === 0) ownStems[own++] = stem;
        held[stem] = before + evened;
      }
    }
    for (let place = begin; place < own; place++) {
      const stem = ownStems[place] ?? 0;
      ownFrequencies[place] = held[stem] ?? 0;
      held[stem] = 0;
      starts[stem + 1] = (starts[stem + 1] ?? 0) + 1;
    }
    toolEnds[tool] = own;
  }
  for (let stem = 0; stem < count; stem++) starts[stem + 1] = (starts[stem + 1] ?? 0) + (starts[stem] ?? 0);
  const next = starts.slice();
  const tools = new Uint32Array(own);
  const frequencies = new Float64Array(own);
  for (let tool = 0, place = 0; tool < toolEnds.length; tool++)
    for (const end = toolEnds[tool] ?? 0; place < end; place++) {
      const stem = ownStems[place] ?? 0;
      const to = next[stem] ?? 0;
      tools[to] = tool;
      frequencies[to] = ownFrequencies[place] ?? 0;
      next[stem] = to + 1;
    }
  return { stems, starts, tools, frequencies };
}

/** Of a field over all tools, in stems; at least 1. */
function averageLength(ends: readonly number[], field: number): number {
  const count = fieldNames.length;
  let sum = 0;
  for (let at = field; at < ends.length; at += count) sum += (ends[at] ?? 0) - (at === 0 ? 0 : (ends[at - 1] ?? 0));
  return Math.max(1, sum / Math.max(1, ends.length / count));
}

/** The stems of a tool’s texts, of so many characters of each. */
export function fieldStems(tool: OfferedTool, length: number): FieldStems {
  const written = new StemWriter();
  written.addTool(tool, length);
  const { names } = written.vocabulary;
  const stemsAt = (field: Field): readonly string[] => {
    const at = fieldNames.indexOf(field);
    const from = at === 0 ? 0 : written.ends[at - 1];
    return Array.from(written.numbers.subarray(from, written.ends[at]), (number) => names[number] ?? '');
  };
  return {
    name: stemsAt('name'),
    beginning: stemsAt('beginning'),
    rest: stemsAt('rest'),
    parameters: stemsAt('parameters'),
  };
}
