/** What a record's sender wrote must not steer a terminal: control characters but the ends of lines and tabs are replaced. */
export function printable(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(/[^\P{Cc}\n\t]/gu, '�');
}

/** The same for every text in a value: a record, or what was read off one. Bytes stay as they are. */
export function printableIn<T>(value: T): T {
  return inAll(value) as T;
}

function inAll(value: unknown): unknown {
  if (typeof value === 'string') return printable(value);
  if (Array.isArray(value)) return value.map(inAll);
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [printable(name), inAll(inner)]));
}
