import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Controller, Inject, Param, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import type { Principal } from '@sluice/core';
import { recordNames, recordToJson } from '@sluice/contracts';
import { withoutCredentials } from '@sluice/bus';
import type { Incoming } from '@sluice/bus';
import { RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { hideSecrets, RunsWithin } from '@sluice/run';
import { leaveStuck, whenGone } from '../client-disconnect.js';
import { parametersOf } from '../lists/list-query.js';
import { Route } from '../openapi/route.js';
import { ByPrincipal } from '../rights.js';
import { locationOfLink } from '../run-location.js';
import { RunReaders } from '../run-readers.js';
import { RunsService } from '../runs.service.js';
import { recordParameters } from './run-parameters.js';

/** Records of one download, at most. */
const mostRecords = 10_000;

/** The records of a run as the log has them, without credentials and signatures. For operators. */
@Controller()
export class RecordsController {
  constructor(
    @Inject(RUNTIME) private readonly runtime: Pick<Runtime, 'clock' | 'log'>,
    @Inject(RunsService) private readonly runs: RunsService,
    @Inject(RunReaders) private readonly readers: RunReaders,
  ) {}

  @Route('readRecords')
  async records(
    @ByPrincipal() caller: Principal,
    @Param('request_id') requestId: string,
    @Query() query: Readonly<Record<string, unknown>>,
    @Res() response: Response,
  ): Promise<void> {
    const { tenant } = parametersOf(query, recordParameters);
    const reader = await this.readers.of(caller, tenant, 'GET /v1/runs/{request_id}/records');
    const leaving = new AbortController();
    whenGone(response, () => leaving.abort());
    const at = locationOfLink({ requestId, query }, this.runtime.clock.now()) ?? requestId;
    const records = this.runs.records(at, reader, leaving.signal, new RunsWithin(requestId));
    // Throws before anything is sent where there is no such run.
    const first = await records.next();
    response.status(200).type('application/x-ndjson; charset=utf-8');
    response.set('content-disposition', 'attachment; filename="run-records.ndjson"');
    leaveStuck(response);
    try {
      await pipeline(Readable.from(lines(first, records)), response);
    } catch (error) {
      if (!leaving.signal.aborted)
        this.runtime.log.warn({ request_id: requestId, error: String(error) }, 'a download of records was cut');
      response.destroy();
    } finally {
      await records.return(undefined);
    }
  }
}

async function* lines(
  first: IteratorResult<Incoming, void>,
  records: AsyncIterator<Incoming, void>,
): AsyncGenerator<string, void, undefined> {
  let count = 0;
  for (let next = first; next.done !== true; next = await records.next()) {
    if (count++ >= mostRecords) {
      yield `${JSON.stringify({ left_out: `There are more than ${mostRecords} records: sluice export has all.` })}\n`;
      return;
    }
    yield line(next.value);
  }
}

function line({ topic, partition, offset, timestamp, key, headers, record }: Incoming): string {
  const shown = { topic, partition, offset, timestamp, key, headers: withoutCredentials(headers) };
  return `${hideSecrets(JSON.stringify({ ...shown, record: recordToJson(recordNames[topic], record) }))}\n`;
}
