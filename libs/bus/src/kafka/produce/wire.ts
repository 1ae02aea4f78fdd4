/**
 * Writes the fields of a request to Kafka. `flexible` is the newer form (KIP-482): lengths are compact numbers, one
 * more than they say, and each structure ends with fields of its own by number, of which these requests write none.
 */
export class RequestWriter {
  private readonly parts: Buffer[] = [];

  constructor(private readonly flexible: boolean) {
    // The header of a request ends so too, and kafkajs writes the older one, which does not.
    this.end();
  }

  int16(value: number): this {
    const part = Buffer.allocUnsafe(2);
    part.writeInt16BE(value);
    return this.add(part);
  }

  int32(value: number): this {
    const part = Buffer.allocUnsafe(4);
    part.writeInt32BE(value);
    return this.add(part);
  }

  int64(value: bigint): this {
    const part = Buffer.allocUnsafe(8);
    part.writeBigInt64BE(value);
    return this.add(part);
  }

  int8(value: number): this {
    return this.add(Buffer.of(value));
  }

  boolean(value: boolean): this {
    return this.int8(value ? 1 : 0);
  }

  text(value: string | null): this {
    const bytes = value === null ? null : Buffer.from(value);
    if (this.flexible) this.compact(bytes === null ? 0 : bytes.length + 1);
    else this.int16(bytes?.length ?? -1);
    return bytes === null ? this : this.add(bytes);
  }

  bytes(value: Buffer): this {
    this.length(value.length);
    return this.add(value);
  }

  array<T>(items: readonly T[], write: (item: T) => void): this {
    this.length(items.length);
    items.forEach(write);
    return this;
  }

  /** Ends a structure. */
  end(): this {
    return this.flexible ? this.add(Buffer.of(0)) : this;
  }

  done(): Buffer {
    return Buffer.concat(this.parts);
  }

  private length(length: number): void {
    if (this.flexible) this.compact(length + 1);
    else this.int32(length);
  }

  private compact(value: number): void {
    const bytes: number[] = [];
    let rest = value;
    for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
    this.add(Buffer.of(...bytes, rest));
  }

  private add(part: Buffer): this {
    this.parts.push(part);
    return this;
  }
}

/** Reads those of an answer. */
export class AnswerReader {
  private at = 0;

  /** `headed` says whether the answer’s header ends like a structure; that of ApiVersions never does. */
  constructor(
    private readonly raw: Buffer,
    private readonly flexible: boolean,
    headed = flexible,
  ) {
    if (headed) this.end();
  }

  int16(): number {
    return this.raw.readInt16BE(this.pass(2));
  }

  int32(): number {
    return this.raw.readInt32BE(this.pass(4));
  }

  int64(): bigint {
    return this.raw.readBigInt64BE(this.pass(8));
  }

  text(): string | null {
    const length = this.flexible ? this.compact() - 1 : this.int16();
    if (length < 0) return null;
    const from = this.pass(length);
    return this.raw.toString('utf8', from, from + length);
  }

  array<T>(read: () => T): readonly T[] {
    const length = this.flexible ? this.compact() - 1 : this.int32();
    return Array.from({ length: Math.max(length, 0) }, read);
  }

  private compact(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.raw.readUInt8(this.pass(1));
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
  }

  /** Ends a structure; `field` gets each by its number, to read what it knows. */
  end(field: (number: number) => void = () => undefined): void {
    if (!this.flexible) return;
    for (let left = this.compact(); left > 0; left--) {
      const number = this.compact();
      const past = this.compact() + this.at;
      field(number);
      this.at = past;
    }
  }

  private pass(bytes: number): number {
    const from = this.at;
    this.at += bytes;
    return from;
  }
}
