/**
 * A moment by RFC 3339, in milliseconds since 1970; undefined if the text is none. Date.parse alone
 * would take much else, and the 30th of February.
 */
export function momentOf(text: string): number | undefined {
  const parts =
    /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/.exec(
      text,
    );
  if (!parts) return undefined;
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const [zoneHour, zoneMinute] = [Number(parts[9] ?? 0), Number(parts[10] ?? 0)];
  // 60 is a leap second, and the first of the next minute to a clock that has none.
  if (
    month < 1 ||
    month > 12 ||
    hour > 23 ||
    minute > 59 ||
    second > 60 ||
    zoneHour > 23 ||
    zoneMinute > 59
  )
    return undefined;
  if (day < 1 || day > daysIn(year, month)) return undefined;
  const at = new Date(0);
  // Date.UTC takes the years 0 to 99 for those of the last century
  at.setUTCFullYear(year, month - 1, day);
  at.setUTCHours(hour, minute, second, Number((parts[7] ?? '').padEnd(3, '0').slice(0, 3)));
  const east = (zoneHour * 60 + zoneMinute) * 60_000;
  return at.getTime() - (parts[8] === '-' ? -east : east);
}

function daysIn(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}
