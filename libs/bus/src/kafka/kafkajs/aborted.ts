import Broker from 'kafkajs/src/broker/index.js';
import { once } from './once.js';

/** A record as kafkajs decodes it. */
interface Decoded {
  readonly offset: string;
  readonly key: Buffer | null;
  readonly batchContext?: { readonly producerId: string; readonly inTransaction: boolean };
  /** kafkajs gives none of these out, and counts them as read. */
  isControlRecord?: boolean;
}

interface Fetched {
  readonly messages: readonly Decoded[];
  abortedTransactions?: readonly { readonly firstOffset: string; readonly producerId: string }[] | null;
}

/** The key of a control record is its version and its kind, two bytes each: this kind ends an aborted transaction. */
const abortMarker = 0;

/**
 * kafkajs 2.2.4 gives out records of aborted transactions: it takes the broker's list of these for one in the order
 * in which they began, and it is in the order in which they ended; and it looks at one of the list for each record,
 * though a fetch may begin in the midst of several. So a record whose owner was killed would be handled beside the
 * one that takes its place. Here they are found before kafkajs looks.
 */
export const passOverAborted = once(() => {
  const { fetch } = Broker.prototype;
  Broker.prototype.fetch = async function (this: Broker, request) {
    const answer = await fetch.call(this, request);
    for (const { partitions } of answer.responses) for (const partition of partitions) mark(partition as Fetched);
    return answer;
  };
});

/** Marks what belongs to an aborted transaction as no record, as the transaction's own end is. */
function mark(fetched: Fetched): void {
  const begun = [...(fetched.abortedTransactions ?? [])]
    .map(({ firstOffset, producerId }) => ({ first: Number(firstOffset), producerId }))
    .sort((a, b) => a.first - b.first);
  if (begun.length === 0) return;
  const aborting = new Set<string>();
  for (const message of fetched.messages) {
    for (; begun[0] !== undefined && begun[0].first <= Number(message.offset); begun.shift())
      aborting.add(begun[0].producerId);
    const { batchContext } = message;
    if (batchContext === undefined || !batchContext.inTransaction || !aborting.has(batchContext.producerId)) continue;
    if (!message.isControlRecord) message.isControlRecord = true;
    else if (message.key?.readInt16BE(2) === abortMarker) aborting.delete(batchContext.producerId);
  }
  fetched.abortedTransactions = [];
}
