/**
 * Control characters but ends of lines and tabs, and marks of direction: they steer a terminal, or show a reader
 * another text.
 */
const steering = /(?![\n\t])\p{Cc}|\p{Bidi_Control}/gu;

/** A stranger’s text without them: what the sender of a record wrote, or a server. */
export function printable(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(steering, '\uFFFD');
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
