import { type JsonValue, isJsonObject } from '../json.js';

/** The parts of a path; `~1` stands for a `/` in a name, `~0` for a `~`. */
export function partsOfPath(path: string): readonly string[] {
  return path.split('/').map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** What stands at a path: the values that are given, and whether some are where no path leads. */
interface ValuesAt {
  readonly values: readonly JsonValue[];
  /** Whether a value on the way has no parts, or not such ones: a text where a list is expected. */
  readonly isAstray: boolean;
  /** Whether a name of the path is missing somewhere: of some elements of a list, perhaps. */
  readonly isPartial: boolean;
}

export function valuesAt(args: JsonValue, parts: readonly string[]): ValuesAt {
  const values: JsonValue[] = [];
  let isAstray = false;
  let isPartial = false;
  const visit = (value: JsonValue, place: number): void => {
    const part = parts[place];
    if (part === undefined) values.push(value);
    else if (part === '*') {
      if (Array.isArray(value)) for (const item of value as readonly JsonValue[]) visit(item, place + 1);
      else if (isJsonObject(value)) for (const item of Object.values(value)) visit(item, place + 1);
      else isAstray = true;
    } else if (isJsonObject(value)) {
      if (Object.hasOwn(value, part)) visit(value[part] as JsonValue, place + 1);
      else isPartial = true;
    } else isAstray = true;
  };
  visit(args, 0);
  return { values, isAstray, isPartial };
}
