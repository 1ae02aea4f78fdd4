import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import {
  AUTHENTICATOR,
  authenticatorOf,
  contentByDefault,
  listenError,
  LoadWatch,
  nestLog,
  RUNTIME,
  RunWatch,
} from '@sluice/host';
import type { Runtime, Service } from '@sluice/host';
import type { NextFunction, Request, Response } from 'express';
import { ApprovalDetails } from './approval-details.js';
import { AgentsController } from './agents.controller.js';
import { ApprovalsController } from './approvals.controller.js';
import { ProofController } from './audit/proof.controller.js';
import { WholeLog } from './audit/whole-log.js';
import { AuditController } from './audit/audit.controller.js';
import { Callers } from './caller.js';
import { Applying } from './configurations/apply.js';
import { Candidates } from './configurations/candidates.js';
import { CancellationsController } from './cancellations.controller.js';
import { ConfigurationsController } from './configurations/configurations.controller.js';
import { ExplainController } from './configurations/explain.controller.js';
import { Versions } from './configurations/versions.js';
import { WhatIfController } from './configurations/what-if.controller.js';
import { WhatIfs } from './configurations/what-if.js';
import { DecidedController } from './decided.controller.js';
import { Decisions } from './decisions.js';
import { ConsoleController } from './console/console.controller.js';
import { builtConsole, ConsoleFiles } from './console/console-files.js';
import { serveConsole } from './console/serve-console.js';
import { SignIn } from './console/sign-in.js';
import { allowOrigins } from './cors.js';
import { countRequests } from './count-requests.js';
import { DeadLettersController } from './dead-letters/dead-letters.controller.js';
import { DoorsController } from './doors/doors.controller.js';
import { Doors } from './doors/doors.js';
import { EarlierResponses } from './doors/earlier.js';
import { WaitingCalls } from './doors/waiting-calls.js';
import { takeApiKey } from './doors/api-key.js';
import { GroupsController } from './groups.controller.js';
import { HooksController } from './hooks/hooks.controller.js';
import { SchedulesController } from './schedules/schedules.controller.js';
import { isUpload, LimitedServer, refuseForeignHosts, refuseLargeBodies } from './limited-server.js';
import { ListsController } from './lists/lists.controller.js';
import { Lists } from './lists/lists.js';
import { DescriptionController } from './openapi/description.controller.js';
import { MailLinksController } from './mail/mail-links.controller.js';
import { Operators } from './operators.js';
import { Permission } from './permission.js';
import { Rights } from './rights.js';
import { RefusalFilter } from './refusal-filter.js';
import { RunReaders } from './run-readers.js';
import { RecordsController } from './run-views/records.controller.js';
import { ServersController } from './servers/servers.controller.js';
import { StandingController } from './standing/standing.controller.js';
import { StandingDecisions } from './standing/standing-decisions.js';
import { StatusController } from './status/status.controller.js';
import { ContentController } from './run-views/content.controller.js';
import { VerdictsController } from './run-views/verdicts.controller.js';
import { RunsController } from './runs.controller.js';
import { RunsService } from './runs.service.js';
import { securityHeaders } from './security-headers.js';
import { SlackController } from './slack/slack.controller.js';
import { SlackDecisions } from './slack/slack-decisions.js';
import { SubscriptionsController } from './subscriptions/subscriptions.controller.js';
import { SpecificationsController } from './specifications.controller.js';
import { ToolsController } from './tools.controller.js';
import { ApprovalFollowers } from './stream/approval-stream.js';
import { RunListFollowers } from './stream/run-list-stream.js';
import { TriedCalls } from './tried-calls.js';
import { UploadsController } from './uploads/uploads.controller.js';
import { UsageController } from './usage/usage.controller.js';

@Module({})
export class GatewayModule {
  static with(
    runtime: Runtime,
    watch: RunWatch,
    lists: Lists,
    followers: ApprovalFollowers,
    listFollowers: RunListFollowers,
  ): DynamicModule {
    return {
      module: GatewayModule,
      controllers: [
        RunsController,
        CancellationsController,
        RecordsController,
        StatusController,
        ServersController,
        ContentController,
        VerdictsController,
        UploadsController,
        UsageController,
        ListsController,
        DecidedController,
        StandingController,
        ApprovalsController,
        AuditController,
        ProofController,
        DeadLettersController,
        ToolsController,
        SpecificationsController,
        GroupsController,
        AgentsController,
        ConsoleController,
        ConfigurationsController,
        ExplainController,
        WhatIfController,
        DescriptionController,
        DoorsController,
        SlackController,
        SubscriptionsController,
        MailLinksController,
        HooksController,
        SchedulesController,
      ],
      providers: [
        { provide: RUNTIME, useValue: runtime },
        { provide: AUTHENTICATOR, useValue: authenticatorOf(runtime) },
        { provide: RunWatch, useValue: watch },
        { provide: Lists, useValue: lists },
        { provide: LoadWatch, useValue: new LoadWatch(runtime) },
        { provide: ApprovalFollowers, useValue: followers },
        { provide: RunListFollowers, useValue: listFollowers },
        ApprovalDetails,
        Callers,
        Applying,
        Candidates,
        Decisions,
        Doors,
        EarlierResponses,
        WaitingCalls,
        Operators,
        Permission,
        TriedCalls,
        Rights,
        RunReaders,
        RunsService,
        SignIn,
        SlackDecisions,
        StandingDecisions,
        Versions,
        WhatIfs,
        WholeLog,
      ],
    };
  }
}

export interface Gateway extends Service {
  /** Where it listens, as `http://host:port`. */
  readonly url: string;
}

/**
 * Starts the gateway: requests and decisions come in over HTTP and go onto the log, and runs are streamed as they go
 * on. The console that was built into the folder is served beside them, unless SLUICE_CONSOLE is off.
 */
export async function startGateway(runtime: Runtime, { consoleFolder = builtConsole } = {}): Promise<Gateway> {
  const { environment, log } = runtime;
  const { host, httpPort: port, http } = environment;
  const watch = new RunWatch(runtime, http.streams);
  const lists = new Lists(runtime);
  const followers = new ApprovalFollowers(http.streams);
  const listFollowers = new RunListFollowers(http.streams);
  const server = new LimitedServer(http);
  const app = await NestFactory.create<NestExpressApplication>(
    GatewayModule.with(runtime, watch, lists, followers, listFollowers),
    server,
    {
      logger: nestLog(log),
      abortOnError: false,
      rawBody: true,
    },
  );
  app.use(countRequests(runtime.metrics));
  let isStopping = false;
  app.use((_: Request, response: Response, next: NextFunction) => {
    if (isStopping) response.set('connection', 'close');
    next();
  });
  app.use(securityHeaders);
  app.use(takeApiKey);
  app.use(refuseForeignHosts(app.getHttpServer(), environment));
  app.use(allowOrigins(environment.httpOrigins));
  if (http.isConsoleServed) app.use(serveConsole(new ConsoleFiles(consoleFolder), () => issuersOf(runtime)));
  app.use(refuseLargeBodies(http, (environment.content ?? contentByDefault).maxBytes));
  app.useBodyParser('json', { limit: http.bodyBytes, type: isJson });
  app.useGlobalFilters(new RefusalFilter(log));
  app.disable('x-powered-by');
  app.disable('etag');
  try {
    await app.listen(port, host);
  } catch (error) {
    await app.close();
    throw listenError(error, { host, port, what: 'The gateway', variable: 'SLUICE_HTTP_PORT' });
  }
  watch.start();
  await lists.start();
  const url = `http://${host}:${(app.getHttpServer().address() as AddressInfo).port}`;
  log.info({ url }, 'requests over HTTP are taken');
  return {
    url,
    close: async () => {
      // Streams of runs end first, with a reason; responses under way are finished.
      isStopping = true;
      followers.close();
      listFollowers.close();
      await watch.close();
      await closeServer(app, environment.drainMs);
      await lists.close();
    },
  };
}

/** Whether the parser of bodies reads this one; a file that is JSON is a file. */
function isJson(request: IncomingMessage): boolean {
  return !isUpload(request) && /^\s*application\/json\s*(?:;|$)/i.test(request.headers['content-type'] ?? '');
}

/** The origin of the issuer that people sign in to the console at; none where there is none. */
function issuersOf({ configurations }: Pick<Runtime, 'configurations'>): readonly string[] {
  const { identity } = configurations.current().configuration;
  return identity.provider === 'jwt' && identity.console !== undefined ? [new URL(identity.console.issuer).origin] : [];
}

/**
 * Connections that are idle would hold up the end, and so would readers that do not read: they are closed, the latter
 * after the drain time.
 */
async function closeServer(app: NestExpressApplication, drainMs: number): Promise<void> {
  const server = app.getHttpServer() as Server;
  // Clients that ask now learn by an answer that the connection ends; without connections nothing is waited for.
  if (await hasConnections(server)) await pause(lastAnswersMs);
  const idle = setInterval(() => server.closeIdleConnections(), 50);
  const late = setTimeout(() => server.closeAllConnections(), drainMs);
  try {
    await app.close();
  } finally {
    clearInterval(idle);
    clearTimeout(late);
  }
}

/** For how long requests are still taken once the gateway stops, milliseconds. */
const lastAnswersMs = 250;

function hasConnections(server: Server): Promise<boolean> {
  return new Promise((resolve) => server.getConnections((error, count) => resolve(error === null && count > 0)));
}
