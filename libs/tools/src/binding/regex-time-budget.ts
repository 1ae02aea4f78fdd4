import { createContext, Script } from 'node:vm';

/** How long the patterns of one check may take together, in milliseconds. */
const patienceMs = 100;

interface Pattern {
  test(text: string): boolean;
  toString(): string;
}

/**
 * Regular expressions of strangers: one can take longer than the sun will last. Those of a check share a time; when it is up, whatever is
 * still asked does not match, and so the value does not fit.
 */
export class RegexTimeBudget {
  private left = patienceMs;
  private readonly sandbox = createContext(Object.create(null) as object, {
    codeGeneration: { strings: false, wasm: false },
  });

  /** Before each check. */
  begin(): void {
    this.left = patienceMs;
  }

  /** Takes the place of RegExp in ajv. Throws where the pattern is none. */
  readonly regExp = Object.assign((pattern: string, flags: string): Pattern => this.compile(pattern, flags), {
    code: 'new RegExp',
  });

  private compile(pattern: string, flags: string): Pattern {
    const { source } = new RegExp(pattern, flags);
    const test = new Script(`new RegExp(${JSON.stringify(source)}, ${JSON.stringify(flags)}).test(text)`);
    // ajv tells patterns apart by their text.
    return { test: (text) => this.within(test, text), toString: () => `/${source}/${flags}` };
  }

  private within(test: Script, text: string): boolean {
    if (this.left < 1) return false;
    const before = performance.now();
    try {
      (this.sandbox as { text?: string }).text = text;
      return test.runInContext(this.sandbox, { timeout: Math.ceil(this.left) }) === true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false;
      throw error;
    } finally {
      this.left -= performance.now() - before;
    }
  }
}
