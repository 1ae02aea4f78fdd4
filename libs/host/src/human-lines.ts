import type { DestinationStream } from 'pino';
import { printable } from '@sluice/core';

const levels: Readonly<Record<number, string>> = {
  10: 'TRACE',
  20: 'DEBUG',
  30: 'INFO',
  40: 'WARN',
  50: 'ERROR',
  60: 'FATAL',
};

/** For a terminal: the time, the level and the message first, then what else the line says. */
export function humanLines(stream: { write(text: string): unknown }): DestinationStream {
  return { write: (line) => void stream.write(human(line)) };
}

function human(line: string): string {
  const { level, time, msg = '', ...rest } = JSON.parse(line) as Record<string, unknown>;
  const more = Object.entries(rest).map(([name, value]) => `${name}=${shown(value)}`);
  const word = (levels[Number(level)] ?? String(level)).padEnd(5);
  return `${[String(time).slice(11, 23), word, ...(msg === '' ? [] : [printable(String(msg))]), ...more].join(' ')}\n`;
}

function shown(value: unknown): string {
  return typeof value === 'string' && /^[!-~]+$/.test(value) ? value : printable(JSON.stringify(value));
}
