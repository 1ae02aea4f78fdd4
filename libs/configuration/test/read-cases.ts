import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** A file of cases from the folder beside this one; the caller names the shape. */
export function readCases<T>(file: string): T {
  return parse(readFileSync(new URL(`./cases/${file}`, import.meta.url), 'utf8')) as T;
}

/** The parsed value of a file of this repository. */
export function readYaml(path: string): unknown {
  return parse(readText(path));
}

/** The text of a file of this repository. */
export function readText(path: string): string {
  return readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
}
