import { hash } from 'node:crypto';

/** Hexadecimal, over the text’s UTF-8 bytes. */
export function sha256(text: string): string {
  return hash('sha256', text);
}
