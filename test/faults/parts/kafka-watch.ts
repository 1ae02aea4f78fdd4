import type { Watch } from './tcp-proxy.ts';

/** What of Kafka's protocol the faults want to see; the numbers are its API keys. */
const calls: Readonly<Record<number, string>> = {
  0: 'Produce',
  8: 'OffsetCommit',
  9: 'OffsetFetch',
  11: 'JoinGroup',
  14: 'SyncGroup',
  22: 'InitProducerId',
  25: 'AddOffsetsToTxn',
  26: 'EndTxn',
  28: 'TxnOffsetCommit',
};

/** Told of a message before it goes on: `EndTxn request`, `EndTxn response`, …. True if it must not go on. */
export type Seen = (what: string, clientPort: number) => boolean;

/** Reads the frames of each connection to a broker. */
export function watchKafka(seen: Seen): Watch {
  return (clientPort) => {
    const asked = new Map<number, string>();
    const requests = frames(8, (head) => {
      const call = calls[head.readInt16BE(0)];
      if (call === undefined) return false;
      asked.set(head.readInt32BE(4), call);
      return seen(`${call} request`, clientPort);
    });
    const responses = frames(4, (head) => {
      const correlation = head.readInt32BE(0);
      const call = asked.get(correlation);
      asked.delete(correlation);
      return call !== undefined && seen(`${call} response`, clientPort);
    });
    return { toServer: (piece) => !requests(piece), toClient: (piece) => !responses(piece) };
  };
}

/**
 * Calls back with the first bytes of each frame (a length of four bytes, then the frame); true if any of the piece's
 * must not go on.
 */
function frames(headBytes: number, begins: (head: Buffer) => boolean): (piece: Buffer) => boolean {
  let rest = Buffer.alloc(0);
  let skip = 0;
  return (piece) => {
    const skipped = Math.min(skip, piece.length);
    skip -= skipped;
    rest = Buffer.concat([rest, piece.subarray(skipped)]);
    let stopped = false;
    while (rest.length >= 4 + headBytes) {
      const end = 4 + rest.readInt32BE(0);
      stopped = begins(rest.subarray(4, 4 + headBytes)) || stopped;
      skip = Math.max(0, end - rest.length);
      rest = rest.subarray(Math.min(end, rest.length));
      if (skip > 0) break;
    }
    return stopped;
  };
}
