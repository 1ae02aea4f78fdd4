import { appendFile } from './tools/append-file.js';
import { deleteFile } from './tools/delete-file.js';
import { fileExists } from './tools/file-exists.js';
import { getWorkspaceSummary } from './tools/get-workspace-summary.js';
import { listFiles } from './tools/list-files.js';
import { readFile } from './tools/read-file.js';
import { searchFiles } from './tools/search-files.js';
import { writeFile } from './tools/write-file.js';

/** The files of a session (D-T01 to D-T08). */
export const workspaceTools = [
  readFile,
  writeFile,
  appendFile,
  listFiles,
  deleteFile,
  searchFiles,
  fileExists,
  getWorkspaceSummary,
] as const;
