import type { StoredContent } from '@sluice/core';

/** What is written beside content: what it is, and with which keys it was hashed and sealed. */
export interface Head extends Omit<StoredContent, 'hash'> {
  /** Id of the key that its hash is made with. */
  readonly hashKey: string;
  /** Milliseconds since the epoch; absent in heads of earlier versions, which mean `writtenAt`. */
  readonly firstWrittenAt?: number;
  readonly seal: { readonly key: string; readonly salt: string } | null;
}

const longestType = 255;

/** A media type that a header and a head can have; what is none is bytes. */
export function mediaType(type: string): string {
  const isOne =
    type.length <= longestType && /^[!#$%&'*+.^`|~\w-]+\/[!#$%&'*+.^`|~\w-]+(\s*;[\x20-\x7e]*)?$/.test(type);
  return isOne ? type : 'application/octet-stream';
}

export function writeHead(head: Head): string {
  return JSON.stringify({ format: 1, ...head });
}

/** Null for what is no head of a format that is known. */
export function readHead(text: string): Head | null {
  try {
    const { format, ...head } = JSON.parse(text) as Head & { readonly format: number };
    return format === 1 ? head : null;
  } catch {
    return null;
  }
}
