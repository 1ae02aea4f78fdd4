/** How Node is started for Sluice, by a clone (bin/setup.mjs) and by the package (packages/sluice/sluice.mjs). */

/** kafkajs sets timers in the past, each of which would be a line. */
export const quiet = ['--disable-warning=TimeoutNegativeWarning'];

/**
 * How a service of its own is kept small: a young generation of few megabytes, and V8’s balancer, which gives the old
 * one more room the more there is to do. What that costs and saves is in docs/benchmarks.md; in a container the heap
 * is bounded besides (ops/image/sluice.sh).
 */
export const serviceFlags = [
  ...quiet,
  ...['--max-semi-space-size=4', '--memory-balancer', '--memory-balancer-c-value=2e-11'],
];

/** Threads that each keep what they freed for themselves would take about 10 MB more; nothing here waits for memory. */
export const nodeVariables = { MALLOC_ARENA_MAX: '1' };

/**
 * The flags for a command line. One service of several is kept small. Whatever runs alone may take the room that Node
 * gives it, and is much faster for it.
 */
export const flagsFor = ([name, ...args]) => (name === 'serve' && !servesAll(args) ? serviceFlags : quiet);

function servesAll(args) {
  const role = args.findLast((arg, n) => arg.startsWith('--role=') || args[n - 1] === '--role');
  return role === undefined || /^(--role=)?all$/.test(role);
}
