import { nearest } from '@sluice/core';

/** What to say to a command that does not exist: one line, with the nearest name if one is near. */
export function unknownCommand(name: string, known: readonly string[]): string {
  const near = known.find((one) => one.startsWith(name) && name.length >= 2) ?? nearest(name, known);
  const shown = JSON.stringify(name.slice(0, 40));
  return `There is no command ${shown}. ${near === undefined ? '' : `Did you mean \`sluice ${near}\`? `}\`sluice help\` lists all commands.`;
}

/** What to say to options that a command cannot read, in place of what Node says of them; null for any other error. */
export function optionProblem(error: unknown, command: string, usage: string): string | null {
  const { code = '', message = '' } = error as { readonly code?: string; readonly message?: string };
  if (!code.startsWith('ERR_PARSE_ARGS_')) return null;
  const [, option = ''] = /'(?:-\w, )?(--?[\w-]+)/.exec(message) ?? [];
  const help = `\`sluice help ${command}\` says what it takes.`;
  switch (code) {
    case 'ERR_PARSE_ARGS_UNKNOWN_OPTION': {
      const known = [...new Set(usage.match(/(?<![\w-])--[a-z][a-z-]*/g))];
      const near = nearest(option, known);
      return `${command} has no option ${option}. ${near === undefined ? '' : `Did you mean ${near}? `}${help}`;
    }
    case 'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL':
      return `${command} takes only options, and found ${/'(.*?)'/.exec(message)?.[1] ?? 'a word'}. ${help}`;
    default:
      return message.includes('does not take an argument')
        ? `${option} takes no value. ${help}`
        : `${option} needs a value. ${help}`;
  }
}
