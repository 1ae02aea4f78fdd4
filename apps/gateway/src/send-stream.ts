import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';
import { leaveStuck } from './client-disconnect.js';
import { encoded } from './stream/run-stream.js';
import type { StreamFormat } from './stream-format.js';
import { uiMessageBytes, uiMessageHeaders } from './doors/ui-message.js';

/** Answers 200 with the chunks, each as it comes. Rejects where they or the connection break off. */
export async function sendStream(
  response: Response,
  chunks: Parameters<typeof encoded>[0],
  format: StreamFormat | null = null,
): Promise<void> {
  const isUi = format === 'ui-message';
  const { body, headers } = isUi
    ? { body: ReadableStream.from(uiMessageBytes(chunks)), headers: uiMessageHeaders }
    : encoded(chunks);
  response.status(200).set(headers).flushHeaders();
  leaveStuck(response);
  await pipeline(Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]), response);
}
