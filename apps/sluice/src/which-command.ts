import { nearest } from '@sluice/core';

/** What to say to a command that does not exist: one line, with the nearest name if one is near. */
export function unknownCommand(name: string, known: readonly string[]): string {
  const near = known.find((one) => one.startsWith(name) && name.length >= 2) ?? nearest(name, known);
  const shown = JSON.stringify(name.slice(0, 40));
  return `There is no command ${shown}. ${near === undefined ? '' : `Did you mean \`sluice ${near}\`? `}\`sluice help\` lists all commands.`;
}
