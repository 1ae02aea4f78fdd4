import { type Context, createContext, Script } from 'node:vm';
import { regexFlags } from '@sluice/schemas';

/** How long the patterns of one check may take together, in milliseconds. */
const patienceMs = 100;

interface Pattern {
  test(text: string): boolean;
  toString(): string;
}

/**
 * Regular expressions of strangers: one can take longer than the sun will last. Those of a check share a time; when
 * it is up, whatever is still asked does not match, and so the value does not fit.
 */
export class RegexTimeBudget {
  private left = patienceMs;
  /** Made for the first pattern: most schemas have none. */
  private sandbox: Context | undefined;

  /** Before each check. */
  begin(): void {
    this.left = patienceMs;
  }

  /** Whether a pattern did not come to its end since the check began. */
  get isSpent(): boolean {
    return this.left < 1;
  }

  /** Takes the place of RegExp in ajv. Throws where the pattern is none. */
  readonly regExp = Object.assign((pattern: string): Pattern => this.compile(pattern), { code: 'new RegExp' });

  private compile(pattern: string): Pattern {
    const flags = regexFlags(pattern);
    if (flags === null) throw new SyntaxError('A pattern of the schema is no regular expression of ECMAScript.');
    const { source } = new RegExp(pattern, flags);
    const test = new Script(`new RegExp(${JSON.stringify(source)}, ${JSON.stringify(flags)}).test(text)`);
    // ajv tells patterns apart by their text.
    return { test: (text) => this.within(test, text), toString: () => `/${source}/${flags}` };
  }

  private within(test: Script, text: string): boolean {
    if (this.isSpent) return false;
    const before = performance.now();
    const sandbox = (this.sandbox ??= createContext(Object.create(null) as object, {
      codeGeneration: { strings: false, wasm: false },
    }));
    try {
      (sandbox as { text?: string }).text = text;
      return test.runInContext(sandbox, { timeout: Math.ceil(this.left) }) === true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false;
      throw error;
    } finally {
      this.left -= performance.now() - before;
    }
  }
}

/**
 * Whether a text has a pattern of ECMAScript; null where that is not known in time. Throws where the pattern is none.
 */
export function matchesInTime(pattern: string, text: string): boolean | null {
  const budget = new RegexTimeBudget();
  const isMatch = budget.regExp(pattern).test(text);
  return budget.isSpent && !isMatch ? null : isMatch;
}
