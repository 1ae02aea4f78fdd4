/** Words longer than this, and those that find too many others in their place, are looked up in a Map. */
const longestWord = 64;
const mostProbes = 32;

/** A hash of characters is that of those before the last one, times this, and the last one; that of none is 0. */
export const hashFactor = Math.trunc(Math.random() * 0x7fff_ffff) | 1;

export function hashOf(text: string, from: number, to: number): number {
  let hash = 0;
  for (let at = from; at < to; at++) hash = (Math.imul(hash, hashFactor) + text.charCodeAt(at)) | 0;
  return hash;
}

/**
 * Numbers words in the order in which they are met. A word is found where it stands in a text, without a text of its
 * own: there are as many as all tools of a list have together.
 */
export class WordTable {
  readonly words: string[] = [];
  /** Of all words. */
  characters = 0;
  private hashes = new Int32Array(512);
  /** A word’s number and one more; 0 for none. */
  private slots = new Int32Array(1_024);
  private readonly others = new Map<string, number>();

  /**
   * The number of the word that stands here. `hashed` is hashOf it: no client can know which words have the same one.
   */
  numberOf(text: string, from: number, to: number, hashed: number): number {
    const length = to - from;
    if (length > longestWord) return this.other(text.slice(from, to), 0);
    let hash = Math.imul(hashed ^ length ^ (hashed >>> 16), 0x45d9f3b);
    hash ^= hash >>> 16;
    const { slots, hashes, words } = this;
    const mask = slots.length - 1;
    for (let probe = 0, slot = hash & mask; probe < mostProbes; probe++, slot = (slot + 1) & mask) {
      const number = (slots[slot] ?? 0) - 1;
      if (number < 0) return this.add(text.slice(from, to), hash, slot);
      if (hashes[number] === hash && isAt(words[number] ?? '', text, from, length)) return number;
    }
    return this.other(text.slice(from, to), hash);
  }

  private add(word: string, hash: number, slot: number): number {
    const before = this.others.size === 0 ? undefined : this.others.get(word);
    if (before !== undefined) return before;
    const number = this.push(word, hash);
    this.slots[slot] = number + 1;
    if (2 * this.words.length > this.slots.length) this.grow();
    return number;
  }

  private other(word: string, hash: number): number {
    let number = this.others.get(word);
    if (number === undefined) {
      number = this.push(word, hash);
      this.others.set(word, number);
    }
    return number;
  }

  private push(word: string, hash: number): number {
    // A part of a text would keep all of it.
    const own = Buffer.from(word, 'utf16le').toString('utf16le');
    const number = this.words.push(own) - 1;
    this.characters += own.length;
    if (number === this.hashes.length) {
      const longer = new Int32Array(2 * number);
      longer.set(this.hashes);
      this.hashes = longer;
    }
    this.hashes[number] = hash;
    return number;
  }

  private grow(): void {
    const slots = new Int32Array(2 * this.slots.length);
    const mask = slots.length - 1;
    this.words.forEach((word, number) => {
      if (this.others.has(word)) return;
      let slot = (this.hashes[number] ?? 0) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = number + 1;
    });
    this.slots = slots;
  }
}

function isAt(word: string, text: string, from: number, length: number): boolean {
  if (word.length !== length) return false;
  for (let at = 0; at < length; at++) if (word.charCodeAt(at) !== text.charCodeAt(from + at)) return false;
  return true;
}
