import { commandGroups, commands } from './commands/all.js';

const indent = 16;

/** `sluice help`: every command in a line, by what it is for, on one screen. */
export function help(): string {
  const parts = commandGroups.map((group) => {
    const lines = Object.entries(commands)
      .filter(([, entry]) => entry.group === group)
      .map(([name, { summary }]) => `  ${name.padEnd(indent - 2)}${summary}\n`);
    return `${group}\n${lines.join('')}`;
  });
  return `Sluice: tools for LLM agents on an event bus.\n\n${parts.join('\n')}\n\`sluice help COMMAND\` says all about one.\n`;
}
