/**
 * Which Node Sluice needs. This file, and each that a user starts and that imports it, also runs on a Node that is too
 * old: plain JavaScript without syntax of the last years, and nothing else imported before the check.
 */

/** What Sluice runs on: the first with zstd and with copies of a SQLite database that is in use. */
export const leastNode = '22.16';

/** What sets up a clone, which then runs on the Node that npm installs in it. */
export const leastNodeOfClone = '20';

/** What to do about a Node that is too old. */
export const installNode = 'install Node 24, from https://nodejs.org or by your version manager, and run this again';

export function isAtLeast(version, least) {
  const [major, minor] = version.split('.').map(Number);
  const [leastMajor, leastMinor = 0] = least.split('.').map(Number);
  return major > leastMajor || (major === leastMajor && minor >= leastMinor);
}

/** Calls `start` if this Node is new enough; else says which one is needed and what to do, and fails the process. */
export function withNode(least, remedy, start) {
  const version = process.versions.node;
  if (isAtLeast(version, least)) return void start();
  console.error(`sluice: Sluice needs Node ${least} or later, and this is ${version}: ${remedy}.`);
  process.exitCode = 1;
}
