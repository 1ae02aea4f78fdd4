import { setTimeout as delay } from 'node:timers/promises';
import type { Model } from '@sluice/core';
import { quantile, report } from '../measure.js';
import type { Infrastructure } from './infrastructure.js';
import { steadyLoad } from './load.js';
import type { Run } from './load.js';
import { openServices } from './services.js';

const runsPerSecond = 30;
const seconds = 15;
const rounds = 3;
const stuckMs = 10_000;
const oneIn = 100;

/**
 * What a session in a slow tool costs the others, who share its partitions and processes: nothing, if slow work does
 * not block.
 */
export async function stuck(parts: Infrastructure): Promise<void> {
  const model = oneCall();
  const services = await openServices(parts, model, async ({ stuck: isStuck }) => {
    if (isStuck === true) await delay(stuckMs);
  });
  try {
    const where = { brokers: services.brokers, prefix: services.prefix };
    const load = (name: string, slow: boolean): Promise<readonly Run[]> =>
      steadyLoad(where, { name, runsPerSecond, seconds, question: (n) => (slow && n % oneIn === 0 ? 'stuck' : 'go') });
    await load('warm', false);
    const without: number[] = [];
    const beside: number[] = [];
    let slowest = Infinity;
    for (let round = 0; round < rounds; round++) {
      without.push(...(await load(`without-${round}`, false)).map(({ ms }) => ms));
      const mixed = await load(`beside-${round}`, true);
      beside.push(...mixed.filter(({ question }) => question === 'go').map(({ ms }) => ms));
      slowest = Math.min(slowest, ...mixed.filter(({ question }) => question === 'stuck').map(({ ms }) => ms));
    }
    report(
      `One session in ${oneIn} stuck for ${stuckMs / 1_000} s, ${runsPerSecond} runs a second, ${rounds} rounds in turn`,
      [
        { name: 'a run without any stuck session, median', value: quantile(without, 0.5), unit: 'ms' },
        { name: 'a run without any stuck session, p99', value: quantile(without, 0.99), unit: 'ms' },
        { name: 'a run beside stuck sessions, median', value: quantile(beside, 0.5), unit: 'ms' },
        { name: 'a run beside stuck sessions, p99', value: quantile(beside, 0.99), unit: 'ms' },
        { name: 'the fastest stuck run', value: slowest, unit: 'ms', goal: { atLeast: stuckMs } },
        {
          name: 'p99 beside / p99 without',
          value: quantile(beside, 0.99) / quantile(without, 0.99),
          unit: '',
          goal: { atMost: 1.2 },
        },
      ],
    );
  } finally {
    await services.close();
  }
}

/** One call of the tool, which is told what the question says, and then the answer. */
function oneCall(): Model {
  return {
    name: 'bench',
    turn: ({ question, history }) => {
      const done = history.length > 0;
      const args = JSON.stringify({ stuck: question === 'stuck' });
      const calls = done ? [] : [{ toolCallId: 'c', tool: 'mcp__bench__act', arguments: args }];
      return Promise.resolve({ thought: '', calls, answer: done ? 'done' : null, inputTokens: 0, outputTokens: 0 });
    },
  };
}
