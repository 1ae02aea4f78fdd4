import { parseArgs } from 'node:util';
import { allTopics } from '@sluice/contracts';
import { formsIn } from '../command-forms.js';
import { completionScript } from '../completion.js';
import type { CommandContext } from './command-context.js';

export const usage = `sluice completion bash|zsh
  Prints a script with which the shell completes commands, actions, flags, topics and files; it runs nothing of Sluice. For bash:
  source <(sluice completion bash), in ~/.bashrc. For zsh: source <(sluice completion zsh) behind compinit, in ~/.zshrc.`;

export async function run(args: readonly string[], { allCommands, print }: CommandContext): Promise<number> {
  const { positionals } = parseArgs({ args: [...args], allowPositionals: true, options: {} });
  const [shell, ...more] = positionals;
  if ((shell !== 'bash' && shell !== 'zsh') || more.length > 0)
    throw new Error(`Name the shell: bash or zsh.\n${usage}`);
  const all = await allCommands();
  const forms = all.flatMap((one) => formsIn(one.usage));
  const summaries = new Map(all.map(({ name, summary }) => [name, summary]));
  print(completionScript(shell, { summaries, forms, topics: allTopics }));
  return 0;
}
