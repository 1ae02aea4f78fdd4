// A real MCP server over stdio that answers with pictures and files, as a browser or a scanner does.
import { deflateSync } from 'node:zlib';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const crcs = Uint32Array.from({ length: 256 }, (_, n) => {
  let crc = n;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc >>> 0;
});
const crcOf = (bytes) => ~bytes.reduce((crc, byte) => crcs[(crc ^ byte) & 255] ^ (crc >>> 8), -1) >>> 0;

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type), data]);
  const [length, crc] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  crc.writeUInt32BE(crcOf(body));
  return Buffer.concat([length, body, crc]);
}

/** A square of one grey. */
function png(side, grey) {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header[8] = 8;
  const rows = Buffer.alloc(side * (side + 1), grey);
  for (let row = 0; row < side; row++) rows[row * (side + 1)] = 0;
  const chunks = [chunk('IHDR', header), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), ...chunks]);
}

/** One page with one line. */
function pdf(words) {
  const content = `BT /F1 18 Tf 20 100 Td (${words}) Tj ET`;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ];
  let text = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const at = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return at;
  });
  const rows = offsets.map((at) => `${String(at).padStart(10, '0')} 00000 n \n`).join('');
  const trailer = `trailer << /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`;
  return Buffer.from(`${text}xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}${trailer}`);
}

const image = (bytes, mimeType = 'image/png') => ({ type: 'image', data: bytes.toString('base64'), mimeType });
const answers = {
  photo: ({ grey = 0 }) => ({ content: [{ type: 'text', text: 'Taken.' }, image(png(40, grey))] }),
  mislabelled: () => ({ content: [image(png(40, 7), 'image/jpeg'), image(Buffer.from('no picture at all'))] }),
  leaflet: () => ({
    content: [
      {
        type: 'resource',
        resource: {
          uri: 'file:///l.pdf',
          mimeType: 'application/pdf',
          blob: pdf('Doors open at nine').toString('base64'),
        },
      },
    ],
    structuredContent: { pages: 1 },
  }),
};

const server = new Server({ name: 'pictures', version: '1.0.0' }, { capabilities: { tools: {} } });
const inputSchema = { type: 'object', properties: { grey: { type: 'integer' } } };
server.setRequestHandler(ListToolsRequestSchema, async () => ({
  tools: Object.keys(answers).map((name) => ({ name, description: `Gives a ${name}`, inputSchema })),
}));
server.setRequestHandler(CallToolRequestSchema, async ({ params }) => answers[params.name](params.arguments ?? {}));
await server.connect(new StdioServerTransport());
