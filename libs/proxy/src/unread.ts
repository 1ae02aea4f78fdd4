import type { UnreadReason } from '@sluice/discovery';

/** The header of the answer by which a client learns that its request was passed on unread, and why. */
export const unreadHeader = 'x-sluice-unread';

/** What is wrong with the body, and what to send instead. */
export const unreadMessages: Readonly<Record<UnreadReason, string>> = {
  unknown_encoding:
    'The body’s content-encoding is not one that is read. Send it plain, or with gzip, deflate, br or zstd.',
  bad_encoding: 'The body is not what its content-encoding says. Send it plain, or compress it again.',
  too_large: 'The body is longer than 64 MB, as it came or without its content-encoding. Send a shorter conversation.',
  unreadable: 'The body cannot be read as a request of this API. Send JSON as the provider documents it.',
};
