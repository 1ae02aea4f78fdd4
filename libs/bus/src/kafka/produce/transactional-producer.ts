import type { Broker, Cluster } from '../kafkajs/cluster.js';
import type { TopicRecords } from './produce-batches.js';
import { Coordinator, coordinates } from './coordinator.js';
import type { ProducerIdentity } from './record-batch.js';
import { apiKeys, endTxn, finalizedFeatures, txnOffsetCommit } from './requests.js';
import type { OffsetCommit, PartitionBatch } from './requests.js';
import { sendTo } from './send-to.js';
import { Sender } from './sender.js';
import { attempts, untilItPasses } from './until-it-passes.js';

interface TransactionalProducerOptions {
  readonly cluster: Cluster;
  readonly transactionalId: string;
  /** A transaction that is open for so long is aborted by the broker. */
  readonly transactionTimeoutMs: number;
}

/**
 * One producer of transactions, one after another: offsets and records join the transaction that is open, and
 * `commit` or `abort` ends it. If anything but `sendOffsets` fails, it is not known how far the transaction came:
 * `connect` again, which ends it.
 *
 * A broker with transactions of version 2 (Kafka 4.0, KIP-890) adds an offset or a partition with the first request
 * that names it, and gives the producer a new epoch with each end: three requests instead of five, and what a
 * transaction left on its way cannot arrive in the next one. Others are added to it beforehand.
 */
export class TransactionalProducer {
  private readonly cluster: Cluster;
  private readonly coordinator: Coordinator;
  private readonly groups = new Map<string, Coordinator>();
  private readonly sender: Sender;
  private identity: ProducerIdentity = { producerId: -1n, epoch: -1 };
  /** Whether each transaction has an epoch of its own, so that nothing late of one gets into the next: version 2. */
  private _hasEpochs = false;
  /** The partitions, and the groups, that the broker has added to the transaction. */
  private readonly announced = new Set<string>();

  constructor(private readonly options: TransactionalProducerOptions) {
    const { cluster, transactionalId } = options;
    this.cluster = cluster;
    this.coordinator = new Coordinator(cluster, coordinates.transaction, transactionalId);
    this.sender = new Sender({ cluster, transactionalId });
  }

  /**
   * Connects, ends what was left open under the transactional id, by this producer or by another one, and lets no
   * other write any more.
   */
  async connect(): Promise<void> {
    const { transactionalId, transactionTimeoutMs: transactionTimeout } = this.options;
    await this.cluster.connect();
    await untilItPasses(attempts.patient, () =>
      this.coordinator.ask(async (broker) => {
        const { producerId, producerEpoch } = await broker.initProducerId({ transactionalId, transactionTimeout });
        this.identity = { producerId: BigInt(producerId), epoch: producerEpoch };
        this._hasEpochs = await hasVersion2(broker);
      }),
    );
    this.sender.restart();
    this.announced.clear();
  }

  /**
   * May be asked again as it is if it fails with what may pass: the offsets go with the transaction once. Refused if
   * the member is one no more.
   */
  async sendOffsets(commit: OffsetCommit): Promise<void> {
    const { groupId } = commit;
    const version = this._hasEpochs ? 5 : 3;
    const groupPlace = `group ${groupId}`;
    if (!this._hasEpochs && !this.announced.has(groupPlace)) {
      await this.coordinator.ask((broker) => broker.addOffsetsToTxn({ ...this.writer, groupId }));
      this.announced.add(groupPlace);
    }
    const request = txnOffsetCommit(version, this.options.transactionalId, this.identity, commit);
    await this.groupOf(groupId).ask((broker) => sendTo(broker, request));
  }

  /** Sends one after another. */
  async send(sends: readonly (readonly TopicRecords[])[]): Promise<void> {
    const options = {
      identity: this.identity,
      version: this._hasEpochs ? 12 : 7,
      announce: (batches: readonly PartitionBatch[], leaders: number) => this.announce(batches, leaders),
    } as const;
    for (const topics of sends) await this.sender.send(topics, options);
  }

  get hasEpochs(): boolean {
    return this._hasEpochs;
  }

  commit(): Promise<void> {
    return this.end(true);
  }

  /** What joined the transaction never was. */
  abort(): Promise<void> {
    return this.end(false);
  }

  /**
   * With epochs a coordinator that moved is met here first. Asked again, it knows the end by its epoch, and does it
   * once; without them, one that comes late would end the next transaction.
   */
  private async end(committed: boolean): Promise<void> {
    const { transactionalId } = this.options;
    await untilItPasses(this.hasEpochs ? attempts.brief : 1, () =>
      this.coordinator.ask(async (broker) => {
        if (!this.hasEpochs) await broker.endTxn({ ...this.writer, transactionResult: committed });
        else this.identity = await sendTo(broker, endTxn(transactionalId, this.identity, committed));
      }),
    );
    if (this.hasEpochs) this.sender.restart();
    this.announced.clear();
  }

  disconnect(): Promise<void> {
    return this.cluster.disconnect();
  }

  /**
   * Brokers with version 2 add partitions by themselves. But where several do so at the same time, the coordinator
   * takes one and lets the others wait for 20 ms: then they are added beforehand, all at once.
   */
  private async announce(batches: readonly PartitionBatch[], leaders: number): Promise<void> {
    if (this._hasEpochs && leaders === 1) return;
    const fresh = batches.filter((batch) => !this.announced.has(placeOf(batch)));
    if (fresh.length === 0) return;
    const topics = [...Map.groupBy(fresh, ({ topic }) => topic)].map(([topic, ofTopic]) => ({
      topic,
      partitions: ofTopic.map(({ partition }) => partition),
    }));
    await this.coordinator.ask((broker) => broker.addPartitionsToTxn({ ...this.writer, topics }));
    for (const batch of fresh) this.announced.add(placeOf(batch));
  }

  private groupOf(groupId: string): Coordinator {
    const known = this.groups.get(groupId);
    if (known !== undefined) return known;
    const group = new Coordinator(this.cluster, coordinates.group, groupId);
    this.groups.set(groupId, group);
    return group;
  }

  private get writer() {
    const { producerId, epoch } = this.identity;
    return {
      transactionalId: this.options.transactionalId,
      producerId: String(producerId),
      producerEpoch: epoch,
    };
  }
}

function placeOf({ topic, partition }: PartitionBatch): string {
  return `${topic}/${partition}`;
}

/** Whether the whole cluster has it. Asked only where the requests that it takes are known. */
async function hasVersion2(broker: Broker): Promise<boolean> {
  const knows = (apiKey: number, version: number): boolean => (broker.versions?.[apiKey]?.maxVersion ?? -1) >= version;
  const known =
    knows(apiKeys.apiVersions, 3) &&
    knows(apiKeys.produce, 12) &&
    knows(apiKeys.txnOffsetCommit, 5) &&
    knows(apiKeys.endTxn, 5);
  if (!known) return false;
  return ((await sendTo(broker, finalizedFeatures())).get('transaction.version') ?? 0) >= 2;
}
