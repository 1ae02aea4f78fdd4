import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Which of the processes holds the connection that began at this port of 127.0.0.1; undefined if none does (any more). Linux only. */
export function ownerOf(clientPort: number, processIds: readonly number[]): number | undefined {
  const inode = inodeOf(clientPort);
  if (inode === undefined) return undefined;
  return processIds.find((processId) => {
    try {
      const folder = `/proc/${processId}/fd`;
      return readdirSync(folder).some((file) => isSocket(`${folder}/${file}`, inode));
    } catch {
      // The process is gone.
      return false;
    }
  });
}

function isSocket(link: string, inode: string): boolean {
  try {
    return readlinkSync(link) === `socket:[${inode}]`;
  } catch {
    // It was closed meanwhile.
    return false;
  }
}

function inodeOf(clientPort: number): string | undefined {
  const local = `:${clientPort.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((table) => readFileSync(table, 'utf8').split('\n').slice(1));
  const all = rows.map((row) => row.trim().split(/\s+/));
  // One that the same port had before stands there for a while, and is nobody's any more.
  return all.find((fields) => fields[1]?.endsWith(local) === true && fields[9] !== '0')?.[9];
}
