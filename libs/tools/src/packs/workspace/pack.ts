import { appendFile } from './append-file.js';
import { deleteFile } from './delete-file.js';
import { fileExists } from './file-exists.js';
import { getWorkspaceSummary } from './get-workspace-summary.js';
import { listFiles } from './list-files.js';
import { readFile } from './read-file.js';
import { searchFiles } from './search-files.js';
import { writeFile } from './write-file.js';

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
