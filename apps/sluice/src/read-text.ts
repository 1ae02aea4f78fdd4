import { readFileSync } from 'node:fs';

/** A file that an argument names. Throws a sentence with its name if it cannot be read. */
export function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`${file} cannot be read: ${(error as Error).message}.`, { cause: error });
  }
}
