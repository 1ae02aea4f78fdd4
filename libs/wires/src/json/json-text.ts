/** JSON that goes into a text as it stands: arguments as a model wrote them, a block that is passed on unread. */
export class JsonText {
  constructor(readonly text: string) {}
}

/** What writeJson writes; members that are undefined are left out. */
export type Writable =
  null | boolean | number | string | undefined | JsonText | readonly Writable[] | { readonly [name: string]: Writable };

/**
 * JSON text of a value that may hold texts as they stand. Numbers kept as text (JSON.rawJSON) are written as they
 * were.
 */
export function writeJson(value: Writable): string {
  if (value instanceof JsonText) return value.text;
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return JSON.stringify(value ?? null);
  if (Array.isArray(value)) return `[${value.map((item: Writable) => writeJson(item)).join(',')}]`;
  const members: string[] = [];
  for (const [name, member] of Object.entries(value as { readonly [name: string]: Writable }))
    if (member !== undefined) members.push(`${JSON.stringify(name)}:${writeJson(member)}`);
  return `{${members.join(',')}}`;
}

/** Whether a text is JSON, and of an object. */
export function isObjectText(text: string): boolean {
  if (!/^\s*\{/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
