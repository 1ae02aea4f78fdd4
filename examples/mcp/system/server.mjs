#!/usr/bin/env node
// A sample MCP server for files within folders that its operator names: `npx . FOLDER…`, with --read-only without
// tools that change files.
import { parseArgs } from 'node:util';
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import { Folders } from './folders.mjs';
import { deleteFile, largestFile, listFiles, readFile, searchFiles, writeFile } from './files.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { 'read-only': { type: 'boolean', default: false } },
});
const folders = await openFolders();

const filepath = z
  .string()
  .min(1)
  .max(4_096)
  .describe('Path to file within allowed directories; a relative one begins in the first of them.');
const folder = filepath.describe('Directory path within allowed directories; a relative one begins in the first.');
const fileNames = z.array(z.string()).describe('Paths below the directory; those of directories end in a slash.');
const reads = { readOnlyHint: true, destructiveHint: false, openWorldHint: false };
const destroys = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false };

const answer = (text, structuredContent) => ({ content: [{ type: 'text', text }], structuredContent });
const listed = (what, names, more) =>
  [`Found ${names.length} ${what}${names.length === 0 ? '.' : ':'}`, ...names.map((name) => `- ${name}`)].join('\n') +
  (more ? '\nThere are more. Ask for a directory further down, or with a narrower pattern.' : '');

serveStdio(() => {
  const server = new McpServer({ name: 'system', version: '0.1.0' });
  server.registerTool(
    'read_file',
    {
      description:
        `Read contents of a file within the allowed directories: UTF-8 text of at most ${largestFile} bytes. Takes its path, returns the ` +
        'text. Example: { "filepath": "notes/today.md" }.',
      inputSchema: z.strictObject({ filepath }),
      outputSchema: z.object({ filepath: z.string(), bytes: z.int(), content: z.string() }),
      annotations: { title: 'File Reader', ...reads },
    },
    async (given) => {
      const file = await readFile(folders, given.filepath);
      return answer(file.content, file);
    },
  );
  server.registerTool(
    'list_files',
    {
      description:
        'List the files and directories directly within an allowed directory. Takes its path, or nothing for the first allowed one; ' +
        'returns the names in order. Example: { "path": "notes" }.',
      inputSchema: z.strictObject({ path: folder.optional() }),
      outputSchema: z.object({ path: z.string(), files: fileNames, more: z.boolean() }),
      annotations: { title: 'Directory Listing', ...reads },
    },
    async ({ path = '.' }) => {
      const { files, more } = await listFiles(folders, path);
      return answer(listed('entries', files, more), { path, files, more });
    },
  );
  server.registerTool(
    'search_files',
    {
      description:
        'Search for files in a directory and all below it, by name. Takes its path and a glob pattern (* within a name, ** across ' +
        'directories, ? for one character); returns the paths that match. Example: { "path": ".", "pattern": "*.pdf" }.',
      inputSchema: z.strictObject({
        path: folder.describe('Directory path to search'),
        pattern: z
          .string()
          .min(1)
          .max(256)
          .optional()
          .describe('Search pattern (glob). One without a slash is compared with names alone. Left out: every file.'),
      }),
      outputSchema: z.object({ path: z.string(), files: fileNames, more: z.boolean() }),
      annotations: { title: 'File Search', ...reads },
    },
    async ({ path, pattern = '*' }) => {
      const { files, more } = await searchFiles(folders, path, pattern);
      return answer(listed('files', files, more), { path, files, more });
    },
  );
  if (values['read-only']) return server;
  server.registerTool(
    'write_file',
    {
      description:
        'Write a text to a file within the allowed directories, in place of what the file held. The directory must exist. Takes path and ' +
        'text, returns the number of bytes written. Example: { "filepath": "notes/today.md", "content": "Call Ann." }.',
      inputSchema: z.strictObject({
        filepath,
        content: z.string().max(largestFile).describe(`The whole new text, at most ${largestFile} bytes in UTF-8.`),
      }),
      outputSchema: z.object({ filepath: z.string(), bytes: z.int() }),
      annotations: { title: 'File System Write', ...destroys },
    },
    async (given) => {
      const written = await writeFile(folders, given.filepath, given.content);
      return answer(`Wrote ${written.bytes} bytes to ${written.filepath}.`, written);
    },
  );
  server.registerTool(
    'delete_file',
    {
      description:
        'Delete a file from the filesystem, within the allowed directories; directories stay. Takes its path, returns it once the file ' +
        'is gone. Example: { "filepath": "notes/today.md" }.',
      inputSchema: z.strictObject({ filepath }),
      outputSchema: z.object({ filepath: z.string(), deleted: z.literal(true) }),
      annotations: { title: 'File Deletion Tool', ...destroys },
    },
    async (given) => {
      const deleted = await deleteFile(folders, given.filepath);
      return answer(`Deleted ${deleted.filepath}.`, deleted);
    },
  );
  return server;
});

/** Ends the program with a sentence where a folder cannot be used: a server without folders would refuse every call. */
async function openFolders() {
  try {
    return await Folders.open(positionals);
  } catch (error) {
    console.error(error.message);
    process.exit(1);
  }
}
