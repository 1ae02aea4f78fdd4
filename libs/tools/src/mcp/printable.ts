/** A stranger's text without what would steer a terminal or hide from a reader: control characters but line ends and tabs, and marks of direction. */
export function printable(text: string): string {
  // eslint-disable-next-line no-control-regex -- these are the ones it takes out
  return text
    .replaceAll('\r\n', '\n')
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '\uFFFD');
}
