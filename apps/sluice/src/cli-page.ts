import { usages } from './commands/all.js';

const beginning = `# The command line

<!-- Written by \`npm run generate\` from the commands' own usage texts in apps/sluice/src/commands. Do not edit. -->

\`npx sluice help\` lists the commands, and \`npx sluice help COMMAND\` prints the text of one. A command finds the log by the variables that
[operations.md](operations.md) names; without any it is the embedded one in the data folder. The exit code is 0 if all is well and 1 if it is
not, with a sentence that says what to do; what else a code means stands with its command.
`;

/** docs/cli.md: every command as it says itself. */
export async function cliPage(): Promise<string> {
  const parts = [...(await usages())].map(([name, usage]) => `## ${name}\n\n\`\`\`text\n${usage}\n\`\`\`\n`);
  return [beginning, ...parts].join('\n');
}
