import { unwatchFile, watchFile } from 'node:fs';
import { formatFindings, formatProblems, namesBefore, pinKeyOf } from '@sluice/configuration';
import { logNames } from '@sluice/core';
import type { Configuration, ConfiguredTool, McpOffer, McpServer } from '@sluice/core';
import type { NamesBefore, Pins } from '@sluice/configuration';
import { cedarClaims, cedarProblems } from '@sluice/authorization';
import { keyFileProblem } from '@sluice/identity';
import { loadToolTypes } from '@sluice/sources';
import { argumentsProblem } from '@sluice/tools';
import { builtInTools } from '@sluice/packs';
import { applyConfiguration, configurationsOn, inForceOf, isApplied } from '@sluice/run';
import type { Applying } from '@sluice/run';
import { compileFile } from '@sluice/host';
import type { Acceptance, Compiled, Runtime } from '@sluice/host';
import type { McpServers } from '../../../executor/src/mcp-servers.js';

/** How often the file is looked at, in milliseconds. */
const lookEveryMs = 500;

/**
 * Why it is compiled once more: the file or a tool's file was written, or a server is back or says that its tools
 * have changed.
 */
type Cause = 'file' | 'tool file' | 'server';

/**
 * Compiles the configuration file and publishes what is new: at start, when it or one of its tool files changes, when
 * a missing MCP server appears. Who starts or saves the configuration takes MCP tools as they are then; whatever else
 * happens only ever brings tools that were missing, and what a server offers otherwise than before is held back.
 */
export class ConfigurationSource {
  private running: Promise<unknown> = Promise.resolve();
  private pins = new Map<string, string>();
  /** What each server said when it was last there, by its entry in the configuration, as JSON. */
  private offers = new Map<string, McpOffer>();
  private heldBack = '';
  private refused = '';
  private published: string | null = null;
  /** Names are kept from one version to the next: clients of MCP know tools by them. */
  private names: NamesBefore | undefined;
  private readonly watched = new Set<string>();

  constructor(
    private readonly file: string,
    private readonly servers: McpServers,
    private readonly runtime: Runtime,
  ) {}

  /**
   * The first time: a file with problems is an Error that lists them all, since there may be nothing else to work
   * under.
   */
  async start(): Promise<void> {
    const compiled = await this.compile();
    if (compiled.configuration === null)
      throw new Error(`The configuration ${this.file} has mistakes:\n${formatProblems(compiled.problems)}`);
    await this.publish(compiled);
    this.follow();
  }

  /**
   * Instead of start(), where services run under what is in force already: a file with problems is refused, as one
   * that is saved so.
   */
  startBeside(): Promise<void> {
    this.follow();
    return this.again('file');
  }

  private follow(): void {
    this.watch(this.file);
    // An operator may allow changed tools with a command, too.
    this.runtime.configurations.onChange(({ configuration }) => {
      for (const { mcp } of configuration.tools)
        if (mcp !== null && mcp.pin !== null) this.pins.set(pinKeyOf(mcp), mcp.pin);
    });
  }

  /** Compiles once more. A bad file is refused with its problems, and what is in force stays. */
  again(cause: Cause): Promise<void> {
    const next = this.running.then(async () => {
      try {
        const compiled = await this.compile(cause === 'file' ? undefined : this.pins);
        if (compiled.configuration === null) this.refuse(formatProblems(compiled.problems));
        else {
          this.refused = '';
          await this.publish(compiled);
        }
      } catch (error) {
        this.runtime.log.error(
          { error: (error as Error).message },
          `the configuration could not be compiled again (cause: ${cause})`,
        );
      }
    });
    this.running = next;
    return next;
  }

  /**
   * Allows tools of a server as they are now, if that is what the pins say, which a person has looked at; all other
   * tools stay held to what they were. Nothing changes if it is refused.
   */
  accept(server: string, pins: ReadonlyMap<string, string>): Promise<Acceptance> {
    const accepted = this.running.then(() => this.acceptNext(server, pins));
    this.running = accepted.catch(() => undefined);
    return accepted;
  }

  private async acceptNext(server: string, pins: ReadonlyMap<string, string>): Promise<Acceptance> {
    const { bus, signatures } = this.runtime;
    const last = inForceOf(await configurationsOn(bus, signatures));
    const command = `Look at the changes and allow them by the command: \`sluice mcp approve ${server}\``;
    if (last === undefined || last.source !== this.file)
      return refused(`What is in force is not of ${this.file}, so it is not compiled again here. ${command}`);
    const names = [...pins.keys()];
    const others = new Map(this.pins);
    for (const tool of names) others.delete(pinKeyOf({ server, tool }));
    const compiled = await this.compiledBy(others);
    const { configuration } = compiled;
    if (configuration === null)
      return refused(`${this.file} has mistakes. Mend them first: ${formatProblems(compiled.problems)}`);
    for (const name of names) {
      const is = (mcp: ConfiguredTool['mcp']): boolean =>
        mcp?.server === server && mcp.tool === name && mcp.kind === undefined;
      const tool = configuration.tools.find(({ mcp }) => is(mcp));
      if (tool === undefined) return refused(`The configuration has no tool ${name} of ${server}.`);
      if (tool.mcp?.pin == null)
        return refused(`The tool ${name} cannot be allowed: ${tool.unavailable ?? `${server} does not offer it.`}`);
      if (tool.mcp.pin !== pins.get(name))
        return refused(`${server} says something else of ${name} by now. Look at its changes once more.`);
    }
    this.hold(configuration, others);
    await this.publish(compiled);
    const { version } = configuration;
    const status = version === last.version ? 'in_force_already' : 'accepted';
    return { status, version, replaced: last.version };
  }

  /** Says each set of problems once, however often the same file is looked at. */
  private refuse(problems: string): void {
    this.runtime.metrics.configurationRefused.inc({ source: 'file' });
    if (problems === this.refused) return;
    this.refused = problems;
    this.runtime.log.error(`${this.file} has mistakes and is refused; the former configuration stays:\n${problems}`);
  }

  async close(): Promise<void> {
    for (const file of this.watched) unwatchFile(file);
    await this.running;
  }

  private async compile(pins?: Pins): Promise<Compiled> {
    const compiled = await this.compiledBy(pins);
    if (compiled.configuration !== null) this.hold(compiled.configuration, pins);
    return compiled;
  }

  /** Nothing is held to it yet. */
  private async compiledBy(pins?: Pins): Promise<Compiled> {
    this.names ??= await this.namesInForce();
    const compiled = await compileFile(this.file, {
      names: this.names,
      types: (folders) => loadToolTypes(folders, builtInTools),
      cedarProblems,
      cedarClaims,
      keyFileProblem,
      argumentsProblem,
      isSet: (variable) => this.runtime.environment.forChild([variable])[variable] !== undefined,
      ...(pins === undefined ? {} : { pins }),
      discover: async (servers) => this.known(servers, await this.servers.offers(servers), pins !== undefined),
    });
    if (compiled.configuration === null) return compiled;
    this.names = new Map([...this.names, ...namesBefore(compiled.configuration)]);
    return compiled;
  }

  private async namesInForce(): Promise<NamesBefore> {
    const { bus, signatures } = this.runtime;
    const last = inForceOf(await configurationsOn(bus, signatures));
    return namesBefore(last?.read() ?? null);
  }

  /**
   * The offers. Where no operator accepts changed tools, each absent server counts with its last offer: that another
   * one changed says nothing about it, and its tools are offered while it is away.
   */
  private known(servers: readonly McpServer[], offers: readonly McpOffer[], keepAway: boolean): readonly McpOffer[] {
    const former = this.offers;
    this.offers = new Map();
    return offers.map((offer) => {
      const entry = JSON.stringify(servers.find(({ id }) => id === offer.server));
      const known = 'error' in offer && keepAway ? (former.get(entry) ?? offer) : offer;
      if ('tools' in known) this.offers.set(entry, known);
      return known;
    });
  }

  /**
   * From now on tools are held to what they are in this configuration; those that are held back stay held to what
   * they were.
   */
  private hold({ tools }: Configuration, pins: Pins | undefined): void {
    this.pins = new Map(pins);
    const held: string[] = [];
    for (const { key, mcp } of tools) {
      if (mcp === null) continue;
      if (mcp.pin !== null) this.pins.set(pinKeyOf(mcp), mcp.pin);
      else if (this.pins.has(pinKeyOf(mcp))) held.push(key);
    }
    const now = held.join(', ');
    if (now !== '' && now !== this.heldBack)
      this.runtime.log.warn(
        { tools: logNames(held) },
        'MCP tools are held back: their servers offer them otherwise, or no longer, since they were allowed. Save the configuration file to take them as they are now',
      );
    this.heldBack = now;
  }

  private async publish({ configuration, findings }: Compiled): Promise<void> {
    for (const { file } of configuration?.tools ?? []) if (file !== undefined) this.watch(file.path);
    if (configuration === null || (await this.isInForce(configuration))) return;
    const { bus, clock } = this.runtime;
    const { version } = configuration;
    const about = { source: this.file, compiledAt: clock.now() };
    await applyConfiguration(bus, configuration, about, this.applying());
    this.published = version;
    this.runtime.log.info({ config_version: version, findings: findings.length }, 'a new configuration is in force');
    if (findings.length > 0) this.runtime.log.debug(formatFindings(findings));
  }

  private applying(): Applying {
    const { environment, signatures } = this.runtime;
    return { signatures, isWhole: environment.toolsets === 'whole' };
  }

  private watch(file: string): void {
    if (this.watched.has(file)) return;
    this.watched.add(file);
    watchFile(
      file,
      { interval: lookEveryMs, persistent: false },
      () => void this.again(file === this.file ? 'file' : 'tool file'),
    );
  }

  private async isInForce({ version }: Configuration): Promise<boolean> {
    if (this.published !== null) return this.published === version;
    const { bus, signatures } = this.runtime;
    return isApplied(version, inForceOf(await configurationsOn(bus, signatures)), this.applying());
  }
}

function refused(why: string): Acceptance {
  return { status: 'refused', why };
}
