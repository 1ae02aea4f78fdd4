import { allTopics } from '@sluice/contracts';
import type { Topic } from '@sluice/contracts';

/** What things are called on the broker and in the registry: the deployment's prefix before everything. */
export class Names {
  private readonly topics: ReadonlyMap<string, Topic>;

  constructor(private readonly prefix: string) {
    this.topics = new Map(allTopics.map((topic) => [this.topic(topic), topic]));
  }

  topic(topic: Topic): string {
    return this.prefix + topic;
  }

  /** Undefined for a topic of another prefix. */
  topicOf(name: string): Topic | undefined {
    return this.topics.get(name);
  }

  group(group: string): string {
    return this.prefix + group;
  }

  subject(subject: string): string {
    return this.prefix + subject;
  }

  /** The transactional id of a consumer’s writer: by it, the next owner ends what that consumer left open. */
  writer(group: string, writer: string): string {
    return `${this.group(group)}.${writer}`;
  }

  publisher(instance: string): string {
    return `${this.prefix}publish.${instance}`;
  }
}
