/** Aborts when the process is asked to stop. */
export function abortOn(stopped: Promise<string>): AbortSignal {
  const stop = new AbortController();
  void stopped.then(() => stop.abort());
  return stop.signal;
}
