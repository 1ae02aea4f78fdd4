import type { BusLog } from '../../port.js';

/** Disconnects what is not needed any more. A connection that cannot even be closed is dead, which was the wish. */
export async function disconnectQuietly(client: { disconnect(): Promise<void> }, log: BusLog): Promise<void> {
  try {
    await client.disconnect();
  } catch (error) {
    log('warn', 'A connection to Kafka could not be closed.', { error: String(error) });
  }
}
