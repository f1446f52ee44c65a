import { endianness } from 'node:os';

/** The system call numbers of an architecture; `audit` is its constant in linux/audit.h. */
type Machine = { audit: number; calls: number[]; clone: number };

// From asm/unistd_64.h (x64) and asm-generic/unistd.h (arm64). Calls that neither a decoder nor the C library needs:
// sockets of any family (network namespaces do not cover vsock), namespaces and mounts, other processes' memory, keys,
// BPF, modules, parts of the kernel with a history of sandbox escapes, and what takes memory that the limit of the
// process does not count: further processes, shared memory and queues.
const OLD_CALLS = {
  // socket, ptrace, pivot_root, mount, umount2, init_module, kexec_load, add_key, request_key, keyctl, unshare,
  // perf_event_open, open_by_handle_at, setns, process_vm_readv, process_vm_writev, kcmp, finit_module,
  // kexec_file_load, bpf, userfaultfd, shmget, semget, msgget, memfd_create; on x64 fork, vfork
  x64: [
    41, 101, 155, 165, 166, 175, 246, 248, 249, 250, 272, 298, 304, 308, 310, 311, 312, 313, 320, 321, 323, 29, 64, 68,
    319, 57, 58,
  ],
  arm64: [
    198, 117, 41, 40, 39, 105, 104, 217, 218, 219, 97, 241, 265, 268, 270, 271, 272, 273, 294, 280, 282, 194, 190, 186,
    279,
  ],
};
// io_uring (3), open_tree, move_mount, fsopen, fsconfig, fsmount, fspick, pidfd_getfd, mount_setattr, memfd_secret: the
// same on both.
const NEW_CALLS = [425, 426, 427, 428, 429, 430, 431, 432, 433, 438, 442, 447];
const CLONE3 = 435;

const MACHINES: Partial<Record<NodeJS.Architecture, Machine>> = {
  x64: { audit: 0xc000003e, calls: [...OLD_CALLS.x64, ...NEW_CALLS], clone: 56 },
  arm64: { audit: 0xc00000b7, calls: [...OLD_CALLS.arm64, ...NEW_CALLS], clone: 220 },
};

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET of linux/sched.h. */
const CLONE_NAMESPACES = 0x7e020000;
/** CLONE_THREAD: with the memory of the process. */
const CLONE_THREAD = 0x00010000;
/** Marks numbers of the x32 ABI, which differ from those above. */
const X32_BIT = 0x40000000;

const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const EPERM = 1;
const ENOSYS = 38;
const refuse = (code: number) => 0x00050000 | code;

// Classic BPF of linux/filter.h, and the places of its input, struct seccomp_data.
const LOAD = 0x20;
const JUMP_EQUAL = 0x15;
const JUMP_GREATER_EQUAL = 0x35;
const JUMP_ANY_BIT = 0x45;
const RETURN = 0x06;
const AT = { number: 0, machine: 4, firstArgument: 16 };

type Instruction = [code: number, ifTrue: number, ifFalse: number, value: number];

/**
 * A seccomp program in the kernel's format that rejects the system calls above; null for an unknown architecture. It is
 * a deny list, because an allow list would differ with each version of the C library and of ffmpeg.
 */
export function systemCallFilter(architecture: NodeJS.Architecture = process.arch): Buffer | null {
  const machine = MACHINES[architecture];
  if (machine === undefined || endianness() !== 'LE') return null;
  const whenEqual = (value: number, result: number): Instruction[] => [
    [JUMP_EQUAL, 0, 1, value],
    [RETURN, 0, 0, result],
  ];
  const instructions: Instruction[] = [
    [LOAD, 0, 0, AT.machine],
    [JUMP_EQUAL, 1, 0, machine.audit],
    [RETURN, 0, 0, KILL],
    [LOAD, 0, 0, AT.number],
    [JUMP_GREATER_EQUAL, 0, 1, X32_BIT],
    [RETURN, 0, 0, refuse(ENOSYS)],
    ...machine.calls.flatMap((number) => whenEqual(number, refuse(EPERM))),
    // A filter cannot read the flags of clone3, which lie in memory. After ENOSYS the C library uses clone.
    ...whenEqual(CLONE3, refuse(ENOSYS)),
    // Threads only.
    [JUMP_EQUAL, 0, 4, machine.clone],
    [LOAD, 0, 0, AT.firstArgument],
    [JUMP_ANY_BIT, 1, 0, CLONE_NAMESPACES],
    [JUMP_ANY_BIT, 1, 0, CLONE_THREAD],
    [RETURN, 0, 0, refuse(EPERM)],
    [RETURN, 0, 0, ALLOW],
  ];
  return Buffer.concat(instructions.map(encode));
}

/** struct sock_filter: 16 bits, twice 8, 32. */
function encode([code, ifTrue, ifFalse, value]: Instruction): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(ifTrue, 2);
  bytes.writeUInt8(ifFalse, 3);
  bytes.writeUInt32LE(value >>> 0, 4);
  return bytes;
}
