import type { LoggingLevel, Server, ServerContext } from '@modelcontextprotocol/server';

const levels: readonly LoggingLevel[] = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
];

/**
 * What a client gets to read of what happens: from the level on that it asked for, and nothing where it asked for
 * none.
 */
export class ClientLog {
  /** In the newer era each request says its own, which the SDK goes by. */
  private from = Infinity;

  constructor(server: Server) {
    server.setRequestHandler('logging/setLevel', ({ params: { level } }) => {
      this.from = levels.indexOf(level);
      return {};
    });
  }

  async write({ mcpReq }: ServerContext, level: LoggingLevel, data: object): Promise<void> {
    if (mcpReq.envelope === undefined && levels.indexOf(level) < this.from) return;
    await mcpReq.log(level, data, 'tools');
  }
}
