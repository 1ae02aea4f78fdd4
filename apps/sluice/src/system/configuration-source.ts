import { unwatchFile, watchFile } from 'node:fs';
import { formatFindings, formatProblems } from '@sluice/core';
import { topics } from '@sluice/contracts';
import { cedarProblems } from '@sluice/authorization';
import { builtInTools, loadToolTypes } from '@sluice/tools';
import { compileFile } from '@sluice/service';
import type { Compiled, Runtime } from '@sluice/service';
import type { McpServers } from '../../../executor/src/mcp-servers.js';

/** How often the file is looked at, in milliseconds. */
const lookEveryMs = 500;

/** Compiles the configuration file and publishes what is new: at start, when it or one of its tool files changes, when a missing MCP server appears. */
export class ConfigurationSource {
  private running: Promise<unknown> = Promise.resolve();
  private published: string | null = null;
  private readonly watched = new Set<string>();

  constructor(
    private readonly file: string,
    private readonly servers: McpServers,
    private readonly runtime: Runtime,
  ) {}

  /** The first time: a file with problems is an Error that lists them all, since there may be nothing else to work under. */
  async start(): Promise<void> {
    const compiled = await this.compile();
    if (compiled.configuration === null)
      throw new Error(`The configuration ${this.file} has mistakes:\n${formatProblems(compiled.problems)}`);
    await this.publish(compiled);
    this.watch(this.file);
  }

  /** Compiles once more. A bad file is refused with its problems, and what is in force stays. */
  again(why: string): Promise<void> {
    const next = this.running.then(async () => {
      try {
        const compiled = await this.compile();
        if (compiled.configuration !== null) await this.publish(compiled);
        else
          this.runtime.log.error(
            { problems: compiled.problems },
            `${this.file} has mistakes and is refused; the former configuration stays:\n${formatProblems(compiled.problems)}`,
          );
      } catch (error) {
        this.runtime.log.error(
          { error: (error as Error).message },
          `the configuration could not be compiled again (${why})`,
        );
      }
    });
    this.running = next;
    return next;
  }

  async close(): Promise<void> {
    for (const file of this.watched) unwatchFile(file);
    await this.running;
  }

  private compile(): Promise<Compiled> {
    return compileFile(this.file, {
      types: (folders) => loadToolTypes(folders, builtInTools),
      cedarProblems,
      discover: (servers) => this.servers.offers(servers),
    });
  }

  private async publish({ configuration, findings }: Compiled): Promise<void> {
    for (const { file } of configuration?.tools ?? []) if (file !== undefined) this.watch(file.path);
    if (configuration === null || configuration.version === (this.published ?? (await this.lastVersion()))) return;
    const { version } = configuration;
    const record = {
      version,
      configuration: JSON.stringify(configuration),
      source: this.file,
      compiledAt: this.runtime.clock.now(),
    };
    await this.runtime.bus.publish([{ topic: topics.config, key: 'config', record }]);
    this.published = version;
    this.runtime.log.info({ config_version: version, findings: findings.length }, 'a new configuration is in force');
    if (findings.length > 0) this.runtime.log.debug(formatFindings(findings));
  }

  private watch(file: string): void {
    if (this.watched.has(file)) return;
    this.watched.add(file);
    watchFile(file, { interval: lookEveryMs, persistent: false }, () => void this.again(`${file} changed`));
  }

  private async lastVersion(): Promise<string | null> {
    let last: string | null = null;
    for await (const { record } of this.runtime.bus.read([topics.config], { from: 'start' })) last = record.version;
    return last;
  }
}
