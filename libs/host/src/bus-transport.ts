import { Catch } from '@nestjs/common';
import type { RpcExceptionFilter } from '@nestjs/common';
import { Server } from '@nestjs/microservices';
import type { BaseRpcContext, CustomTransportStrategy } from '@nestjs/microservices';
import { isObservable, lastValueFrom, throwError } from 'rxjs';
import type { Observable } from 'rxjs';
import { isTopic } from '@sluice/contracts';
import type { Topic } from '@sluice/contracts';
import type { Bus, Consumer, Handler, HandlerContext, Incoming, Outgoing, Subscription } from '@sluice/bus';
import { inHop } from './traces/hop.js';
import type { Traces } from './traces/traces.js';

/** Subscribes Nest controllers to the bus: the pattern of a handler (handles.ts) is the topic. */
export class BusTransport extends Server implements CustomTransportStrategy {
  /** The bus decides about failures, so Nest has nothing to report. */
  override readonly propagatesEventHandlerErrors = true;
  private consumer: Consumer | undefined;

  constructor(
    private readonly bus: Bus,
    private readonly traces: Traces,
    private readonly subscription: Omit<Subscription, 'topics' | 'handle'> & {
      readonly drainMs: number;
      /**
       * Work for when the outputs of a record are on the log. It is kept until then, so it should not keep the
       * record.
       */
      readonly through: (message: Incoming) => () => void;
      /** Whether a record is any of the service’s business: what is not is skipped, and no hop of its run. */
      readonly concerns: (message: Incoming) => boolean;
    },
  ) {
    super();
  }

  listen(callback: (error?: unknown) => void): void {
    this.subscribe().then(
      (consumer) => {
        this.consumer = consumer;
        callback();
      },
      (error: unknown) => callback(error),
    );
  }

  async close(): Promise<void> {
    await this.consumer?.stop(this.subscription.drainMs);
    this.consumer = undefined;
  }

  /** The running consumer; throws before the transport listens. */
  running(): Consumer {
    if (this.consumer === undefined) throw new Error(`The group ${this.subscription.group} is not subscribed.`);
    return this.consumer;
  }

  /** The topics of its controllers, once it listens. */
  get topics(): readonly Topic[] {
    return [...this.messageHandlers.keys()].filter(isTopic);
  }

  override on(): never {
    throw new Error('The bus has no events of its own to listen to; readiness says how it is.');
  }

  override unwrap<T>(): T {
    return this.bus as T;
  }

  private async subscribe(): Promise<Consumer> {
    const handlers = new Map<Topic, Handler>();
    for (const [pattern, handler] of this.messageHandlers) {
      if (!isTopic(pattern))
        throw new Error(`A handler is for '${pattern}', which is no topic of agent.*; see libs/contracts/src/topics.`);
      handlers.set(pattern, (message, context) => handler(message, context as never).then(outputs));
    }
    const { group, through, concerns } = this.subscription;
    const handle = async (message: Incoming, context: HandlerContext): Promise<readonly Outgoing[]> => {
      if (!concerns(message)) return [];
      const done = through(message);
      const written = await inHop(this.traces, { group, message, context }, (own) =>
        (handlers.get(message.topic) as Handler)(message, own),
      );
      // What led to nothing leaves nothing for its commit, so that on Kafka no transaction is made for it alone.
      if (written.length === 0) done();
      else context.afterCommit(done);
      return written;
    };
    return this.bus.subscribe({ ...this.subscription, topics: [...handlers.keys()], handle });
  }
}

function outputs(returned: unknown): readonly Outgoing[] | Promise<readonly Outgoing[]> {
  return isObservable(returned)
    ? lastValueFrom(returned as Observable<readonly Outgoing[]>)
    : (returned as readonly Outgoing[]);
}

/** Hands every exception on to the bus as it is: Nest's own filter would log it and put another in its place. */
@Catch()
export class PassOnFilter implements RpcExceptionFilter {
  catch(exception: unknown): Observable<never> {
    return throwError(() => exception);
  }
}

export type { BaseRpcContext };
