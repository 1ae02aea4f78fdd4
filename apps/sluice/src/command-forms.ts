/** One way to call a command, as the first lines of its usage text say it. */
export interface CommandForm {
  /** The command and its actions, such as `keys api new`. */
  readonly path: readonly string[];
  readonly flags: readonly CommandFlag[];
  /** Whether it takes a file or a folder beside its flags. */
  readonly takesFile: boolean;
}

interface CommandFlag {
  readonly name: string;
  /** Null where it takes no value; else what may stand there: a file, one of some words, or anything. */
  readonly value: null | 'file' | 'any' | readonly string[];
}

const fileWords = /^(?:FILE|DIR|FOLDER)$/;

/** The forms of a usage text. Two forms that differ in one word alone, such as `bash|zsh`, are two. */
export function formsIn(usage: string): readonly CommandForm[] {
  return formLines(usage).flatMap((line) => {
    const words = line.split(' ').slice(1);
    const end = words.findIndex((word) => !/^[a-z][a-z-]*(?:\|[a-z-]+)*$/.test(word));
    const path = end === -1 ? words : words.slice(0, end);
    const rest = line
      .split(' ')
      .slice(1 + path.length)
      .join(' ');
    const flags = [...rest.matchAll(/(--[a-z][a-z-]*)(?: ([^\s\]|[-][^\s\]]*))?/g)].map(
      ([, name = '', value]): CommandFlag => ({ name, value: value === undefined ? null : valueOf(value) }),
    );
    const withoutFlags = rest.replace(/--[a-z][a-z-]*(?: [^\s\]|[-][^\s\]]*)?/g, '');
    const takesFile = withoutFlags.split(/[\s[\]|]+/).some((word) => fileWords.test(word));
    return pathsOf(path).map((one) => ({ path: one, flags, takesFile }));
  });
}

/** Each form in one line, without the description that may stand behind it. */
function formLines(usage: string): readonly string[] {
  const found: string[] = [];
  for (const line of usage.split('\n')) {
    if (line.startsWith('sluice ')) found.push(line.replaceAll(/ {2,}(?=\[)/g, ' ').split(/ {2,}/)[0] ?? '');
    else if (/^ {4,}\[/.test(line) && found.length > 0) found.push(`${found.pop() ?? ''} ${line.trim()}`);
  }
  return found;
}

function valueOf(written: string): CommandFlag['value'] {
  if (fileWords.test(written)) return 'file';
  const words = written.split('|').filter((word) => /^[a-z][a-z-]*$/.test(word));
  return written.includes('|') && words.length > 0 ? words : 'any';
}

function pathsOf(path: readonly string[]): readonly (readonly string[])[] {
  return path.reduce<readonly (readonly string[])[]>(
    (before, word) => before.flatMap((one) => word.split('|').map((choice) => [...one, choice])),
    [[]],
  );
}
