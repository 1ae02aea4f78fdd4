import pino from 'pino';
import type { DestinationStream, Logger } from 'pino';
import type { LoggerService } from '@nestjs/common';
import type { BusLog } from '@sluice/bus';

export type Log = Logger;

/** Structured lines on standard output or the given stream; what could hold a credential is blanked by path. */
export function createLog(level: string, destination?: DestinationStream): Log {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: {
      paths: ['authorization', '*.authorization', 'headers.authorization', '*.headers.authorization'],
      censor: '[redacted]',
    },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}

/** For a command that a person watches: lines go to the file, and what needs somebody's attention to the terminal as well. */
export function logToFile(file: string): DestinationStream {
  const lines = pino.destination({ dest: file, append: true, sync: true });
  let full = false;
  lines.on('error', (error: Error) => {
    // Work goes on without its lines: a full disk stops the log of records by itself, with a sentence of its own.
    if (!full) process.stderr.write(`sluice: lines cannot be written to ${file}: ${error.message}\n`);
    full = true;
  });
  return pino.multistream([
    { level: 'trace', stream: lines },
    { level: 'warn', stream: pino.destination({ dest: 2, sync: true }) },
  ]);
}

/** Where log and ledger say what an operator must know; while they are being opened, a warning is what they wait for. */
export function sayTo(log: Log, waitsFor: (what: string) => void = () => undefined): BusLog {
  return (level, message, details) => {
    log[level](details, message);
    // What kafkajs says is about one connection; the sentence that says what to do comes after it.
    if (level !== 'info' && !message.startsWith('kafkajs:')) waitsFor(message);
  };
}

/** Nest's own lines: warnings and errors only, since in normal operation the log is quiet. */
export function nestLog(log: Log): LoggerService {
  const text = (message: unknown): string =>
    message instanceof Error ? (message.stack ?? message.message) : String(message);
  return {
    log: (message) => log.debug(text(message)),
    debug: (message) => log.trace(text(message)),
    verbose: (message) => log.trace(text(message)),
    warn: (message) => log.warn(text(message)),
    error: (message) => log.error(text(message)),
    fatal: (message) => log.fatal(text(message)),
  };
}
