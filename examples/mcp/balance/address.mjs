const characters = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const prefix = 'secret';
const generators = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];

/** Whether a text is a Bech32 address (BIP 173) of Secret Network, its checksum included. */
export function isSecretAddress(text) {
  if (!/^secret1[02-9ac-hj-np-z]{38}$/.test(text)) return false;
  const data = [...text.slice(prefix.length + 1)].map((character) => characters.indexOf(character));
  const expanded = [...prefix].map((c) => c.charCodeAt(0));
  return checksum([...expanded.map((code) => code >> 5), 0, ...expanded.map((code) => code & 31), ...data]) === 1;
}

function checksum(values) {
  let sum = 1;
  for (const value of values) {
    const top = sum >>> 25;
    sum = ((sum & 0x1ffffff) << 5) ^ value;
    generators.forEach((generator, bit) => {
      if ((top >> bit) & 1) sum ^= generator;
    });
  }
  return sum >>> 0;
}
