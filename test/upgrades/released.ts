import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Type } from 'avsc';
import { typeOf } from '../../libs/contracts/src/codec.js';

const folder = join(import.meta.dirname, '../../libs/contracts/test/released');

/** The releases whose schemas are kept, the oldest first. */
export const releases: readonly string[] = readdirSync(folder).sort((a, b) => Number(a) - Number(b));

/** The records that a release had. */
export function recordsOf(release: string): readonly string[] {
  return readdirSync(join(folder, release)).map((file) => file.replace('.avsc', ''));
}

/** A record's schema as the release registered it. */
export function schemaOf(release: string, record: string): string {
  return readFileSync(join(folder, release, `${record}.avsc`), 'utf8');
}

/** What a service of that release reads and writes with. */
export function typeIn(release: string, record: string): Type {
  return typeFrom(schemaOf(release, record));
}

/** The type of a schema written as JSON, with the field names that a process uses. */
export function typeFrom(schema: string): Type {
  return typeOf(JSON.parse(schema) as Parameters<typeof typeOf>[0]);
}
