import 'reflect-metadata';
import { Controller, Inject, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ClientKafka, ClientsModule, EventPattern, Payload, Transport } from '@nestjs/microservices';
import { Partitioners } from 'kafkajs';
import { lastValueFrom } from 'rxjs';

/**
 * What a Nest user gets without Sluice: ServerKafka with JSON, one handler that emits one event for each it receives.
 * At most once or at least once, never exactly once.
 */
export async function stockNest(
  brokers: readonly string[],
  input: string,
  output: string,
  payload: object,
): Promise<() => Promise<void>> {
  const options = {
    client: { clientId: 'bench-nest', brokers: [...brokers], logLevel: 0 },
    producer: { createPartitioner: Partitioners.DefaultPartitioner },
  };

  @Controller()
  class EchoController {
    constructor(@Inject('KAFKA') private readonly kafka: ClientKafka) {}

    @EventPattern<string>(input)
    async echo(@Payload() received: { session_id: string }): Promise<void> {
      await lastValueFrom(this.kafka.emit(output, { key: received.session_id, value: JSON.stringify(payload) }));
    }
  }

  @Module({
    imports: [ClientsModule.register([{ name: 'KAFKA', transport: Transport.KAFKA, options }])],
    controllers: [EchoController],
  })
  class EchoModule {}

  const app = await NestFactory.createMicroservice(EchoModule, {
    transport: Transport.KAFKA,
    options: { ...options, consumer: { groupId: `nest-${input}` }, subscribe: { fromBeginning: true } },
    logger: false,
  });
  await app.listen();
  return () => app.close();
}
