import type { Server, ServerContext } from '@modelcontextprotocol/server';
import { logLevels } from '@sluice/core';
import type { JsonValue, LogLevel } from '@sluice/core';
import type { Connection } from './connection.js';

/**
 * What a client gets to read of what happens: from the level on that it asked for, and nothing where it asked for
 * none.
 */
export class ClientLog {
  /** In the newer era each request says its own, which the SDK goes by. */
  private from = Infinity;

  constructor(server: Server, { level: before, keepLevel }: Pick<Connection, 'level' | 'keepLevel'>) {
    if (before !== null) this.from = logLevels.indexOf(before);
    server.setRequestHandler('logging/setLevel', async ({ params: { level } }) => {
      this.from = logLevels.indexOf(level);
      await keepLevel(level);
      return {};
    });
  }

  /** `logger` is the one that a tool’s server named; null where it named none. */
  async write(
    { mcpReq }: ServerContext,
    level: LogLevel,
    data: JsonValue,
    logger: string | null = 'tools',
  ): Promise<void> {
    if (mcpReq.envelope === undefined && logLevels.indexOf(level) < this.from) return;
    await mcpReq.log(level, data, logger ?? undefined);
  }
}
