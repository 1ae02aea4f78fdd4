import type { ConsoleAbout } from '@sluice/client';

let names: Pick<ConsoleAbout, 'command' | 'start'> = { command: 'npx sluice', start: 'npm start' };

/** How commands are typed where the gateway runs, as it says itself. */
export function setCommandNames(about: Pick<ConsoleAbout, 'command' | 'start'>): void {
  names = about;
}

/** A command that is written as in a clone, as it is typed where the gateway runs. */
export function asTyped(text: string): string {
  return text.replace(/^npx sluice\b/, () => names.command).replace(/^npm start\b/, () => names.start);
}
