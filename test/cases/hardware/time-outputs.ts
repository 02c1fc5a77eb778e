/** Outputs about the clock, written by us after the form of real ones, bad news included. */
import type { SavedOutput } from "./saved-output.ts";

export const timeOutputs: readonly SavedOutput[] = [
  {
    name: "timedatectl show: as it should be",
    kind: "timedatectl",
    text: "Timezone=Etc/UTC\nLocalRTC=no\nCanNTP=yes\nNTP=yes\nNTPSynchronized=yes\nTimeUSec=Mon 2026-11-30 00:00:00 UTC\n",
  },
  {
    name: "chronyc tracking: in step, 31 microseconds fast",
    kind: "chronyc-tracking",
    text: "C0A80101,192.168.1.1,2,1795973016.779338453,-0.000031000,-0.000000021,0.000000532,0.028,-0.000,0.056,0.000009104,0.000001565,64.2,Normal\n",
  },
  {
    name: "chronyc tracking: never in step, offset 0",
    kind: "chronyc-tracking",
    text: "00000000,,0,0.000000000,0.000000000,0.000000000,0.000000000,0.000,0.000,0.000,1.000000000,1.000000000,0.0,Not synchronised\n",
  },
  {
    name: "chronyc tracking: three quarters of a second slow",
    kind: "chronyc-tracking",
    text: "C0A80101,192.168.1.1,3,1795973016.779338453,0.750000000,0.75,0.7,12.0,0.1,0.2,0.0091,0.0015,64.2,Normal\n",
  },
  {
    name: "chronyc tracking: text",
    kind: "chronyc-tracking",
    text: `Reference ID    : C0A80101 (192.168.1.1)
Stratum         : 2
Ref time (UTC)  : Sun Nov 29 23:00:00 2026
System time     : 0.150000000 seconds slow of NTP time
Root delay      : 0.000009104 seconds
Root dispersion : 0.000001565 seconds
Frequency       : 0.028 ppm fast
Leap status     : Normal
`,
  },
  { name: "chronyc tracking: no daemon", kind: "chronyc-tracking", text: "506 Cannot talk to daemon\n" },
  {
    name: "chronyc sources: four good ones",
    kind: "chronyc-sources",
    text: `^,*,192.168.1.1,1,6,377,22,0.000012,0.000013,0.0002
^,+,192.168.1.2,1,6,377,22,0.000014,0.000013,0.0002
^,+,192.168.1.3,2,6,177,22,-0.000010,0.000013,0.0002
^,-,192.168.1.4,2,6,377,22,0.000500,0.000013,0.0002
`,
  },
  {
    name: "chronyc sources: the selected one fades, the others are gone or lie",
    kind: "chronyc-sources",
    text: `^,x,192.168.1.9,1,6,377,22,0.900000,0.900000,0.0002
^,?,192.168.1.2,0,6,0,4294967295,0.000000,0.000000,0.000000
^,*,192.168.1.1,1,6,20,290,0.000012,0.000013,0.0002
`,
  },
  {
    name: "chronyc sourcestats",
    kind: "chronyc-sourcestats",
    text: "192.168.1.1,17,9,1096,0.001,0.024,0.0000021,0.0000054\n192.168.1.2,0,0,0,0.000,2000.000,0.000000000,4.000000000\n",
  },
  { name: "chronyc activity", kind: "chronyc-activity", text: "3,1,0,0,2\n" },
];
