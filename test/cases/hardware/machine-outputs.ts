/** Outputs about machine, written by us after the form of real ones, bad news included. */
import type { SavedOutput } from "./saved-output.ts";

const dimm = (locator: string, configured: number, size = "32 GB") => `
Handle 0x11${locator.charCodeAt(0)}${locator.slice(1).padStart(2, "0")}, DMI type 17, 92 bytes
Memory Device
\tArray Handle: 0x1000
\tTotal Width: 72 bits
\tData Width: 64 bits
\tSize: ${size}
\tLocator: ${locator}
\tBank Locator: Not Specified
\tType: DDR5
\tSpeed: 4800 MT/s
\tPart Number: EXAMPLE-32
\tConfigured Memory Speed: ${configured} MT/s
`;

const dmidecode = (ecc: string, dimms: readonly string[]) => `# dmidecode 3.4
Getting SMBIOS data from sysfs.
SMBIOS 3.4.0 present.

Handle 0x0100, DMI type 1, 27 bytes
System Information
\tProduct Name: Example 2U

Handle 0x1000, DMI type 16, 23 bytes
Physical Memory Array
\tUse: System Memory
\tError Correction Type: ${ecc}
\tNumber Of Devices: ${dimms.length}
${dimms.join("")}
Handle 0x2700, DMI type 39, 22 bytes
System Power Supply
\tLocation: PS1
\tMax Power Capacity: 800 W
\tStatus: Present, OK
\tPlugged: Yes

Handle 0x2701, DMI type 39, 22 bytes
System Power Supply
\tLocation: PS2
\tMax Power Capacity: 800 W
\tStatus: Present, Critical
\tPlugged: Yes

Handle 0xFEFF, DMI type 127, 4 bytes
End Of Table

`;

export const machineOutputs: readonly SavedOutput[] = [
  {
    name: "dmidecode: the last module is slow",
    kind: "dmidecode",
    text: dmidecode("Multi-bit ECC", [dimm("A1", 4800), dimm("A2", 4800), dimm("B1", 4800), dimm("B2", 4000)]),
  },
  {
    name: "dmidecode: no error correction, one socket has less",
    kind: "dmidecode",
    text: dmidecode("None", [dimm("A1", 4800), dimm("A2", 4800), dimm("B1", 4800), dimm("B2", 4800, "No Module Installed")]),
  },
  {
    name: "ipmitool: the last of three supplies lost its feed",
    kind: "ipmitool-sdr",
    text: `PS Redundancy,77h,ok,7.1,Fully Redundant
Status,85h,ok,10.1,Presence detected
Status,86h,ok,10.2,Presence detected
Status,87h,ok,10.3,Presence detected, Power Supply AC lost
`,
  },
  {
    name: "ipmitool: one supply of two slots",
    kind: "ipmitool-sdr",
    text: `PS1 Status       | C8h | ok  | 10.1 | Presence detected
PS2 Status       | C9h | ok  | 10.2 | Device Absent
`,
  },
  {
    name: "redfish: two supplies on two feeds, one cannot carry the peak",
    kind: "redfish-power",
    text: JSON.stringify({
      PowerControl: [{ PowerMetrics: { MaxConsumedWatts: 910 } }],
      PowerSupplies: [1, 2].map((slot) => ({
        MemberId: `PSU.${slot}`,
        LineInputVoltage: 230,
        PowerCapacityWatts: 800,
        Status: { Health: "OK", State: "Enabled" },
      })),
      Redundancy: [],
    }),
  },
  {
    name: "redfish: two supplies, redundant",
    kind: "redfish-power",
    text: JSON.stringify({
      PowerControl: [{ PowerMetrics: { MaxConsumedWatts: 410 } }],
      PowerSupplies: [1, 2].map((slot) => ({
        MemberId: `PSU.${slot}`,
        LineInputVoltage: 230,
        PowerCapacityWatts: 800,
        Status: { Health: "OK", State: "Enabled" },
      })),
    }),
  },
  {
    name: "lscpu: nested JSON, two sockets in one node",
    kind: "lscpu",
    text: JSON.stringify({
      lscpu: [
        { field: "Architecture:", data: "x86_64" },
        { field: "CPU(s):", data: "64", children: [{ field: "On-line CPU(s) list:", data: "0-63" }] },
        {
          field: "Vendor ID:",
          data: "GenuineIntel",
          children: [
            {
              field: "Model name:",
              data: "Example CPU",
              children: [
                { field: "Thread(s) per core:", data: "2" },
                { field: "Core(s) per socket:", data: "16" },
                { field: "Socket(s):", data: "2" },
                { field: "Flags:", data: "fpu vme" },
              ],
            },
          ],
        },
        {
          field: "NUMA:",
          data: null,
          children: [
            { field: "NUMA node(s):", data: "1" },
            { field: "NUMA node0 CPU(s):", data: "0-63" },
          ],
        },
      ],
    }),
  },
  {
    name: "lscpu: flat JSON",
    kind: "lscpu",
    text: JSON.stringify({
      lscpu: [
        { field: "Architecture:", data: "aarch64" },
        { field: "CPU(s):", data: "8" },
        { field: "Core(s) per socket:", data: "8" },
        { field: "Socket(s):", data: "1" },
        { field: "NUMA node(s):", data: "1" },
        { field: "Model name:", data: "Example N1" },
        { field: "NUMA node0 CPU(s):", data: "0-7" },
      ],
    }),
  },
  {
    name: "numactl: a node without memory",
    kind: "numactl",
    text: `available: 2 nodes (0-1)
node 0 cpus: 0 1 2 3
node 0 size: 64215 MB
node 0 free: 1000 MB
node 1 cpus:
node 1 size: 0 MB
node 1 free: 0 MB
node distances:
node   0   1
  0:  10  21
  1:  21  10
`,
  },
];
