import { readFile, stat } from 'node:fs/promises';
import type { ConnectionAnswer, ConnectionSettings } from '@sluice/core';

type Settings = Extract<ConnectionSettings, { readonly adapter: 'file' }>;

/** Bytes of a file that holds one credential. */
const longestFile = 65_536;

/** What the file holds, without the blanks around it. Read each time, so that it counts at once when it is replaced. */
export async function fromFile({ path }: Settings): Promise<ConnectionAnswer> {
  try {
    const { size } = await stat(path);
    if (size > longestFile)
      return { ok: false, why: 'unreachable', message: `The file ${path} is larger than ${longestFile} bytes.` };
    return { ok: true, credential: { token: (await readFile(path, 'utf8')).trim(), expiresAt: null } };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return { ok: false, why: 'unreachable', message: `The file ${path} cannot be read: ${code ?? message}.` };
  }
}
