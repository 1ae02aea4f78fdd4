import { Kafka, logLevel, Partitioners } from 'kafkajs';
import type { Producer } from 'kafkajs';

/**
 * An upstream that publishes a question again and again, whatever happens to the stack; what was not acknowledged is
 * sent once more.
 */
export class Asking {
  readonly asked: string[] = [];
  private stopping = false;
  private readonly loop: Promise<void>;

  private constructor(
    private readonly producer: Producer,
    everyMs: number,
  ) {
    this.loop = this.ask(everyMs);
  }

  static async start(broker: string, everyMs: number): Promise<Asking> {
    const kafka = new Kafka({ clientId: 'asking', brokers: [broker], logLevel: logLevel.NOTHING });
    const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
    await producer.connect();
    return new Asking(producer, everyMs);
  }

  async stop(): Promise<readonly string[]> {
    this.stopping = true;
    await this.loop;
    await this.producer.disconnect();
    return this.asked;
  }

  private async ask(everyMs: number): Promise<void> {
    while (!this.stopping) {
      await this.send(`stack-${this.asked.length}`);
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  }

  private async send(id: string): Promise<void> {
    const request = { request_id: id, session_id: id, question: 'What is the capital of Japan?', group: ['read-only'] };
    const messages = [{ key: id, value: JSON.stringify(request) }];
    for (;;) {
      try {
        await this.producer.send({ topic: 'agent.requests', messages });
        this.asked.push(id);
        return;
      } catch {
        // The broker is away, as it has to be now and then; a copy that did arrive is dropped by its id.
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
    }
  }
}
