import { describe, expect, it } from '@jest/globals';
import { EventPattern } from '@nestjs/microservices';
import { PARAM_ARGS_METADATA, TRANSPORT_METADATA } from '@nestjs/microservices/constants.js';
import { topics } from '@sluice/contracts';
import { Handles } from '@sluice/host';

class Theirs {
  @EventPattern<string[]>([topics.requests, topics.steps])
  take(): void {}
}

class Ours {
  @Handles(topics.requests, topics.steps)
  take(): void {}
}

/** What is written at the method itself; a transport that is not named is the same as none. */
function written(of: typeof Theirs | typeof Ours): ReadonlyMap<unknown, unknown> {
  const method = of.prototype.take;
  const keys = Reflect.getMetadataKeys(method).filter(
    (key: string) => key.startsWith('microservices:') && key !== TRANSPORT_METADATA,
  );
  return new Map(keys.map((key: unknown) => [key, Reflect.getMetadata(key, method) as unknown]));
}

describe('a method that handles topics', () => {
  it('is to Nest what @EventPattern would make of it', () => {
    expect(written(Theirs).size).toBeGreaterThan(2);
    expect(written(Ours)).toEqual(written(Theirs));
  });

  it('has parameters that need nothing, where Nest looks for them', () => {
    expect(Reflect.getMetadata(PARAM_ARGS_METADATA, Ours, 'take')).toEqual({});
  });
});
