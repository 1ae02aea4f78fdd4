import type { Broker } from '../kafkajs/cluster.js';
import { causes } from '../kafkajs/failure.js';
import type { Request } from './requests.js';

/** Sends a request that kafkajs does not know, as it sends its own. */
export function sendTo<T>(broker: Broker, request: Request<T>): Promise<T> {
  return orDisconnect(broker, () => broker.connectionPool.send(request));
}

/** When a connection turns out to be closed, those beside it are closed too: they are of the same broker. */
export async function orDisconnect<T>(broker: Pick<Broker, 'disconnect'>, send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (error) {
    if (causes(error)[0]?.name === 'KafkaJSConnectionClosedError') await broker.disconnect();
    throw error;
  }
}
