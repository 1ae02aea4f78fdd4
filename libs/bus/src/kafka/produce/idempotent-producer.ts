import type { Cluster } from '../kafkajs/cluster.js';
import type { TopicRecords } from './produce-batches.js';
import type { ProducerIdentity } from './record-batch.js';
import { Sender } from './sender.js';
import { attempts, untilItPasses } from './until-it-passes.js';

/**
 * Writes records once each, without a transaction. If a send fails, it is not known what was written: drop the
 * producer.
 */
export class IdempotentProducer {
  private readonly sender: Sender;
  private identity: ProducerIdentity | undefined;

  constructor(private readonly cluster: Cluster) {
    this.sender = new Sender({ cluster, transactionalId: null });
  }

  async connect(): Promise<void> {
    await this.cluster.connect();
    await this.cluster.refreshMetadataIfNecessary();
    this.identity = await untilItPasses(attempts.patient, async () => {
      const broker = await this.cluster.findControllerBroker();
      const { producerId, producerEpoch } = await broker.initProducerId({ transactionTimeout: 0 });
      return { producerId: BigInt(producerId), epoch: producerEpoch };
    });
  }

  async send(sends: readonly (readonly TopicRecords[])[]): Promise<void> {
    if (this.identity === undefined) throw new Error('The producer sends before it is connected.');
    for (const topics of sends) await this.sender.send(topics, { identity: this.identity, version: 7 });
  }

  disconnect(): Promise<void> {
    return this.cluster.disconnect();
  }
}
