import type { DynamicModule } from '@nestjs/common';
import type { Runtime } from './runtime.js';
import type { Reading, Service } from './start-service.js';

/**
 * Starts one service as a Nest microservice on the bus; `group` is its name there. Nest, 700 modules, is loaded here,
 * so that commands which serve nothing start in a third of the time.
 */
export async function startService(
  group: string,
  module: DynamicModule,
  runtime: Runtime,
  reading: Reading = {},
): Promise<Service> {
  const { startNestService } = await import('./start-service.js');
  return startNestService(group, module, runtime, reading);
}
