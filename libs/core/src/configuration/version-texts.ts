import { type JsonValue, canonicalJson } from '../json.js';

/**
 * The configurations on agent.config by their version, which is the hash of their content: so what is first under a
 * version is that version. Another content under it later would change what decisions made before it were made by. One that cannot
 * be read decided nothing, so it gives way.
 */
export class VersionTexts {
  readonly #texts = new Map<string, string>();

  /** `compile` throws for what cannot be read. */
  constructor(private readonly compile: (text: string) => unknown) {}

  /** False for another content than the version has: it is not taken. */
  add(version: string, text: string): boolean {
    const known = this.#texts.get(version);
    if (known !== undefined && known !== text && content(known) !== content(text) && this.#isReadable(known))
      return false;
    this.#texts.set(version, text);
    return true;
  }

  get(version: string): string | undefined {
    return this.#texts.get(version);
  }

  has(version: string): boolean {
    return this.#texts.has(version);
  }

  #isReadable(text: string): boolean {
    try {
      return Boolean(this.compile(text));
    } catch {
      return false;
    }
  }
}

/** The same for texts that say the same in another order. */
function content(text: string): string {
  try {
    return canonicalJson(JSON.parse(text) as JsonValue);
  } catch {
    return text;
  }
}
