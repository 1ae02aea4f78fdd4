import { dateTime, duration, utc } from './format.js';
import { Tag } from './tag.js';
import { useNow } from './time.js';

const soonMs = 300_000;

/** How long it is until a moment, counting down; a colour says that it is soon. */
export function Countdown({ until, over }: { readonly until: number; readonly over: string }) {
  const now = useNow(1_000);
  const left = until - now;
  return (
    <Tag tone={left <= 0 ? 'bad' : left < soonMs ? 'warn' : 'plain'}>
      <time dateTime={utc(until)} title={`${dateTime(until)} · ${utc(until)}`} role="timer">
        {left <= 0 ? over : `${leftInWords(left)} left`}
      </time>
    </Tag>
  );
}

/** In whole seconds. */
function leftInWords(ms: number): string {
  const seconds = Math.ceil(ms / 1_000);
  return seconds < 60 ? `${seconds} s` : duration(seconds * 1_000);
}
