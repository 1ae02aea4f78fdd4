import { createContext, Script } from 'node:vm';

const script = new Script('work()');

/**
 * What `work` gives, or null where it is not done within so many milliseconds: it is then broken off wherever it is,
 * in a pattern as well, and whatever it was about to change stays half done. For code that a stranger's data can keep
 * busy.
 */
export function inTime<T>(milliseconds: number, work: () => T): { readonly value: T } | null {
  const sandbox = createContext(Object.assign(Object.create(null) as object, { work }), {
    codeGeneration: { strings: false, wasm: false },
  });
  try {
    return { value: script.runInContext(sandbox, { timeout: milliseconds }) as T };
  } catch (error) {
    if ((error as NodeJS.ErrnoException | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return null;
    throw error;
  }
}
