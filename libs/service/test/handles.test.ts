import { describe, expect, it } from '@jest/globals';
import { Controller } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Payload, Server } from '@nestjs/microservices';
import type { CustomTransportStrategy } from '@nestjs/microservices';
import { topics } from '@sluice/contracts';
import { Handles } from '@sluice/service';

/** Keeps the handlers that Nest found, as the bus transport does. */
class Listening extends Server implements CustomTransportStrategy {
  listen(callback: () => void): void {
    callback();
  }
  close(): void {}
  on(): void {}
  override unwrap<T>(): T {
    return undefined as T;
  }
  call(topic: string, ...given: readonly unknown[]): unknown {
    const handler = this.messageHandlers.get(topic) as ((...all: readonly unknown[]) => unknown) | undefined;
    return handler?.(...given);
  }
}

function methodOf({ prototype }: { readonly prototype: object }): PropertyDescriptor {
  return Object.getOwnPropertyDescriptor(prototype, 'take') as PropertyDescriptor;
}

describe('@Handles', () => {
  it('gives the method of each of its topics the message and its context, as they are', async () => {
    class Both {
      readonly name = 'its own';
      take(...given: readonly unknown[]): readonly unknown[] {
        return [this.name, ...given];
      }
    }
    Handles(topics.steps, topics.requests)(Both.prototype, 'take', methodOf(Both));
    Controller()(Both);

    const strategy = new Listening();
    const app = await NestFactory.createMicroservice(
      { module: Both, controllers: [Both] },
      { strategy, logger: false },
    );
    await app.listen();
    const [message, context] = [{ topic: topics.steps }, { attempt: 1 }];
    for (const topic of [topics.steps, topics.requests])
      expect(await strategy.call(topic, message, context)).toEqual(['its own', message, context]);
    await app.close();
  });

  it('says what to change where a parameter is decorated, which would have no effect', () => {
    class Decorated {
      take(): void {}
    }
    Payload()(Decorated.prototype, 'take', 0);
    expect(() => Handles(topics.steps)(Decorated.prototype, 'take', methodOf(Decorated))).toThrow(
      'take gets (message, context) as they are. Take the decorators off its parameters.',
    );
  });
});
