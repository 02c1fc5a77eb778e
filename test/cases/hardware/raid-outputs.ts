/** Outputs about raid, written by us after the form of real ones, bad news included. */
import type { SavedOutput } from "./saved-output.ts";

const vd = (number: number, cache: string, state = "Optl") => ({
  "DG/VD": `0/${number}`,
  TYPE: "RAID1",
  State: state,
  Cache: cache,
  Name: `vol${number}`,
});

const storcli = (data: Record<string, unknown>) =>
  JSON.stringify(
    { Controllers: [{ "Command Status": { Controller: 0, Status: "Success" }, "Response Data": data }] },
    null,
    1,
  );

const hwCfg = { BBU: "Present", "On Board Memory Size": "1024MB" };

const ssacli = (lines: { noBattery: string; status: string; caching: string; volume: string }) => `
Smart Array P440ar in Slot 0 (Embedded)
   Bus Interface: PCI
   Controller Status: OK
   Cache Board Present: True
   Cache Status: OK
   Cache Ratio: 10% Read / 90% Write
   Total Cache Size: 2.0 GB
   No-Battery Write Cache: ${lines.noBattery}
   Cache Backup Power Source: Batteries
   Battery/Capacitor Count: 1
   Battery/Capacitor Status: ${lines.status}

   Array: A
      Interface Type: SAS
      Status: OK

      Logical Drive: 1
         Fault Tolerance: 1
         Status: ${lines.volume}
         Caching:  ${lines.caching}
         LD Acceleration Method: Controller Cache

      physicaldrive 1I:1:1
         Status: OK
`;

const megacli = (policy: string, replacement: string) => `
BBU status for Adapter: 0

BatteryType: BBU
Battery State: Optimal
BBU Firmware Status:

  Battery Pack Missing                    : No
  Battery Replacement required            : ${replacement}
  Remaining Capacity Low                  : No
  Pack is about to fail & should be replaced : No

  Next Learn time: Sun Mar  7 03:00:00 2027

Exit Code: 0x00

Adapter 0 -- Virtual Drive Information:
Virtual Drive: 0 (Target Id: 0)
Name                :system
RAID Level          : Primary-1, Secondary-0, RAID Level Qualifier-0
State               : Optimal
Default Cache Policy: WriteBack, ReadAhead, Direct, No Write Cache if Bad BBU
Current Cache Policy: ${policy}

Exit Code: 0x00
`;

const rule = "-".repeat(70);
const arcconf = (setting: string, unit: string) => `Controllers found: 1
${rule}
Controller information
${rule}
   Controller Status                        : Optimal
   Controller Model                         : Example 8405
   Installed memory                         : 1024 MB
   ${"-".repeat(56)}
   Controller Cache Backup Unit Information
   ${"-".repeat(56)}
   Overall Backup Unit Status               : ${unit}
${rule}
Logical device information
${rule}
Logical Device number 0
   Logical Device name                      : data
   RAID level                               : 1
   Status of Logical Device                 : Optimal
   Write-cache setting                      : ${setting}

Command completed successfully.
`;

export const raidOutputs: readonly SavedOutput[] = [
  {
    name: "storcli: one volume of two caches even with a bad battery",
    kind: "storcli",
    text: storcli({
      Basics: { Model: "Example 9361" },
      Status: { "Controller Status": "Optimal", "BBU Status": 0 },
      HwCfg: hwCfg,
      "Virtual Drives": 2,
      "VD LIST": [vd(0, "RWBD"), vd(1, "RAWBD")],
      Cachevault_Info: [{ Model: "CV1", State: "Optimal" }],
    }),
  },
  {
    name: "storcli: battery failed, volume degraded",
    kind: "storcli",
    text: storcli({
      Basics: { Model: "Example 9271" },
      Status: { "Controller Status": "Degraded", "BBU Status": 32 },
      HwCfg: hwCfg,
      "Virtual Drives": 1,
      "VD LIST": [vd(0, "NRWBC", "Dgrd")],
      BBU_Info: [{ Model: "BBU", State: "Failed", "Next Learn": "2027/01/02  03:04:05" }],
    }),
  },
  {
    name: "perccli: capacitor as property and value, mask of another name",
    kind: "perccli",
    text: storcli({
      Status: { "Controller Status": "Optimal", "Energy Pack Status": 4096 },
      HwCfg: hwCfg,
      "Virtual Drives": 1,
      "VD LIST": [vd(0, "RWTD")],
      Cachevault_Info: [
        { Property: "Type", Value: "CVPM05" },
        { Property: "State", Value: "Optimal" },
      ],
    }),
  },
  {
    name: "storcli: a plain adapter without cache",
    kind: "storcli",
    text: storcli({
      Basics: { Model: "Example HBA" },
      Status: { "Controller Status": "OK" },
      HwCfg: { "On Board Memory Size": "0MB" },
      "Virtual Drives": 0,
    }),
  },
  {
    name: "ssacli: as it should be",
    kind: "ssacli",
    text: ssacli({ noBattery: "Disabled", status: "OK", caching: "Enabled", volume: "OK" }),
  },
  {
    name: "ssacli: bad battery, cache kept on",
    kind: "ssacli",
    text: ssacli({ noBattery: "Enabled", status: "Failed", caching: "Enabled", volume: "Interim Recovery Mode" }),
  },
  {
    name: "megacli: write back without a battery allowed",
    kind: "megacli",
    text: megacli("WriteBack, ReadAhead, Direct, Write Cache OK if Bad BBU", "No"),
  },
  {
    name: "megacli: battery to be replaced",
    kind: "megacli",
    text: megacli("WriteThrough, ReadAhead, Direct, No Write Cache if Bad BBU", "Yes"),
  },
  {
    name: "arcconf: as it should be",
    kind: "arcconf",
    text: arcconf("Enabled (write-back) when protected by battery/ZMM", "Ready"),
  },
  { name: "arcconf: cache always on", kind: "arcconf", text: arcconf("Enabled (write-back)", "Not Installed") },
];
