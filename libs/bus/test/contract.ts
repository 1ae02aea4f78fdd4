import { describe } from '@jest/globals';
import { commanded } from './contract/commands.js';
import { delivery } from './contract/delivery.js';
import { failures } from './contract/failures.js';
import type { BusHarness } from './contract/harness.js';
import { partitionOrder } from './contract/order.js';
import { property } from './contract/property.js';
import { publishing } from './contract/publishing.js';
import { reading } from './contract/reading.js';
import { restarts } from './contract/restarts.js';
import { telling } from './contract/telling.js';

export type { BusHarness, TestLog } from './contract/harness.js';

/** What every bus must do. Knows no implementation, waits for conditions and never for times. */
export function busContract(name: string, harness: BusHarness): void {
  describe(`${name}: the bus contract`, () => {
    describe('publishing', () => publishing(harness));
    describe('delivery', () => delivery(harness));
    describe('failures', () => failures(harness));
    describe('restarts', () => restarts(harness));
    describe('the order of partitions', () => partitionOrder(harness));
    describe('reading', () => reading(harness));
    describe('what a consumer reports of its work', () => telling(harness));
    describe('any history of work, faults and crashes', () => property(harness));
    describe('any commands', () => commanded(harness));
  });
}
