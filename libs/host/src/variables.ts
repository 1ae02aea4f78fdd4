/** Environment variables, read with sentences for what is wrong. An empty one counts as absent. */
export class Variables {
  constructor(
    private readonly values: Readonly<Record<string, string | undefined>>,
    private readonly readFile: (path: string) => string,
  ) {}

  text(name: string): string | undefined {
    return this.values[name] || undefined;
  }

  required(name: string, what: string): string {
    const value = this.text(name);
    if (value === undefined) throw new Error(`${name} is not set. Set it to ${what}.`);
    return value;
  }

  /**
   * The value, or what the file holds that `<name>_FILE` names: how secrets reach a container. Throws a sentence if
   * there is none in it.
   */
  secret(name: string): string | undefined {
    const direct = this.text(name);
    const file = this.text(`${name}_FILE`);
    if (direct !== undefined || file === undefined) return direct;
    const held = this.contents(`${name}_FILE`, file).trim();
    if (held === '')
      throw new Error(`${name}_FILE names the file ${file}, which is empty. Put the value of ${name} into it.`);
    return held;
  }

  /** What the file holds that the variable names. */
  file(name: string): string | undefined {
    const path = this.text(name);
    return path === undefined ? undefined : this.contents(name, path);
  }

  integer(name: string, fallback: number, least: number, most: number): number {
    const text = this.text(name);
    if (text === undefined) return fallback;
    const value = Number(text);
    if (!Number.isInteger(value) || value < least || value > most) {
      throw new Error(`${name} is "${text}"; it must be a whole number from ${least} to ${most}.`);
    }
    return value;
  }

  oneOf<T extends string>(name: string, allowed: readonly T[], fallback: T): T {
    const text = this.text(name);
    if (text === undefined) return fallback;
    const found = allowed.find((value) => value === text);
    if (found === undefined) throw new Error(`${name} is "${text}"; it must be one of ${allowed.join(', ')}.`);
    return found;
  }

  private contents(name: string, path: string): string {
    try {
      return this.readFile(path);
    } catch (error) {
      throw new Error(`${name} names the file ${path}, which cannot be read: ${(error as Error).message}.`, {
        cause: error,
      });
    }
  }
}
