import { access, allTopics } from '@sluice/contracts';
import type { Access, Topic } from '@sluice/contracts';
import type { CheckResult } from '@sluice/core';
import type { Admin } from 'kafkajs';
import { clusterOf } from '../kafkajs/cluster.js';
import type { Cluster } from '../kafkajs/cluster.js';
import { consumerRetry } from '../kafkajs/clients.js';
import type { Clients } from '../kafkajs/clients.js';
import { brokerFault, causes } from '../kafkajs/failure.js';
import { askOfAll } from '../kafkajs/narrow-metadata.js';
import { Names } from '../names.js';
import type { KafkaBusOptions } from '../options.js';
import { coordinates } from '../produce/coordinator.js';
import { cursorsAt, fetchNext } from '../read/fetch.js';
import { describeTopics } from './describe-topics.js';
import { examineRegistry } from './examine-registry.js';
import type { ExaminedRegistry } from './examine-registry.js';
import { findingsOf } from './findings.js';
import { topicConfig } from './topics.js';

/** A cluster and its registry, looked at without a change to them. Each part rejects with a sentence, or says it. */
export interface KafkaExamination {
  broker(): Promise<CheckResult>;
  topics(): Promise<CheckResult & { readonly isWhole: boolean }>;
  rights(): Promise<CheckResult>;
  registry(): Promise<ExaminedRegistry>;
  close(): Promise<void>;
}

/** Requests that transactions need, by the numbers of the protocol, with their names. */
const needed: Readonly<Record<number, string>> = {
  22: 'InitProducerId',
  24: 'AddPartitionsToTxn',
  25: 'AddOffsetsToTxn',
  26: 'EndTxn',
  32: 'DescribeConfigs',
};

const rightsAction = '`sluice topics --acls` prints what each role needs.';

/** The examination on clients that the caller makes; see `examineKafka`. */
export function examinationOn(clients: Clients, options: KafkaBusOptions): KafkaExamination {
  return new Examination(clients, options);
}

class Examination implements KafkaExamination {
  private readonly names: Names;
  private readonly admin: Admin;
  private readonly cluster: Cluster;
  private connected: Promise<void> | undefined;
  private clustered: Promise<void> | undefined;

  constructor(
    clients: Clients,
    private readonly options: KafkaBusOptions,
  ) {
    this.names = new Names(options.prefix);
    this.admin = clients().admin({ retry: consumerRetry });
    this.cluster = clusterOf(clients());
  }

  broker(): Promise<CheckResult> {
    return this.explained('The log cannot be opened', async () => {
      const { brokers, clusterId } = await askOfAll(() => this.admin.describeCluster());
      await this.connectCluster();
      const { versions } = await this.cluster.findControllerBroker();
      const lacking = Object.entries(needed).filter(([request]) => versions?.[Number(request)] === undefined);
      const count = brokers.length === 1 ? 'one broker' : `${brokers.length} brokers`;
      if (lacking.length === 0)
        return { outcome: 'ok', detail: `Kafka answers: ${count}, cluster ${clusterId}, with transactions.` };
      return {
        outcome: 'failed',
        detail: `Kafka answers, but does not know ${lacking.map(([, name]) => name).join(', ')}.`,
        action: 'Run a broker that knows transactions: Apache Kafka 2.5 or later, or one that is compatible.',
      };
    });
  }

  topics(): Promise<CheckResult & { readonly isWhole: boolean }> {
    return this.explained('The topics cannot be looked at', async () => {
      const there = await this.topicsThere();
      const absent = allTopics.filter((topic) => !there.includes(topic));
      if (absent.length > 0) return { ...(await this.tryToCreate(absent)), isWhole: false };
      const counts = await this.partitions(there);
      const described = await describeTopics(this.admin, this.names);
      const found = new Map(
        [...described].map(([topic, entries]) => [
          topic,
          {
            settings: new Map(entries.map(({ configName, configValue }) => [configName, configValue])),
            partitions: counts.get(topic) ?? 0,
          },
        ]),
      );
      const findings = findingsOf(found, this.names, this.options.topics);
      const [first] = [...findings.filter(({ endangers }) => endangers), ...findings];
      const isOne = (counts.get('agent.config') ?? 1) <= 1;
      if (!isOne)
        return {
          ...{ outcome: 'failed', isWhole: false },
          detail: `The topic ${this.names.topic('agent.config')} has ${counts.get('agent.config')} partitions and must have one.`,
          action: 'Create it again with one, and apply the configuration again.',
        };
      if (first === undefined)
        return {
          ...{ outcome: 'ok', isWhole: true },
          detail:
            described.size === 0
              ? `All ${allTopics.length} topics are there; this user may not see their settings.`
              : `All ${allTopics.length} topics are there, with the partitions and settings that Sluice needs.`,
        };
      const others = findings.length === 1 ? '' : ` ${findings.length - 1} more: \`sluice topics --check\` lists them.`;
      return { outcome: first.endangers ? 'failed' : 'warning', isWhole: true, detail: `${first.sentence}${others}` };
    });
  }

  /** What can be tried without writing: to see and read each topic, and to find the groups and a transaction. */
  rights(): Promise<CheckResult> {
    return this.explained('The rights cannot be looked at', async () => {
      const there = await this.topicsThere();
      const refused: string[] = [];
      const attempt = async (what: string, work: () => Promise<unknown>): Promise<void> => {
        try {
          await work();
        } catch (error) {
          if (!isRefused(error)) throw error;
          refused.push(what);
        }
      };
      await this.connectCluster();
      const groups = Object.values<Access>(access).flatMap(({ group }) => (group === null ? [] : [group]));
      const clock = this.options.clock;
      const cluster = this.cluster;
      await Promise.all([
        ...there.map((topic) =>
          attempt(`read ${this.names.topic(topic)}`, async () => {
            const cursors = await cursorsAt(cluster, this.names, [topic], 'end');
            await fetchNext(cluster, cursors, { waitMs: 0, clock });
          }),
        ),
        ...groups.map((group) =>
          attempt(`see the group ${this.names.group(group)}`, () => this.coordinator(this.names.group(group), 'group')),
        ),
        attempt(`use transactional ids that begin with ${this.names.publisher('')}`, () =>
          this.coordinator(this.names.publisher('doctor'), 'transaction'),
        ),
      ]);
      if (refused.length === 0)
        return {
          outcome: 'ok',
          detail: `This user may see and read ${there.length === allTopics.length ? 'every topic' : 'the topics that are there'}, and find the groups and transactions. Writing was not tried.`,
        };
      const [first = '', ...others] = refused;
      return {
        outcome: 'warning',
        detail: `This user may not ${first}${others.length === 0 ? '' : `, nor ${others.length} other things such as ${others[0]}`}.`,
        action: `Where the role of this process needs it, allow it: ${rightsAction}`,
      };
    });
  }

  registry(): Promise<ExaminedRegistry> {
    return examineRegistry(this.options.registry, this.names);
  }

  async close(): Promise<void> {
    await Promise.allSettled([this.admin.disconnect(), this.cluster.disconnect()]);
  }

  /** The broker validates the request as if it were to be done, and does nothing. */
  private async tryToCreate(absent: readonly Topic[]): Promise<CheckResult> {
    const named =
      absent.length === 1 ? `The topic ${this.names.topic(absent[0] as Topic)} is` : `${absent.length} topics are`;
    try {
      await this.admin.createTopics({
        validateOnly: true,
        waitForLeaders: false,
        topics: absent.map((topic) => topicConfig(topic, this.names, this.options.topics)),
      });
    } catch (error) {
      const { message } = brokerFault('They cannot be created', this.options.brokers, error);
      const detail = `${named} not there, or this user may not see ${absent.length === 1 ? 'it' : 'them'}. ${message}`;
      return { outcome: 'failed', detail, action: `Create them with the user that may, or allow it: ${rightsAction}` };
    }
    return {
      outcome: 'warning',
      detail: `${named} not there yet.`,
      action: 'Nothing: the first service creates them.',
    };
  }

  private async topicsThere(): Promise<readonly Topic[]> {
    const listed = new Set(await askOfAll(() => this.admin.listTopics()));
    return allTopics.filter((topic) => listed.has(this.names.topic(topic)));
  }

  private async partitions(topics: readonly Topic[]): Promise<ReadonlyMap<Topic, number>> {
    const metadata = await this.admin.fetchTopicMetadata({ topics: topics.map((topic) => this.names.topic(topic)) });
    const counts = new Map(metadata.topics.map(({ name, partitions }) => [name, partitions.length]));
    return new Map(topics.map((topic) => [topic, counts.get(this.names.topic(topic)) ?? 0]));
  }

  /** kafkajs knows the brokers once it has asked for them, and asks for them with the topics that it was given. */
  private connectCluster(): Promise<void> {
    return (this.clustered ??= this.cluster.connect().then(() => this.cluster.refreshMetadata()));
  }

  private coordinator(groupId: string, kind: keyof typeof coordinates): Promise<unknown> {
    return this.cluster.findGroupCoordinatorMetadata({ groupId, coordinatorType: coordinates[kind] });
  }

  private async explained<T>(doing: string, work: () => Promise<T>): Promise<T> {
    try {
      await (this.connected ??= this.admin.connect());
      return await work();
    } catch (error) {
      throw brokerFault(doing, this.options.brokers, error);
    }
  }
}

function isRefused(error: unknown): boolean {
  return causes(error).some(({ type }) => type?.endsWith('AUTHORIZATION_FAILED') === true);
}
