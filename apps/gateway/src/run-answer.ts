import type { Response } from 'express';
import type { AgentResponse } from '@sluice/contracts';
import { whenGone } from './client-disconnect.js';
import { sendTagged } from './etag.js';
import { sendStream } from './send-stream.js';
import type { StreamFormat } from './stream-format.js';

/** Where a caller hears of its run: in one piece, or as it goes on. */
export interface RunAnswer {
  /** Calls when the caller has it all or is gone. */
  whenGone(act: () => void): void;
  /** Says where the run is found again. */
  isAt(address: string): void;
  /** 200: its end; 202: it goes on. */
  send(status: 200 | 202, body: object): void;
  /** Hears of the run’s end as a record, before the last chunks of its stream. */
  ended?(end: AgentResponse): void;
  /** Resolves when all is sent, or the caller is gone. */
  stream(chunks: Parameters<typeof sendStream>[1]): Promise<void>;
}

export function answerOver(response: Response, format: StreamFormat | null = null): RunAnswer {
  return {
    whenGone: (act) => whenGone(response, act),
    isAt: (address) => void response.set('location', address),
    send: (status, body) => sendTagged(response, status, body),
    stream: async (chunks) => {
      // A client may go away: the run goes on without it.
      await sendStream(response, chunks, format).catch(() => undefined);
    },
  };
}
