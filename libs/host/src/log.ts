import pino from 'pino';
import type { DestinationStream, Logger } from 'pino';
import type { LoggerService } from '@nestjs/common';
import type { BusLog } from '@sluice/bus';
import { logContext, withLogContext } from './log-context.js';
import { humanLines } from './human-lines.js';

export type Log = Logger;

/** Names under which a secret may come into a line. */
const secretNames = [
  'authorization',
  'Authorization',
  'cookie',
  'password',
  'secret',
  'client_secret',
  'token',
  'access_token',
  'refresh_token',
  'api_key',
  'private_key',
  'credential',
];

/**
 * Structured lines on standard output or the given stream, each with what it is about; for people where that is a
 * terminal. What could hold a secret is blanked by its name, on the line itself and one level below.
 */
export function createLog(level: string, destination: DestinationStream | undefined = terminal(process.stdout)): Log {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    mixin: logContext,
    redact: { paths: secretNames.flatMap((name) => [name, `*.${name}`]), censor: '[redacted]' },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}

/** Lines for people, if the stream is a terminal. */
function terminal(stream: NodeJS.WriteStream): DestinationStream | undefined {
  return stream.isTTY ? humanLines(stream) : undefined;
}

function attention(): DestinationStream {
  return terminal(process.stderr) ?? pino.destination({ dest: 2, sync: true });
}

/** For a command: what needs attention goes to standard error, as people read it where they look. */
export function commandLog(): Log {
  return createLog('warn', terminal(process.stderr) ?? process.stderr);
}

/**
 * For a command that a person watches: lines go to the file, and what needs attention to the terminal as well, unless
 * that shows something else. With `isRead` they are for people there, also where standard error is no terminal.
 */
export function logToFile(file: string, { fileOnly = false, isRead = false } = {}): DestinationStream {
  const lines = pino.destination({ dest: file, append: true, sync: true, mode: 0o600 });
  let full = false;
  lines.on('error', (error: Error) => {
    // Work goes on without its lines: a full disk stops the log of records by itself, with a sentence of its own.
    if (!full) process.stderr.write(`sluice: lines cannot be written to ${file}: ${error.message}\n`);
    full = true;
  });
  if (fileOnly) return lines;
  return pino.multistream([
    { level: 'trace', stream: lines },
    { level: 'warn', stream: isRead ? humanLines(process.stderr) : attention() },
  ]);
}

/**
 * For a part that several runs share: what it says is not about the one that happens to be under way, unless it says
 * so itself. While it is being opened, a warning is what is waited for.
 */
export function partLog(log: Log, waitsFor: (what: string) => void = () => undefined): BusLog {
  return (level, message, details) => {
    withLogContext({}, () => log[level](details, message));
    // What kafkajs says is about one connection; the sentence that says what to do comes after it.
    if (level !== 'info' && !message.startsWith('kafkajs:')) waitsFor(message);
  };
}

/** What Nest writes when a port cannot be opened, beside rejecting. */
const cannotListen = /^Error: listen E[A-Z]+/;

/** Nest's own lines: warnings and errors only, since in normal operation the log is quiet. */
export function nestLog(log: Log): LoggerService {
  const text = (message: unknown): string =>
    message instanceof Error ? (message.stack ?? message.message) : String(message);
  return {
    log: (message) => log.debug(text(message)),
    debug: (message) => log.trace(text(message)),
    verbose: (message) => log.trace(text(message)),
    warn: (message) => log.warn(text(message)),
    error: (message) => {
      const line = text(message);
      // Who called listen() says it in a sentence that names the variable to change.
      if (cannotListen.test(line)) log.debug(line);
      else log.error(line);
    },
    fatal: (message) => log.fatal(text(message)),
  };
}
