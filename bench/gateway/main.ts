import { startInfrastructure } from '../kafka/infrastructure.js';
import { accepted } from './accepted.js';
import { listPages } from './pages.js';
import { startGatewayProcess } from './process.js';
import { streams } from './streams.js';

/** What a gateway takes: until a request is on the log, for a page of a list, for a thousand streams. */
export async function benchGateway(): Promise<void> {
  const parts = await startInfrastructure();
  try {
    const asked = await startGatewayProcess(parts);
    await accepted(parts, asked).finally(() => asked.close());
    const streaming = await startGatewayProcess(parts);
    await streams(streaming).finally(() => streaming.close());
    await listPages(parts);
  } finally {
    await parts.stop();
  }
}
