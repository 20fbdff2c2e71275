/** Numbers and times for a reader. */

const numbers = new Intl.NumberFormat();
const days = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const moments = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const months = new Intl.DateTimeFormat(undefined, { month: "long", year: "numeric" });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
const STEPS = [["minute", 60], ["hour", 60], ["day", 24]];

export function count(number, one, many = `${one}s`) {
  return `${numbers.format(number)} ${number === 1 ? one : many}`;
}

export function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  const units = ["KB", "MB", "GB", "TB"];
  let value = bytes / 1024;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** “3 hours ago”, or the date when it is longer than a week ago. */
export function ago(iso) {
  const then = new Date(iso);
  let value = (then - Date.now()) / 1000;
  if (value > -45) return relative.format(0, "second");
  if (value < -7 * 86_400) return days.format(then);
  let name = "second";
  for (const [unit, divisor] of STEPS) {
    if (Math.abs(value) < divisor) break;
    value /= divisor;
    name = unit;
  }
  return relative.format(Math.round(value), name);
}

/** The date with the time of day. */
export function moment(iso) {
  return moments.format(new Date(iso));
}

/** The heading under which a time stands in a list: Today, Yesterday, Last 7 days, or its month. */
export function period(iso) {
  const then = new Date(iso);
  const midnight = new Date().setHours(0, 0, 0, 0);
  if (then >= midnight) return "Today";
  const passed = (midnight - then) / 86_400_000;
  if (passed <= 1) return "Yesterday";
  return passed <= 7 ? "Last 7 days" : months.format(then);
}
