import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { localPrincipal } from '@sluice/core';
import type { AgentRequest, StepContent } from '@sluice/contracts';
import type { Bus } from '@sluice/bus';
import { keepFile, mostQuestionContent } from '@sluice/run';
import {
  authenticatorOf,
  contentByDefault,
  contentExpiry,
  openContent,
  openLedger,
  ownToken,
  systemClock,
  verifierIfAny,
} from '@sluice/host';
import type { Environment } from '@sluice/host';
import { configurationNow } from './approvals/approval-log.js';
import type { CommandContext } from './commands/command-context.js';

/** A file of a question, as it was read. */
export interface QuestionFile {
  readonly name: string;
  readonly bytes: Buffer;
}

/** Reads the files. Throws a sentence for one that is not there, is no file, or is larger than content may be. */
export async function readFiles(
  paths: readonly string[],
  { content }: Pick<Environment, 'content'>,
): Promise<readonly QuestionFile[]> {
  const { maxBytes } = content ?? contentByDefault;
  if (paths.length > mostQuestionContent)
    throw new Error(`There are ${paths.length} files, and a question has ${mostQuestionContent} at most.`);
  const files: QuestionFile[] = [];
  for (const path of paths) files.push({ name: basename(path), bytes: await read(path, maxBytes) });
  return files;
}

async function read(path: string, maxBytes: number): Promise<Buffer> {
  const handle = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    throw new Error(`The file ${path} cannot be read: ${error.code === 'ENOENT' ? 'there is none' : error.message}.`);
  });
  try {
    const about = await handle.stat();
    if (!about.isFile()) throw new Error(`${path} is no file. Name a file with --file.`);
    if (about.size > maxBytes)
      throw new Error(`The file ${path} has ${about.size} bytes, and SLUICE_CONTENT_BYTES permits ${maxBytes}.`);
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

/**
 * The request with the names of its files, which are written to the content store as content of its run. The store is
 * that of the services, so this process needs the same settings.
 */
export async function withFiles<T extends AgentRequest & { readonly requestId: string }>(
  request: T,
  files: readonly QuestionFile[],
  bus: Bus,
  context: CommandContext,
): Promise<T> {
  if (files.length === 0) return request;
  const { environment } = context;
  if (environment.bus === 'kafka' && environment.databaseUrl === null && (environment.content?.bucket ?? null) === null)
    throw new Error(
      '--file needs the content store of the services. Set DATABASE_URL or SLUICE_CONTENT_BUCKET as they have it.',
    );
  const owner = { tenantId: await tenantOfCaller(bus, context), runId: request.requestId };
  const store = openContent(environment, systemClock);
  try {
    const content: StepContent[] = [];
    const expiresAt = contentExpiry({ clock: systemClock, environment });
    for (const { bytes, name } of files)
      content.push(await keepFile(store, owner, { bytes, name, type: null }, expiresAt));
    return { ...request, content };
  } finally {
    await store.close();
  }
}

/** The tenant of the credential that the request is sent with. */
async function tenantOfCaller(bus: Bus, { environment, log }: CommandContext): Promise<string> {
  const configuration = await configurationNow({ bus, signatures: verifierIfAny(environment) });
  const { identity } = configuration ?? {};
  if (identity === undefined || identity.provider === 'none') return localPrincipal.tenantId;
  const token = ownToken(environment);
  if (token === undefined)
    throw new Error('SLUICE_TOKEN is not set. It must hold your credential, since the configuration has an identity.');
  const { ledger } = await openLedger(environment, log);
  try {
    const authenticator = authenticatorOf({ environment, documents: ledger.documents });
    const sender = await authenticator.authenticate(identity, `Bearer ${token}`, systemClock.now());
    if (!sender.ok) throw new Error(`${sender.message} SLUICE_TOKEN holds it.`);
    return sender.principal.tenantId;
  } finally {
    await ledger.close();
  }
}
