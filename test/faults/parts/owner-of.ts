import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/**
 * Which of the processes holds the connection that began at this port of 127.0.0.1; undefined if none does (any
 * more). Linux only.
 */
export function ownerOf(clientPort: number, processIds: readonly number[]): number | undefined {
  const inodes = inodesOf(clientPort);
  return processIds.find((processId) => {
    try {
      const folder = `/proc/${processId}/fd`;
      return readdirSync(folder).some((file) => isOneOf(`${folder}/${file}`, inodes));
    } catch {
      // The process is gone.
      return false;
    }
  });
}

function isOneOf(link: string, inodes: ReadonlySet<string>): boolean {
  try {
    const [, inode] = /^socket:\[(\d+)\]$/.exec(readlinkSync(link)) ?? [];
    return inode !== undefined && inodes.has(inode);
  } catch {
    // It was closed meanwhile.
    return false;
  }
}

/** Connections to different servers may begin at the same port, so there may be several. */
function inodesOf(clientPort: number): ReadonlySet<string> {
  const local = `:${clientPort.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((table) => readFileSync(table, 'utf8').split('\n').slice(1));
  const all = rows.map((row) => row.trim().split(/\s+/));
  // One that the same port had before stands there for a while, and is nobody's any more.
  const there = all.filter((fields) => fields[1]?.endsWith(local) === true && fields[9] !== '0');
  return new Set(there.flatMap((fields) => fields[9] ?? []));
}
