import { sizeText } from '@sluice/backup';
import type { CommandContext } from '../commands/command-context.js';

/** How often a terminal, and any other reader of standard error, hears how far it is; milliseconds. */
const terminalMs = 200;
const otherMs = 5_000;

/** Says on standard error how much of something large is done; nothing of what takes no time. */
export function progressOn(
  { note, terminal }: Pick<CommandContext, 'note' | 'terminal'>,
  verb: string,
): (done: number, total: number) => void {
  const everyMs = terminal ? terminalMs : otherMs;
  let said = performance.now();
  return (done, total) => {
    const now = performance.now();
    if (now - said < everyMs) return;
    said = now;
    const text = `${sizeText(done)} of ${sizeText(total)} ${verb}`;
    note(terminal && done < total ? `\r${text} ` : `${terminal ? '\r' : ''}${text}\n`);
  };
}
