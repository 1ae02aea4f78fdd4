import type { McpOffer, McpServer } from '@sluice/core';
import { createConnectionBroker, credentialForServers, formsOf } from '@sluice/connections';
import { createMcpHub } from '@sluice/tools';
import type { McpHub } from '@sluice/tools';
import { systemClock } from '@sluice/service';
import type { Environment, Log } from '@sluice/service';

/** The MCP servers of the configuration in force, behind one hub that lives as long as the process: other servers, other hub inside. */
export class McpServers implements McpHub {
  private hub: McpHub;
  private servers = '[]';
  /** For what Sluice itself asks the servers; calls bring credentials of their own. */
  private readonly broker = createConnectionBroker({
    secret: (variable) => this.environment.secret(variable),
    clock: systemClock,
  });

  constructor(
    private readonly environment: Pick<Environment, 'forChild' | 'secret'>,
    private readonly log: Log,
    private readonly onChange: (server: string) => void,
  ) {
    this.hub = this.create([]);
  }

  /** From now on these servers are the ones that are called; calls under way at others are ended. */
  async use(servers: readonly McpServer[]): Promise<void> {
    const wanted = JSON.stringify(servers);
    if (wanted === this.servers) return;
    const before = this.hub;
    this.hub = this.create(servers);
    this.servers = wanted;
    await before.close();
  }

  /** Asks these servers what they offer, and uses them from now on. */
  async offers(servers: readonly McpServer[]): Promise<readonly McpOffer[]> {
    await this.use(servers);
    return this.hub.discover();
  }

  discover(): Promise<readonly McpOffer[]> {
    return this.hub.discover();
  }

  call: McpHub['call'] = (server, tool, args, options) => this.hub.call(server, tool, args, options);

  status: McpHub['status'] = () => this.hub.status();

  close(): Promise<void> {
    return this.hub.close();
  }

  private create(servers: readonly McpServer[]): McpHub {
    return createMcpHub(servers, {
      environment: (names) => this.environment.forChild(names),
      credential: credentialForServers(this.broker),
      forms: formsOf,
      onChange: this.onChange,
      log: (server, message) => this.log.warn({ server }, message),
    });
  }
}
