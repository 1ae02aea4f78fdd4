import { crc32, deflateRawSync, deflateSync } from 'node:zlib';

/** A ZIP archive with one entry, as Word would write it. */
export function zipped(entries: Readonly<Record<string, Buffer>>): Buffer {
  const locals: Buffer[] = [];
  const central: Buffer[] = [];
  let at = 0;
  for (const [name, content] of Object.entries(entries)) {
    const packed = deflateRawSync(content, { level: 9 });
    const head = Buffer.alloc(26);
    head.writeUInt16LE(20, 0);
    head.writeUInt16LE(8, 4);
    head.writeUInt32LE(crc32(content), 10);
    head.writeUInt32LE(packed.length, 14);
    head.writeUInt32LE(content.length, 18);
    head.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from('PK\u0003\u0004'), head, Buffer.from(name), packed]);
    const record = Buffer.alloc(46 - 4);
    record.writeUInt16LE(20, 0);
    head.copy(record, 2, 0, 24);
    record.writeUInt32LE(at, 38);
    central.push(Buffer.concat([Buffer.from('PK\u0001\u0002'), record, Buffer.from(name)]));
    locals.push(local);
    at += local.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(central.length, 4);
  end.writeUInt16LE(central.length, 6);
  end.writeUInt32LE(directory.length, 8);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...locals, directory, Buffer.from('PK\u0005\u0006'), end]);
}

/** A DOCX whose body is this XML, with further files. */
export function docxOf(body: Buffer, more: Readonly<Record<string, Buffer>> = {}): Buffer {
  const namespace = 'http://schemas.openxmlformats.org';
  return zipped({
    '[Content_Types].xml': Buffer.from(
      `<Types xmlns="${namespace}/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`,
    ),
    '_rels/.rels': Buffer.from(
      `<Relationships xmlns="${namespace}/package/2006/relationships"><Relationship Id="r" Type="${namespace}/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`,
    ),
    'word/document.xml': Buffer.concat([
      Buffer.from(
        `<w:document xmlns:w="${namespace}/wordprocessingml/2006/main" xmlns:m="${namespace}/officeDocument/2006/math"><w:body>`,
      ),
      body,
      Buffer.from('</w:body></w:document>'),
    ]),
    ...more,
  });
}

/** A PDF of one page whose content is this stream, compressed; `other` is its font G. */
export function pdfOf(content: Buffer, other = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold >>'): Buffer {
  const packed = deflateSync(content, { level: 9 });
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << /Font << /F 5 0 R /G 6 0 R >> >> >>',
  ].map((each) => Buffer.from(each));
  objects.push(
    Buffer.concat([
      Buffer.from(`<< /Length ${packed.length} /Filter /FlateDecode >>\nstream\n`),
      packed,
      Buffer.from('\nendstream'),
    ]),
    Buffer.from('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>'),
    Buffer.from(other),
  );
  const parts: Buffer[] = [Buffer.from('%PDF-1.4\n')];
  const places: number[] = [];
  for (const [at, object] of objects.entries()) {
    places.push(parts.reduce((sum, { length }) => sum + length, 0));
    parts.push(Buffer.from(`${at + 1} 0 obj\n`), object, Buffer.from('\nendobj\n'));
  }
  const start = parts.reduce((sum, { length }) => sum + length, 0);
  const rows = places.map((place) => `${String(place).padStart(10, '0')} 00000 n \n`).join('');
  parts.push(
    Buffer.from(
      `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}trailer << /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF`,
    ),
  );
  return Buffer.concat(parts);
}
