import { usages } from './commands/all.js';

const beginning = `# The command line

<!-- Written by \`npm run generate\` from the commands' own usage texts in apps/sluice/src/commands. Do not edit. -->

\`npx sluice help\` lists the commands, and \`npx sluice help COMMAND\` prints the text of one. A command finds the log by the variables that
[operations.md](operations.md) names; without any it is the embedded one in the data folder. The exit code is 0 if all is well and 1 if it is
not, with a sentence that says what to do; what else a code means stands with its command.

With \`--json\` standard output has JSON alone: one line for each command, or a line for each thing that it lists or watches, as its text says.
Fields are added from version to version, and none is renamed or removed within a major version. What a command cannot do goes to standard
error as one line, \`{"error": {"code", "message"}}\`, with the same exit code: the code is one of [errors.md](errors.md), \`invalid_options\`,
or \`failed\`. Without \`--json\` are the commands that start something, or print a link or a script: \`init\`, \`start\`, \`serve\`,
\`mcp serve\`, \`mcp operator\`, \`console\` and \`completion\`.
`;

/** docs/cli.md: every command as it says itself. */
export async function cliPage(): Promise<string> {
  const parts = [...(await usages())].map(([name, usage]) => `## ${name}\n\n\`\`\`text\n${usage}\n\`\`\`\n`);
  return [beginning, ...parts].join('\n');
}
