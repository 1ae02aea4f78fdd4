import { ToolUserError } from '@sluice/core';

const longestPath = 200;
const longestName = 100;
const deepest = 16;

/** Names that Windows gives to devices, whatever stands behind the dot. */
const device = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;

/**
 * The names on the way to a path inside the workspace; none for the workspace itself (`''` or `.`). What some file
 * system would read in another way than it is written is refused: so a path means the same wherever the folder
 * stands. Throws ToolUserError.
 */
export function namesOf(path: string): readonly string[] {
  if (path.length > longestPath) throw refused(`is longer than ${longestPath} characters`);
  if (!path.isWellFormed() || /[\p{Cc}\p{Cf}]/u.test(path)) throw refused('holds characters that cannot be seen');
  if (path.includes('\\')) throw refused('holds a backslash');
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) throw refused('is absolute');
  const names = path
    .normalize('NFC')
    .split('/')
    .filter((name) => name !== '' && name !== '.');
  if (names.length > deepest) throw refused(`is nested deeper than ${deepest} directories`);
  for (const name of names) requireName(name);
  return names;
}

function requireName(name: string): void {
  if (name === '..') throw refused('leads upwards with ".."');
  if (name.length > longestName || Buffer.byteLength(name) > 255) {
    throw refused(`holds a name longer than ${longestName} characters`);
  }
  if (/[<>:"|?*]/.test(name)) throw refused('holds one of < > : " | ? *');
  if (/^ |[ .]$/.test(name)) throw refused('holds a name that begins or ends with a space, or ends with a dot');
  if (device.test(name)) throw refused('holds a name that is a device on some systems');
}

function refused(why: string): ToolUserError {
  return new ToolUserError(`The path ${why}. Give a path inside the workspace, such as notes/plan.md.`);
}
