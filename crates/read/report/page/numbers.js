// Numbers with their units, as the commands write them. An unknown number is "not known".

const UNKNOWN = "not known";
const UNITS = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]];

const isKnown = (value) => value !== null && value !== undefined;

// The largest unit of which there is at least one in a time.
function unitFor(ns) {
  const size = Math.abs(ns);
  return UNITS.find((unit) => size >= unit[1]) ?? UNITS[UNITS.length - 1];
}

function decimalsOf(value) {
  const size = Math.abs(value);
  if (size < 9.995) return 2;
  return size < 99.95 ? 1 : 0;
}

// A duration with three digits that count.
function duration(ns) {
  if (!isKnown(ns)) return UNKNOWN;
  const minutes = Math.trunc(ns / 60e9);
  if (Math.abs(minutes) >= 10) return `${minutes} min ${Math.abs(Math.trunc((ns % 60e9) / 1e9))} s`;
  const [name, size] = unitFor(ns);
  if (size === 1) return `${Math.round(ns)} ns`;
  const value = ns / size;
  return `${value.toFixed(decimalsOf(value))} ${name}`;
}

// A duration and by how much it may be off. An error that would not be seen is left out.
function withError(ns, error) {
  if (!isKnown(ns)) return UNKNOWN;
  if (!isKnown(error)) return `${duration(ns)} ± ${UNKNOWN}`;
  const [, size] = unitFor(ns);
  if (unitFor(error)[1] > size || Math.abs(ns) >= 600e9) return `${duration(ns)} ± ${duration(error)}`;
  const text = (error / size).toFixed(size === 1 ? 0 : decimalsOf(ns / size));
  return Number(text) === 0 ? duration(ns) : `${duration(ns)} ± ${text}`;
}

// A timestamp, counted from the begin of the recording.
function since(ns) {
  if (!isKnown(ns)) return UNKNOWN;
  const size = Math.abs(ns);
  if (size < 1e6) return `${(ns / 1e3).toFixed(3)} µs`;
  return size < 1e10 ? `${(ns / 1e6).toFixed(3)} ms` : `${(ns / 1e9).toFixed(3)} s`;
}

function count(value) {
  return isKnown(value) ? String(value).replace(/\B(?=(\d{3})+$)/g, ",") : UNKNOWN;
}

function percent(share) {
  if (!isKnown(share)) return UNKNOWN;
  return share > 0 && share < 0.0005 ? "< 0.1 %" : `${(share * 100).toFixed(1)} %`;
}

function bytes(value) {
  if (!isKnown(value)) return UNKNOWN;
  const names = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  let at = 0;
  let size = value;
  while (Math.abs(size) >= 1024 && at < names.length - 1) {
    size /= 1024;
    at += 1;
  }
  return at === 0 ? `${value} bytes` : `${size.toFixed(decimalsOf(size))} ${names[at]}`;
}

// A speed and by how much it may be off, in decimal units. An error that would not be seen is left out.
function rate(value, error) {
  const [scale, unit] = value < 1e6 ? [1e3, "kB/s"] : value < 1e9 ? [1e6, "MB/s"] : [1e9, "GB/s"];
  const decimals = value / scale < 9.95 ? 2 : 1;
  const off = ((error ?? 0) / scale).toFixed(decimals);
  const shown = (value / scale).toFixed(decimals);
  return Number(off) === 0 ? `${shown} ${unit}` : `${shown} ± ${off} ${unit}`;
}

// "1 step", "2 steps".
function plural(value, noun) {
  return `${count(value)} ${noun}${value === 1 ? "" : "s"}`;
}
