/** As smartctl prints a SATA drive that is well. */
export const healthy = (name: string) => ({
  smartctl: { exit_status: 0 },
  device: { name, protocol: "ATA" },
  model_name: "EXAMPLE HDD",
  rotation_rate: 7200,
  smart_status: { passed: true },
  ata_smart_attributes: {
    table: [5, 187, 197, 198].map((id) => ({ id, name: `a${id}`, value: 100, thresh: 0, raw: { value: 0 } })),
  },
});
