import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { randomBytes } from 'node:crypto';
import { readClaimDatabases } from './claim-databases.js';
import type { ClaimDatabase } from './claim-databases.js';
import { readContent } from './content-environment.js';
import type { ContentEnvironment } from './content-environment.js';
import { dataFiles } from './data-folder.js';
import { nameOf } from './host-names.js';
import { readHttp } from './http-environment.js';
import type { HttpSettings } from './http-environment.js';
import { readKafka } from './kafka-environment.js';
import type { KafkaEnvironment } from './kafka-environment.js';
import { readRetention } from './retention-environment.js';
import type { Retention } from './retention-environment.js';
import { readTraces } from './traces-environment.js';
import type { TracesSettings } from './traces-environment.js';
import { Variables } from './variables.js';

/** As people type them there: `npx sluice` and `npm start`, or `sluice` and `sluice start`. */
export interface CommandNames {
  readonly command: string;
  /** What starts the services. */
  readonly start: string;
}

/** How they are called in a clone. */
export const namesInClone: CommandNames = { command: 'npx sluice', start: 'npm start' };

/** What a process reads from its environment. Everything else is in the configuration file. */
export interface Environment {
  /** Where the log is. SLUICE_BUS: `sqlite` (default) for one in the data folder, `kafka` for a cluster. */
  readonly bus: 'sqlite' | 'kafka';
  /** Null on SQLite. */
  readonly kafka: KafkaEnvironment | null;
  /** How long each topic is kept. SLUICE_RETENTION_HOURS, SLUICE_RETENTION. */
  readonly retention: Retention;
  /** The ledger's PostgreSQL, DATABASE_URL; null for a file in the data folder. */
  readonly databaseUrl: string | null;
  /** Databases that hold claims beside that one. SLUICE_LEDGER. */
  readonly claimDatabases: readonly ClaimDatabase[];
  /** Folder of the embedded log, ledger and graph. SLUICE_DATA, default `data`. */
  readonly dataFolder: string;
  /**
   * Folder of the sessions’ files. SLUICE_WORKSPACES; by default `workspaces` in the data folder, on Kafka none:
   * there all executors must share it.
   */
  readonly workspaceFolder: string | null;
  /**
   * How long a session's files and tasks are kept behind their last use, milliseconds; null for ever.
   * SLUICE_SESSION_DAYS, by default 30 on Kafka and for ever on the embedded log, as the log itself.
   */
  readonly sessionsKeptMs: number | null;
  /**
   * The file with the keys of filter and executor. SLUICE_KEYS_FILE, default none; SLUICE_KEYS may hold the keys
   * themselves.
   */
  readonly keyFile: string | null;
  /**
   * Keys that seal what is kept of conversations, SLUICE_SECRETS_KEY; null or absent: it is kept in the clear. Asked
   * for at the moment of use.
   */
  secretsKey?(): string | null;
  /** The command of the editor that VISUAL or EDITOR names; null or absent if neither does. */
  editor?(): string | null;
  /** Where content is, which no record has room for, and what it is sealed with; by default as without variables. */
  readonly content?: ContentEnvironment;
  /** The configuration file that `sluice start` follows. SLUICE_CONFIG, default none. */
  readonly configFile: string | null;
  /** Address of health and metrics. SLUICE_HOST and SLUICE_PORT, default 127.0.0.1 and 8090. */
  readonly host: string;
  readonly port: number;
  /**
   * Whether the ports are published on this machine’s loopback address alone, as those of a container may be, so that
   * connections count as this machine’s whatever network they come through. SLUICE_PUBLISHED_ON_LOOPBACK, default
   * false.
   */
  readonly publishedOnLoopback: boolean;
  /**
   * Names beside those of loopback that requests may have in `Host` where only this machine may ask.
   * SLUICE_ALLOWED_HOSTS, separated by commas, default none.
   */
  readonly allowedHosts: readonly string[];
  /**
   * Where the gateway listens, on the same host. SLUICE_HTTP_PORT, by default the one after SLUICE_PORT; 0 takes any
   * that is free.
   */
  readonly httpPort: number;
  /**
   * Requests that one caller of the gateway may make in a minute, over all instances; 0 for no limit.
   * SLUICE_HTTP_REQUESTS_PER_MINUTE, default 0.
   */
  readonly httpRequestsPerMinute: number;
  /** Origins whose pages may ask the gateway from a browser. SLUICE_HTTP_ORIGINS, separated by commas, default none. */
  readonly httpOrigins: readonly string[];
  /** What the gateway takes and keeps. */
  readonly http: HttpSettings;
  /**
   * Where the proxy listens, on the same host. SLUICE_PROXY_PORT, by default two after SLUICE_PORT; 0 takes any that
   * is free.
   */
  readonly proxyPort: number;
  /**
   * Where MCP clients connect, on the same host. SLUICE_MCP_PORT, by default the third one after SLUICE_PORT; 0 takes
   * any that is free.
   */
  readonly mcpPort: number;
  /**
   * Calls that one MCP caller may make in a minute, over all instances; 0 for no limit. SLUICE_MCP_CALLS_PER_MINUTE,
   * default 600.
   */
  readonly mcpCallsPerMinute: number;
  /** SLUICE_LOG_LEVEL, default info. */
  readonly logLevel: string;
  /** Where spans go, by OpenTelemetry’s own variables (docs/traces.md); nowhere if it is null or absent. */
  readonly traces?: TracesSettings | null;
  /** How long a stop lets running work end, in milliseconds. SLUICE_DRAIN_SECONDS, default 10. */
  readonly drainMs: number;
  /**
   * Whether Toolsets name their tools, or have their texts as well, and whether a configuration stands in one record
   * however long it is, as services of former versions need it in an upgrade. SLUICE_TOOLSETS, default named.
   */
  readonly toolsets?: 'named' | 'whole';
  /** How people call the command line where this process was started, and start the services; absent in a clone. */
  readonly calledAs?: CommandNames;
  /** Names this process and no other, also not itself after a restart. */
  readonly instance: string;
  /**
   * A secret by the name of its variable, or from the file that the variable with `_FILE` behind its name names.
   * Asked for at the moment of use, kept nowhere.
   */
  secret(variable: string): string | undefined;
  /** The named variables that are set, and the few every program needs: what a child process gets. */
  forChild(names: readonly string[]): Record<string, string>;
}

const dayMs = 24 * 3_600_000;

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** The process's own environment, with what the command line says instead. */
export function processEnvironment(instead: Readonly<Record<string, string>> = {}): Environment {
  return readEnvironment({ ...process.env, ...instead });
}

/** Throws an Error whose sentence names the variable and what it should hold. */
export function readEnvironment(values: Readonly<Record<string, string | undefined>>): Environment {
  const variables = new Variables(values, readFile);
  const bus = variables.oneOf('SLUICE_BUS', ['sqlite', 'kafka'], 'sqlite');
  const port = variables.integer('SLUICE_PORT', 8090, 0, 65_535);
  const dataFolder = resolve(variables.text('SLUICE_DATA') ?? 'data');
  const databaseUrl = readDatabaseUrl(variables);
  return {
    bus,
    kafka: bus === 'kafka' ? readKafka(variables) : null,
    retention: readRetention(variables, bus),
    databaseUrl,
    claimDatabases: readClaimDatabases(variables.secret('SLUICE_LEDGER'), databaseUrl),
    dataFolder,
    workspaceFolder:
      absolute(variables.text('SLUICE_WORKSPACES')) ?? (bus === 'kafka' ? null : dataFiles({ dataFolder }).workspaces),
    sessionsKeptMs: variables.integer('SLUICE_SESSION_DAYS', bus === 'kafka' ? 30 : 0, 0, 36_500) * dayMs || null,
    keyFile: absolute(variables.text('SLUICE_KEYS_FILE')),
    editor: () => variables.text('VISUAL') ?? variables.text('EDITOR') ?? null,
    secretsKey: () => variables.secret('SLUICE_SECRETS_KEY') ?? null,
    content: readContent(variables),
    configFile: absolute(variables.text('SLUICE_CONFIG')),
    host: variables.text('SLUICE_HOST') ?? '127.0.0.1',
    port,
    publishedOnLoopback: variables.oneOf('SLUICE_PUBLISHED_ON_LOOPBACK', ['true', 'false'], 'false') === 'true',
    allowedHosts: readHosts(variables),
    httpPort: variables.integer('SLUICE_HTTP_PORT', port === 0 ? 0 : Math.min(port + 1, 65_535), 0, 65_535),
    httpRequestsPerMinute: variables.integer('SLUICE_HTTP_REQUESTS_PER_MINUTE', 0, 0, 1_000_000),
    httpOrigins: readOrigins(variables),
    http: readHttp(variables),
    proxyPort: variables.integer('SLUICE_PROXY_PORT', port === 0 ? 0 : Math.min(port + 2, 65_535), 0, 65_535),
    mcpPort: variables.integer('SLUICE_MCP_PORT', port === 0 ? 0 : Math.min(port + 3, 65_535), 0, 65_535),
    mcpCallsPerMinute: variables.integer('SLUICE_MCP_CALLS_PER_MINUTE', 600, 0, 1_000_000),
    logLevel: variables.oneOf('SLUICE_LOG_LEVEL', logLevels, 'info'),
    traces: readTraces(variables),
    drainMs: variables.integer('SLUICE_DRAIN_SECONDS', 10, 0, 3_600) * 1_000,
    toolsets: variables.oneOf('SLUICE_TOOLSETS', ['named', 'whole'], 'named'),
    instance: `${hostname()}-${process.pid}-${randomBytes(4).toString('hex')}`,
    secret: (variable) => variables.secret(variable),
    forChild: (names) => {
      const given = ['PATH', 'HOME', 'SystemRoot', ...names].map((name) => [name, variables.text(name)]);
      return Object.fromEntries(given.filter((entry): entry is [string, string] => entry[1] !== undefined));
    },
  };
}

/** What is wrong is said without the value: there is a password in it. */
function readDatabaseUrl(variables: Variables): string | null {
  const url = variables.secret('DATABASE_URL') ?? null;
  if (url !== null && (!/^postgres(ql)?:\/\//.test(url) || !URL.canParse(url)))
    throw new Error(
      'DATABASE_URL is no address of a PostgreSQL; it must be like postgres://user:password@localhost:5432/sluice, with what is no letter or digit in the password written as %XX.',
    );
  return url;
}

function readOrigins(variables: Variables): readonly string[] {
  return listOf(variables, 'SLUICE_HTTP_ORIGINS').map(requireOrigin);
}

function readHosts(variables: Variables): readonly string[] {
  return listOf(variables, 'SLUICE_ALLOWED_HOSTS').map((host) => {
    const name = nameOf(host);
    if (name !== null && name === host.toLowerCase() && !name.includes('*')) return name;
    throw new Error(
      `SLUICE_ALLOWED_HOSTS has “${host}”; it must be names of hosts without a port, such as sluice.example.com, with commas between.`,
    );
  });
}

function listOf(variables: Variables, variable: string): readonly string[] {
  const entries = (variables.text(variable) ?? '').split(',').map((entry) => entry.trim());
  return entries.filter((entry) => entry !== '');
}

function requireOrigin(name: string): string {
  if (/^https?:/.test(name) && URL.canParse(name) && new URL(name).origin === name) return name;
  throw new Error(
    `SLUICE_HTTP_ORIGINS has "${name}"; it must be origins as browsers send them, such as https://app.example.com or http://localhost:5173, with commas between.`,
  );
}

/** Where the process stands now is what the path means, also if it goes elsewhere later. */
function absolute(path: string | undefined): string | null {
  return path === undefined ? null : resolve(path);
}

function readFile(path: string): string {
  return readFileSync(path, 'utf8');
}
