import { BadRequestException, Body, Controller, ForbiddenException, Get, Inject, Put, Req } from '@nestjs/common';
import { logLevels } from './environment.js';
import type { Log } from './log.js';
import { hostProblem } from './host-names.js';
import { isLoopback } from './loopback.js';

export const LOG = Symbol('log');

interface Request {
  readonly socket: { readonly remoteAddress?: string };
  readonly headers: { readonly host?: string };
}

/**
 * The lowest level that is logged, changed while the process runs: only from the same machine, or the same container.
 */
@Controller('log-level')
export class LogLevelController {
  constructor(@Inject(LOG) private readonly log: Log) {}

  @Get()
  read(): object {
    return { level: this.log.level };
  }

  @Put()
  change(@Req() { socket, headers }: Request, @Body() body: { level?: unknown } | undefined): object {
    // To it by name, too: a page in a browser here could otherwise be made to ask under a name of its own.
    if (!isLoopback(socket.remoteAddress) || hostProblem(headers.host, { allowedHosts: [] }) !== null)
      throw new ForbiddenException(
        'The log level is changed from the machine itself: use 127.0.0.1, or a shell there.',
      );
    const level = logLevels.find((one) => one === body?.level);
    if (level === undefined)
      throw new BadRequestException(`Send {"level": "…"} as application/json, with one of ${logLevels.join(', ')}.`);
    const before = this.log.level;
    this.log.level = level;
    this.log.info({ before, level }, 'the log level was changed');
    return { level };
  }
}
