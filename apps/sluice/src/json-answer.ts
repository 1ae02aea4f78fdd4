import type { CommandContext } from './commands/command-context.js';

/** The same context with nothing said for people, where JSON is asked for: standard output has that alone. */
export function quietFor(json: boolean, context: CommandContext): CommandContext {
  return json ? { ...context, write: () => undefined, note: () => undefined } : context;
}

/** One value, in one line. */
export function printJson({ print }: Pick<CommandContext, 'print'>, value: object): void {
  print(`${JSON.stringify(value)}\n`);
}
