// What a model reads where a call fails, in three kinds: what it asked for is wrong and what to ask for instead, the
// system failed and another try may help, or the operator has to permit it. A tool throws one; the SDK makes a result
// with `isError` of it.

export const invalidPath = () => new Error('Invalid file path. Please provide a path within allowed directories.');

export const anotherKind = (path, kind) =>
  new Error(`Invalid file path. ${path} is ${kind}. Please provide the path of a regular file.`);

export const noDirectory = (path) =>
  new Error(`Invalid file path. ${path} is no directory. Please provide the path of a directory.`);

export const tooLarge = (path, bytes, most) =>
  new Error(`${path} has ${bytes} bytes, and at most ${most} are read or written. Please use a smaller file.`);

export const notText = (path) => new Error(`${path} holds no UTF-8 text. Please provide the path of a text file.`);

/**
 * What an error of the file system means to the model. The system’s own text names folders that are not the model’s
 * business.
 */
export function fromSystem({ code = 'unknown' }, path) {
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
    case 'ENAMETOOLONG':
      return new Error(`File not found at path ${path}. Please list the directory and provide a path that is there.`);
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new Error(
        `Access denied. This operation requires additional permissions: ${path} is closed to this server.`,
      );
    case 'ELOOP':
      return anotherKind(path, 'a link, which is never followed');
    default:
      return new Error(`The file system failed (${code}) at ${path}. Please try again.`);
  }
}
