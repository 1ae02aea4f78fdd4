import { quote } from '@sluice/core';
import type { Configuration, Digest, McpServer, Problem } from '@sluice/core';

/** How tools of one name, of several MCP servers, are distinguished where they are served to MCP clients. */
export const namingStrategies = ['server', 'uri', 'random'] as const;
export type NamingStrategy = (typeof namingStrategies)[number];

/** Hexadecimal digits of a random prefix, at first. */
const prefixDigits = 6;

interface Place {
  readonly server: string;
  readonly tool: string;
}

/** Names that were given before, by server and tool. */
export type NamesBefore = ReadonlyMap<string, string>;

/** The names that the tools of a configuration have; null for no configuration. */
export function namesBefore(configuration: Pick<Configuration, 'tools'> | null): NamesBefore {
  return new Map(
    configuration?.tools.flatMap(({ mcp }) =>
      mcp === null || mcp.kind !== undefined ? [] : [[placeKey(mcp), mcp.served]],
    ) ?? [],
  );
}

function placeKey({ server, tool }: Place): string {
  return JSON.stringify([server, tool]);
}

/**
 * The name under which each tool is served, in their order (M-60 to M-64): `filesystem___read_file`,
 * `files.example.com:read_file` or `abc123___read_file`. A tool keeps the name that it was given before, whatever
 * else changes, until the operator chooses another strategy. Names are looked up, never taken apart. Two tools of one
 * name are a problem each time: none is dropped, and none is served as the other.
 */
export function servedNames(
  places: readonly Place[],
  given: {
    readonly servers: readonly McpServer[];
    readonly strategy: NamingStrategy;
    readonly digest: Digest;
    readonly before?: NamesBefore;
    /**
     * Whether the place is there because its server offers it: then a clash hides it, and is no mistake of the file.
     */
    readonly isBrought?: (place: Place) => boolean;
  },
): {
  readonly names: readonly string[];
  readonly problems: readonly Problem[];
  /** Why tools cannot be served, by server and tool. */
  readonly hidden: ReadonlyMap<string, string>;
} {
  const prefixes = prefixesOf(given);
  const names = places.map((place) => {
    const before = given.before?.get(placeKey(place));
    if (before !== undefined && strategyOf(before, place) === given.strategy) return before;
    return `${prefixes.get(place.server) ?? place.server}${shown(place.tool)}`;
  });
  const first = new Map<string, Place>();
  const problems: Problem[] = [];
  const hidden = new Map<string, string>();
  names.forEach((name, at) => {
    const place = places[at] as Place;
    const other = first.get(name);
    if (other === undefined) return void first.set(name, place);
    if (other.server === place.server && other.tool === place.tool) return;
    const guilty = [other, place].filter((one) => given.isBrought?.(one) === true);
    if (guilty.length === 0) problems.push(clash(name, other, place));
    // The name stays with what the file itself binds, so that the next such place is held against it.
    if (guilty.length === 1 && guilty[0] === other) first.set(name, place);
    for (const one of guilty)
      hidden.set(
        placeKey(one),
        `Its name ${quote(name)} for MCP clients would be that of ${said(one === place ? other : place)} too.`,
      );
  });
  return { names, problems, hidden };
}

/** By which strategy a name was given. */
function strategyOf(name: string, { server, tool }: Place): NamingStrategy | null {
  if (!name.endsWith(shown(tool))) return null;
  const prefix = name.slice(0, name.length - shown(tool).length);
  if (prefix === `${server}___`) return 'server';
  if (/^[0-9a-f]{6,}___$/.test(prefix)) return 'random';
  return prefix.endsWith(':') ? 'uri' : null;
}

function said({ server, tool }: Place): string {
  return `${quote(tool)} of ${quote(server)}`;
}

function clash(name: string, one: Place, other: Place): Problem {
  return {
    path: 'mcp.naming',
    found: `the name ${quote(name)} for both ${said(one)} and ${said(other)}`,
    write: `another strategy (${namingStrategies.join(', ')}), or another name for one of the servers`,
  };
}

function prefixesOf(given: {
  readonly servers: readonly McpServer[];
  readonly strategy: NamingStrategy;
  readonly digest: Digest;
}): ReadonlyMap<string, string> {
  const { servers, strategy, digest } = given;
  switch (strategy) {
    case 'server':
      return new Map(servers.map(({ id }) => [id, `${id}___`]));
    case 'uri':
      return uriPrefixes(servers);
    case 'random':
      return randomPrefixes(servers, digest);
  }
}

/**
 * A server's authority; with its path where several share one. What was started here and has no address is
 * `local.<server>`.
 */
function uriPrefixes(servers: readonly McpServer[]): ReadonlyMap<string, string> {
  const authorities = Map.groupBy(servers, ({ id, url }) => (url === null ? `local.${id}` : authority(url)));
  return new Map(
    [...authorities].flatMap(([name, sharing]) =>
      sharing.map(({ id, url }) => [id, `${name}${sharing.length > 1 ? path(url ?? '') : ''}:`] as const),
    ),
  );
}

function authority(url: string): string {
  return /^https?:\/\/([^/?#]*)/i.exec(url)?.[1]?.toLowerCase() ?? url;
}

function path(url: string): string {
  return url.replace(/^https?:\/\/[^/?#]*/i, '');
}

/**
 * Says nothing about the server, and stays the same while it stays configured as it is; longer where two would be
 * equal.
 */
function randomPrefixes(servers: readonly McpServer[], digest: Digest): ReadonlyMap<string, string> {
  const hashes = servers.map(({ id, command, args, url }) => digest(JSON.stringify([id, command, args, url])));
  const differ = (digits: number): boolean =>
    new Set(hashes.map((hash) => hash.slice(0, digits))).size === hashes.length;
  let digits = prefixDigits;
  while (digits < (hashes[0]?.length ?? 0) && !differ(digits)) digits++;
  return new Map(servers.map(({ id }, at) => [id, `${hashes[at]?.slice(0, digits) ?? ''}___`]));
}

/** MCP clients take letters, digits, `_`, `-` and `.`; anything else becomes `_`. */
function shown(tool: string): string {
  return tool.replace(/[^A-Za-z0-9_.-]/gu, '_');
}
