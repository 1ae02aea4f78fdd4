import { BlockList, isIP } from 'node:net';

/** IPv4 that is not of the public internet, by IANA’s registry of special-purpose addresses. */
const notPublic4 =
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 ' +
  '198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4';

/** Parts of 2000::/3, outside of which nothing is public, that are not: Teredo and others, documentation, 6to4. */
const notPublic6 = '2001::/23 2001:db8::/32 2002::/16 3fff::/20';

const blocked = new BlockList();
for (const range of notPublic4.split(' ')) addTo(blocked, range, 'ipv4');
for (const range of notPublic6.split(' ')) addTo(blocked, range, 'ipv6');
const public6 = new BlockList();
public6.addSubnet('2000::', 3, 'ipv6');

/** Whether an address, as the system or a URL writes it, is one of the public internet. */
export function isPublic(address: string): boolean {
  const bare = address.replace(/^\[|\]$/g, '').replace(/%.*$/, '');
  switch (isIP(bare)) {
    case 4:
      return !blocked.check(bare, 'ipv4');
    case 6:
      return public6.check(bare, 'ipv6') && !blocked.check(bare, 'ipv6');
    default:
      return false;
  }
}

function addTo(list: BlockList, range: string, family: 'ipv4' | 'ipv6'): void {
  const [network = '', bits = ''] = range.split('/');
  list.addSubnet(network, Number(bits), family);
}
