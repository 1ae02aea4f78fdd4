import type { Broker } from '../cluster.js';
import { causes } from '../failure.js';
import type { Request } from './requests.js';

/** Sends a request that kafkajs does not know, as it sends its own. */
export async function sendTo<T>(broker: Broker, request: Request<T>): Promise<T> {
  try {
    return await broker.connectionPool.send(request);
  } catch (error) {
    // Its other connections are of the same broker.
    if (causes(error)[0]?.name === 'KafkaJSConnectionClosedError') await broker.disconnect();
    throw error;
  }
}
