/** The line-up of a virtual machine. A kept state fits only a machine with exactly the same devices. */
import type { Accelerator } from "./accelerator.ts";
import type { VmImage } from "./vm-image.ts";

/** Raise it when the devices change. */
export const lineUp = 1;

/** PostgreSQL, Node and their work; what a machine does not touch costs nothing. */
const memoryMib = 768;

export interface GuestMachine {
  readonly image: VmImage;
  readonly accelerator: Accelerator;
  /** The machine's own disk, over the image's. */
  readonly disk: string;
  /** A tap device of the network namespace that the program is started in. */
  readonly tap: string;
  readonly monitorSocket: string;
  readonly agentSocket: string;
  readonly consoleFile: string;
  /** Start from this kept state instead of booting. */
  readonly keptState?: string;
}

/** The command line. Kernel and initial disk are given from outside: there is no boot loader to wait for. */
export function machineCommand(machine: GuestMachine): string[] {
  const { image, accelerator } = machine;
  const device = (...parts: string[]) => ["-device", parts.join(",")];
  return [
    ...["qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none"],
    ...["-M", "pc,hpet=on", "-smp", "1", "-m", String(memoryMib)],
    ...(accelerator === "kvm"
      ? ["-accel", "kvm", "-cpu", "host,-arch-capabilities"]
      : ["-accel", "tcg,thread=multi,tb-size=128", "-cpu", "max"]),
    // The clock of a machine starts right and is its own from then on.
    ...["-rtc", "base=utc,clock=host"],
    ...["-kernel", image.kernel, "-initrd", image.initialDisk],
    ...[
      "-append",
      "root=/dev/vda rw console=ttyS0 quiet panic=1 net.ifnames=0 nokaslr mitigations=off systemd.show_status=0",
    ],
    ...["-drive", `if=none,id=disk,file=${machine.disk},format=qcow2,cache=unsafe`],
    ...device("virtio-blk-pci", "drive=disk"),
    ...["-drive", `if=none,id=packages,file=${image.packages},format=raw,readonly=on`],
    ...device("virtio-blk-pci", "drive=packages"),
    ...device("virtio-rng-pci"),
    ...["-netdev", `tap,id=cable,ifname=${machine.tap},script=no,downscript=no`],
    ...device("virtio-net-pci", "netdev=cable", "mac=02:e5:00:00:00:01"),
    ...device("virtio-serial-pci"),
    ...["-chardev", `socket,id=agent,path=${machine.agentSocket},server=on,wait=off`],
    ...device("virtserialport", "chardev=agent", "name=org.qemu.guest_agent.0"),
    ...["-qmp", `unix:${machine.monitorSocket},server=on,wait=off`],
    ...["-serial", `file:${machine.consoleFile}`],
    ...(machine.keptState === undefined ? [] : ["-loadvm", machine.keptState]),
  ];
}
