/** Control characters but line ends and tabs, and marks of direction: they steer a terminal, or hide from a reader. */
const steering = /(?![\n\t])\p{Cc}|[\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** A stranger's text without them. */
export function printable(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(steering, '\uFFFD');
}
