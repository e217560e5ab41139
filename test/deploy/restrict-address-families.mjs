// Restricts the sockets that a process may open, like RestrictAddressFamilies of systemd. Load it with `node --import`.
// A seccomp filter answers EAFNOSUPPORT to socket(2) of every family that FAMILIES does not list, e.g. `1,2,10`. Only
// for Linux on x64 and arm64.
import { createRequire } from 'node:module'

const koffi = createRequire(new URL('../../packages/hosting/package.json', import.meta.url))('koffi')
const libc = koffi.load(null)
const prctl = libc.func('int prctl(int, unsigned long, unsigned long, unsigned long, unsigned long)')
const syscall = libc.func('long syscall(long, long, long, void *)')

const NUMBERS = { x64: { seccomp: 317, socket: 41 }, arm64: { seccomp: 277, socket: 198 } }
const { seccomp, socket } = NUMBERS[process.arch]
const families = process.env.FAMILIES.split(',').map(Number)

const [LOAD, EQUAL, RETURN] = [0x20, 0x15, 0x06]
const [ALLOW, REFUSE] = [0x7fff0000, 0x00050000 | 97]
// Classic BPF over `struct seccomp_data`: the system call's number is at offset 0, its first argument at offset 16.
const lines = [
  [LOAD, 0, 0, 0],
  [EQUAL, 0, families.length + 2, socket],
  [LOAD, 0, 0, 16],
  ...families.map((family, nth) => [EQUAL, families.length - nth, 0, family]),
  [RETURN, 0, 0, REFUSE],
  [RETURN, 0, 0, ALLOW],
]
const program = Buffer.alloc(lines.length * 8)
for (const [nth, [code, yes, no, value]] of lines.entries()) {
  program.writeUInt16LE(code, nth * 8)
  program.writeUInt8(yes, nth * 8 + 2)
  program.writeUInt8(no, nth * 8 + 3)
  program.writeUInt32LE(value >>> 0, nth * 8 + 4)
}
const header = Buffer.alloc(16)
header.writeUInt16LE(lines.length, 0)
header.writeBigUInt64LE(BigInt(koffi.address(program)), 8)

const [PR_SET_NO_NEW_PRIVS, SECCOMP_SET_MODE_FILTER, FLAG_ALL_THREADS] = [38, 1, 1]
if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) !== 0) throw new Error('no_new_privs was refused')
if (Number(syscall(seccomp, SECCOMP_SET_MODE_FILTER, FLAG_ALL_THREADS, header)) !== 0)
  throw new Error('the seccomp filter was refused')
