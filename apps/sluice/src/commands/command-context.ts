import type { Environment, Log } from '@sluice/host';
import type { Paint } from '../show/paint.js';

export interface DescribedCommand {
  readonly name: string;
  readonly summary: string;
  readonly usage: string;
}

/** What a command works with; made once in main. */
export interface CommandContext {
  readonly environment: Environment;
  readonly log: Log;
  readonly paint: Paint;
  /** Writes to standard output for people: in a terminal, lines are wrapped at its width. */
  write(text: string): void;
  /** Writes to standard output as it is: what a program reads, or what is to be copied. */
  print(text: string | Uint8Array): void;
  /** Writes to standard error for people: what is said beside data on standard output. */
  note(text: string): void;
  /**
   * Resolves as soon as the reader of standard output has room for more, and throws if it is gone: a loop over a log
   * waits for it.
   */
  taken(): Promise<void>;
  /** Whether standard output is a terminal. */
  readonly terminal: boolean;
  /** Resolves when the process is asked to stop, or the reader of standard output is gone. */
  readonly stopped: Promise<string>;
  /** The path of the sample configuration, with its data set built if it was not yet. */
  sampleConfiguration(): Promise<string>;
  /** The folder of the project. */
  readonly root: string;
  /** The path of a file that comes with the project. */
  inProject(file: string): string;
  readonly input: NodeJS.ReadableStream;
  /** Every command, with its summary and its usage text. */
  allCommands(): Promise<readonly DescribedCommand[]>;
}
